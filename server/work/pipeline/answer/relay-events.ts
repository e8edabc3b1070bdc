/**
 * Reads what one read of a vendor's connection has brought. Only the protocol's end is withheld
 * from the caller, so the last events are read one by one: nothing before them should wait with it.
 */
import type { Relay } from '../../../wire/dialects/relay.ts'

/** Cuts in a chunk: one of the events behind them may be the end, with a comment behind it. */
const CUTS = 2
/** Lines in which the cuts are searched for. */
const LINES_MAX = 16
const NO_BYTES: Buffer = Buffer.alloc(0)
const LF = 0x0a
const CR = 0x0d

export interface RelayedEvents {
  /** For the caller at once. */
  readonly words?: Buffer | undefined
  /** The bytes from the protocol's end on. */
  readonly end?: Buffer | undefined
  /** A failure of the relay after the bytes above, with the part of the chunk that was not read. */
  readonly failure?: { readonly cause: unknown; readonly unread: Buffer }
}

/** Passes a chunk through a relay. Never throws. */
export function relayEvents(relay: Pick<Relay, 'push' | 'report'>, chunk: Buffer): RelayedEvents {
  let read: RelayedEvents = {}
  let unread = chunk
  try {
    for (const part of cutEvents(chunk)) {
      unread = unread.subarray(part.length)
      read = addBytes(read, relay.push(part), relay)
    }
    return read
  } catch (cause) {
    return { ...read, failure: { cause, unread } }
  }
}

/** Ends a relay. Never throws. */
export function relayEnd(relay: Pick<Relay, 'end' | 'report'>): RelayedEvents {
  try {
    return addBytes({}, relay.end(), relay)
  } catch (cause) {
    return { failure: { cause, unread: NO_BYTES } }
  }
}

/** Adds what a relay has returned last. */
function addBytes(
  { words, end }: RelayedEvents,
  out: Buffer | undefined,
  relay: Pick<Relay, 'report'>,
): RelayedEvents {
  if (!out || out.length === 0) return { words, end }
  return relay.report().finished ? { words, end: join(end, out) } : { words: join(words, out), end }
}

/** Cuts a chunk before its last events; one with fewer events is not cut. */
function cutEvents(chunk: Buffer): readonly Buffer[] {
  const cuts: number[] = []
  let at = chunk.length - 1
  for (let lines = 0; lines < LINES_MAX && at > 0; lines += 1) {
    // The end of the chunk is no cut.
    at = chunk.lastIndexOf(LF, at - 1)
    if (at === -1) break
    if (isBlankLine(chunk, at) && cuts.push(at + 1) === CUTS) break
  }
  if (cuts.length === 0) return [chunk]
  const [last = 0, first = last] = cuts
  const parts = [chunk.subarray(0, first)]
  if (first < last) parts.push(chunk.subarray(first, last))
  parts.push(chunk.subarray(last))
  return parts
}

/** Returns true if a line feed ends an empty line. */
function isBlankLine(chunk: Buffer, at: number): boolean {
  const before = chunk[at - 1]
  return before === LF || (before === CR && chunk[at - 2] === LF)
}

/** Parts that a relay has not changed are still beside each other. */
function join(before: Buffer | undefined, next: Buffer): Buffer {
  if (!before) return next
  const isBeside =
    before.buffer === next.buffer && before.byteOffset + before.length === next.byteOffset
  if (!isBeside) return Buffer.concat([before, next])
  return Buffer.from(before.buffer, before.byteOffset, before.length + next.length)
}
