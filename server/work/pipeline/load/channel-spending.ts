/**
 * Spending caps of channels. The spending of all gateways is read every few seconds; in between
 * this process adds that of its own calls, and a call in progress counts with its hold. A decision
 * therefore needs no round trip, and misses only calls of other gateways since the last read.
 */

import type { Log } from '../../../base/lib/log.ts'
import { formatAmount, type Nanos } from '../../../base/lib/money.ts'
import type { Channel } from '../../../money/catalog/catalog.ts'
import { readSpendingCaps, type SpendingCap } from '../../../wire/upstreams/spending-cap.ts'

/** A cap with the spending that counts towards it. */
export interface CapFigures extends SpendingCap {
  readonly spentNanos: Nanos
  readonly isReached: boolean
}

/** One call's part in the spending of its channel. */
export interface CallSpending {
  /** Reserves the call's hold at a channel. False if that may exceed a cap of it. */
  take(channel: Channel, nanos: Nanos): boolean
  /** Frees what was reserved: the attempt failed. */
  free(): void
  /** Records the spending of the call. */
  spent(nanos: Nanos): void
  /** Counts the call's amount until the next read has it. */
  end(): void
}

export interface ChannelSpending {
  /** Begins a call of an account with this currency. */
  begin(currency: string): CallSpending
  /** Returns true if a call may be sent, as far as calls in progress leave room for it. */
  hasRoom(channel: Channel): boolean
  /** Returns the cap that the calls so far have reached. */
  reached(channel: Channel): CapFigures | undefined
  /** Returns the channel's caps with the spending that counts towards each. */
  figures(channel: Channel): readonly CapFigures[]
  /** Returns the caps of all channels. */
  all(): readonly (CapFigures & { readonly channel: string })[]
  /** Reads the figures of all channels with a cap. Rejects if the database fails. */
  refresh(): Promise<void>
  stop(): void
}

/** Spending of a channel's calls of this day and month, and the holds of its open tasks. */
interface SpendingRow {
  readonly channel: string
  readonly currency: string
  readonly day: Nanos
  readonly month: Nanos
  readonly held: Nanos
}

export interface SpendingOptions {
  readonly channels: () => Iterable<Channel>
  readonly read: (channels: readonly string[]) => Promise<readonly SpendingRow[]>
  readonly log: Pick<Log, 'warn' | 'error'>
  readonly everyMs?: number
}

const EVERY_MS = 4_000

/** Reads every few seconds. */
export function createChannelSpending(options: SpendingOptions): ChannelSpending {
  const { log, everyMs = EVERY_MS } = options
  const book = createBook()
  const logged = new Set<string>()

  /** Lists channels with a cap, once each. */
  const listCapped = () =>
    [...options.channels()].filter((channel) => !channel.key && capsOf(channel).length > 0)

  async function read(): Promise<void> {
    const capped = listCapped()
    await book.update(async () => {
      return capped.length > 0 ? await options.read(capped.map(nameOf)) : []
    })
    for (const channel of capped) logReached(channel)
  }

  /** Logs once that a cap is reached. */
  function logReached(channel: Channel): void {
    for (const { period, isReached, capNanos, currency } of book.figures(channel)) {
      const name = `${channel.id} ${period}`
      if (!isReached) logged.delete(name)
      else if (!logged.has(name)) {
        logged.add(name)
        const reason = `${formatAmount(capNanos)} ${currency} per ${period}`
        log.error({ channel: channel.id, reason }, 'a channel has reached its spending cap')
      }
    }
  }

  let running = Promise.resolve()
  /** One read after another, so that each begins after the call. */
  const refresh = () => {
    running = running.catch(() => undefined).then(read)
    return running
  }
  const timer = setInterval(() => {
    refresh().catch((error) => log.warn({ error }, 'reading the spending of channels failed'))
  }, everyMs)
  timer.unref()

  return {
    begin: (currency) => beginCall(book, currency),
    hasRoom: book.hasRoom,
    reached: (channel) => book.figures(channel).find(({ isReached }) => isReached),
    figures: book.figures,
    all: () =>
      listCapped().flatMap((one) => book.figures(one).map((cap) => ({ ...cap, channel: one.id }))),
    refresh,
    stop: () => clearInterval(timer),
  }
}

const NO_CAPS: readonly CapFigures[] = []

type Book = ReturnType<typeof createBook>

/** Keeps the figures of the last read, and what this process adds to them. */
function createBook() {
  let rows: ReadonlyMap<string, SpendingRow> = new Map()
  /** Holds of calls in progress. */
  const inProgress = createSums()
  /** Calls that ended since the last read began, and those that it has once it ends. */
  const ended = createSums()
  const beingRead = createSums()

  function figures(channel: Channel): readonly CapFigures[] {
    if (capsOf(channel).length === 0) return NO_CAPS
    return capsOf(channel).map((cap) => {
      const key = keyOf(channel, cap.currency)
      const read = rows.get(key)?.[cap.period] ?? 0n
      const spentNanos = read + ended.get(key) + beingRead.get(key)
      return { ...cap, spentNanos, isReached: spentNanos >= cap.capNanos }
    })
  }

  return {
    inProgress,
    ended,
    figures,
    hasRoom(channel: Channel): boolean {
      return figures(channel).every(({ capNanos, currency, spentNanos }) => {
        const key = keyOf(channel, currency)
        return spentNanos + (rows.get(key)?.held ?? 0n) + inProgress.get(key) < capNanos
      })
    },
    async update(read: () => Promise<readonly SpendingRow[]>): Promise<void> {
      ended.moveTo(beingRead)
      const found = await read()
      beingRead.clear()
      rows = new Map(found.map((row) => [`${row.channel} ${row.currency}`, row]))
    },
  }
}

function beginCall(book: Book, currency: string): CallSpending {
  let taken: { readonly key: string; readonly heldNanos: Nanos } | undefined
  let spentNanos: Nanos | undefined
  const free = () => {
    if (taken) book.inProgress.add(taken.key, -taken.heldNanos)
    taken = undefined
  }
  return {
    take(channel, nanos) {
      free()
      if (!capsOf(channel).some((cap) => cap.currency === currency)) return true
      if (!book.hasRoom(channel)) return false
      taken = { key: keyOf(channel, currency), heldNanos: nanos }
      book.inProgress.add(taken.key, nanos)
      return true
    },
    free,
    spent(nanos) {
      spentNanos = nanos
    },
    end() {
      if (taken) book.ended.add(taken.key, spentNanos ?? taken.heldNanos)
      free()
    },
  }
}

/** Amounts by channel and currency. */
function createSums() {
  const sums = new Map<string, Nanos>()
  const get = (key: string) => sums.get(key) ?? 0n
  const add = (key: string, nanos: Nanos) => {
    const sum = get(key) + nanos
    if (sum === 0n) sums.delete(key)
    else sums.set(key, sum)
  }
  return {
    get,
    add,
    clear: () => sums.clear(),
    moveTo(other: { add: typeof add }) {
      for (const [key, nanos] of sums) other.add(key, nanos)
      sums.clear()
    },
  }
}

/** Read once for each version of a channel's settings. */
const caps = new WeakMap<object, readonly SpendingCap[]>()

function capsOf({ settings }: Pick<Channel, 'settings'>): readonly SpendingCap[] {
  if (typeof settings !== 'object' || settings === null) return []
  let known = caps.get(settings)
  if (!known) {
    known = readSpendingCaps(settings)
    caps.set(settings, known)
  }
  return known
}

/** All keys of a channel share its caps. */
function nameOf({ id, key }: Pick<Channel, 'id' | 'key'>): string {
  return key?.channel ?? id
}

function keyOf(channel: Pick<Channel, 'id' | 'key'>, currency: string): string {
  return `${nameOf(channel)} ${currency}`
}
