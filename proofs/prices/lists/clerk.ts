/**
 * Changes lists, plans and who has which, while calls run, and remembers when each state began and
 * when the gateway knew it: a call may be charged by the states of the time before its hold alone.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { assignPriceList } from '../../../server/money/accounts/assign-price-list.ts'
import {
  clearOwnPrices,
  editList,
  setOwnPrices,
} from '../../../server/money/catalog/apply/edit-lists.ts'
import { switchList } from '../../../server/money/catalog/lists/switch-list.ts'
import type { Random } from '../../../testbed/random.ts'
import { PROBES } from '../sheet.ts'
import type { Purse } from '../stage.ts'
import { type List, nameOf, type Price, priceOf } from './book.ts'
import { drawList, drawPlan, writeList } from './draw-lists.ts'

const NAMES = ['gold', 'vip', 'low', 'other']
/** Lists that refer to each other, at most. */
const DEPTH_MAX = 3
/** The gateway's clock and the database's are this close. */
const CLOCKS_APART_MS = 300
const KNOWN_WITHIN_MS = 20_000
const PROBE_AGAIN_MS = 20

/** The lists that a customer pays by, from about a moment on. */
interface State {
  /** No call before it is charged by this state. */
  readonly startedMs: number
  /** No call after it is charged by the state before. */
  readonly knownMs: number
  readonly lists: readonly List[]
  /** The moment at which the plans of the lists are read. */
  readonly atMs: number
}

export interface Clerk {
  /** Makes random changes, one after another, until the work has ended. */
  during<T>(random: Random, work: Promise<T>): Promise<T>
  /** Resolves with the next change of what a customer pays, or after so long. */
  nextChange(purse: Purse, withinMs: number): Promise<void>
  /** Resolves when a plan of the customer's lists runs, or none does any more, or after so long. */
  untilPlan(runs: boolean, purse: Purse, withinMs: number): Promise<void>
  /** Returns the prices that a call may be charged whose hold was taken between two moments. */
  pricesBetween(purse: Purse, model: string, fromMs: number, toMs: number): Price[]
  readonly changes: () => Readonly<Record<string, number>>
}

interface Books {
  readonly sql: Sql
  readonly url: string
  readonly purses: readonly Purse[]
  readonly lists: Map<string, List>
  /** Each list with its parent, drawn once: a list keeps it. */
  readonly parents: ReadonlyMap<string, string | null>
  readonly assigned: Map<Purse, string>
  readonly own: Map<Purse, List>
  readonly states: Map<Purse, State[]>
  /** The list whose plan runs at the moment. */
  running?: List
}

/** Makes the lists; the first purse never gets one, so that base prices are tried as well. */
export async function hireClerk(
  { sql, url }: { readonly sql: Sql; readonly url: string },
  purses: readonly Purse[],
  random: Random,
): Promise<Clerk> {
  const start = { startedMs: 0, knownMs: 0, lists: [], atMs: 0 }
  const books: Books = {
    sql,
    url,
    purses,
    lists: new Map(),
    parents: drawParents(random),
    assigned: new Map(),
    own: new Map(),
    states: new Map(purses.map((purse) => [purse, [start]])),
  }
  for (const name of NAMES) await redefine(books, drawList(random, name, probeOf(name)))
  for (const [index, purse] of purses.entries()) {
    if (index > 0) await give(books, purse, NAMES[index - 1])
  }
  const counts: Record<string, number> = {}
  return {
    async during(changing, work) {
      let isOver = false
      const ended = work.finally(() => {
        isOver = true
      })
      let kind = await planUsed(books, changing)
      while (!isOver) {
        kind ??= await change(books, changing)
        counts[kind] = (counts[kind] ?? 0) + 1
        kind = undefined
        await Promise.race([ended.catch(() => undefined), sleep(changing.integer(50, 400))])
      }
      return await ended
    },
    async nextChange(purse, withinMs) {
      const deadline = Date.now() + withinMs
      const count = books.states.get(purse)?.length
      while (Date.now() < deadline && books.states.get(purse)?.length === count) await sleep(20)
    },
    async untilPlan(runs, purse, withinMs) {
      if (listsOf(books, purse).length === 0) return
      const deadline = Date.now() + withinMs
      const isRunning = () =>
        books.running !== undefined && listsOf(books, purse).includes(books.running)
      while (Date.now() < deadline && isRunning() !== runs) await sleep(20)
    },
    pricesBetween: (purse, model, fromMs, toMs) => {
      const states = books.states.get(purse) ?? [start]
      return distinct(
        states
          .filter((state, index) => {
            const endMs = states[index + 1]?.knownMs ?? Number.POSITIVE_INFINITY
            return state.startedMs <= toMs && endMs >= fromMs
          })
          .map(({ lists, atMs }) => priceOf(lists, model, atMs)),
      )
    },
    changes: () => counts,
  }
}

/** Draws a parent for each list among those before it: the base prices, or one not too deep. */
function drawParents(random: Random): Map<string, string | null> {
  const parents = new Map<string, string | null>()
  for (const [index, name] of NAMES.entries()) {
    const fitting = NAMES.slice(0, index).filter((one) => chainOf(parents, one).length < DEPTH_MAX)
    parents.set(name, random.pick([fitting.at(-1) ?? null, null, ...fitting]))
  }
  return parents
}

function chainOf(parents: ReadonlyMap<string, string | null>, name: string): string[] {
  const parent = parents.get(name) ?? null
  return parent === null ? [name] : [name, ...chainOf(parents, parent)]
}

function distinct(prices: readonly Price[]): Price[] {
  return [...new Map(prices.map((one) => [nameOf(one), one])).values()]
}

async function change(books: Books, random: Random): Promise<string> {
  const share = random.next()
  const purse = books.purses[random.integer(1, books.purses.length - 1)]
  const name = random.pick(NAMES as [string, ...string[]])
  const list = books.lists.get(name)
  if (!purse || !list) throw new Error('there is nothing to change')
  if (share < 0.25) {
    await redefine(books, drawList(random, name, probeOf(name)))
    return 'lists written anew'
  }
  if (share < 0.5) return await plan(books, drawPlan(random, list, probeOf(name), Date.now()))
  if (share < 0.8) {
    await give(books, purse, random.next() < 0.15 ? undefined : name)
    return 'accounts with another list'
  }
  const isCleared = books.own.has(purse) && random.next() < 0.5
  await setOwn(books, purse, isCleared ? undefined : drawList(random, '', ownProbe(books, purse)))
  return isCleared ? 'own prices removed' : 'own prices set'
}

function redefine(books: Books, list: List): Promise<void> {
  return record(books, async () => {
    const draft = { id: list.id, parent: books.parents.get(list.id) ?? 'base', ...writeList(list) }
    await editList({ sql: books.sql }, 'USD', draft)
    books.lists.set(list.id, list)
  })
}

/** Plans a change of a list that customers have; a random list may have none. */
async function planUsed(books: Books, random: Random): Promise<string | undefined> {
  const used = books.purses.flatMap((purse) => listsOf(books, purse))
  const named = used.filter(({ id }) => books.lists.has(id))
  const [first, ...rest] = named
  if (!first) return undefined
  const list = random.pick([first, ...rest])
  return await plan(books, drawPlan(random, list, probeOf(list.id), Date.now()))
}

/** Returns once the plan is over; the list is then as it was. */
async function plan(books: Books, list: List): Promise<string> {
  await redefine(books, list)
  const { fromMs = 0, untilMs = 0 } = list.plan ?? {}
  await enter(books, list, fromMs)
  books.running = list
  await sleep(Math.max(0, untilMs - CLOCKS_APART_MS - Date.now()))
  await enter(books, list, untilMs)
  delete books.running
  await expectKnown(books)
  return 'plans that began and ended'
}

/** Waits until a moment has passed by either clock, and writes down what customers pay then. */
async function enter(books: Books, list: List, atMs: number): Promise<void> {
  await sleep(Math.max(0, atMs + CLOCKS_APART_MS - Date.now()))
  for (const purse of books.purses) {
    const lists = listsOf(books, purse)
    if (!lists.includes(list)) continue
    const around = { startedMs: atMs - CLOCKS_APART_MS, knownMs: atMs + CLOCKS_APART_MS }
    books.states.get(purse)?.push({ ...around, lists, atMs })
  }
}

function give(books: Books, purse: Purse, name: string | undefined): Promise<void> {
  return record(books, async () => {
    const { accountId } = purse
    await switchList(books.sql, (sql) => assignPriceList(sql, accountId, name ?? null, 'clerk'))
    if (name === undefined) books.assigned.delete(purse)
    else books.assigned.set(purse, name)
  })
}

function setOwn(books: Books, purse: Purse, list: List | undefined): Promise<void> {
  return record(books, async () => {
    const { accountId } = purse
    if (list === undefined) {
      await clearOwnPrices(books.sql, accountId)
      books.own.delete(purse)
      return
    }
    const account = { id: accountId, currency: 'USD' }
    await setOwnPrices({ sql: books.sql }, account, writeList(list))
    books.own.set(purse, { ...list, id: `own:${accountId}` })
  })
}

/** Makes a change, waits until the gateway knows it, and writes down the new states. */
async function record(books: Books, make: () => Promise<void>): Promise<void> {
  const startedMs = Date.now()
  await make()
  const atMs = Date.now()
  await expectKnown(books)
  const knownMs = Date.now()
  for (const purse of books.purses) {
    const states = books.states.get(purse) ?? []
    const lists = listsOf(books, purse)
    const before = states.at(-1)?.lists ?? []
    const isSame = lists.length === before.length && lists.every((one, at) => one === before[at])
    if (!isSame) states.push({ startedMs, knownMs, lists, atMs })
  }
}

function listsOf(books: Books, purse: Purse): List[] {
  const own = books.own.get(purse)
  const found: List[] = own ? [own] : []
  const assigned = books.assigned.get(purse)
  const names = assigned === undefined ? [] : chainOf(books.parents, assigned)
  return [...found, ...names.flatMap((name) => books.lists.get(name) ?? [])]
}

function probeOf(name: string): string {
  return PROBES[NAMES.indexOf(name)] ?? ''
}

function ownProbe({ purses }: Books, purse: Purse): string {
  return PROBES[NAMES.length + purses.indexOf(purse)] ?? ''
}

/** Waits until the gateway shows each customer the prices of the book. */
async function expectKnown(books: Books): Promise<void> {
  const deadline = Date.now() + KNOWN_WITHIN_MS
  for (const purse of books.purses) {
    const lists = listsOf(books, purse)
    for (;;) {
      const expected = PROBES.map((id) => {
        return Number(priceOf(lists, id, Date.now()).sheet?.cards[0]?.rates.input_token?.[0])
      })
      const shown = await readProbes(books.url, purse.key)
      if (shown?.every((one, index) => one === expected[index])) break
      if (Date.now() > deadline) throw new Error(`the gateway shows ${shown}, not ${expected}`)
      await sleep(PROBE_AGAIN_MS)
    }
  }
}

/** Returns the prices of the probes; undefined while the gateway does not know a list yet. */
async function readProbes(url: string, key: string): Promise<number[] | undefined> {
  const answer = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  const text = await answer.text()
  if (answer.status !== 200) return undefined
  const models: { id: string; prices: { amount: string }[] }[] = JSON.parse(text).data
  return PROBES.map((probe) => {
    return Number(models.find(({ id }) => id === probe)?.prices[0]?.amount)
  })
}
