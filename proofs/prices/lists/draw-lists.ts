/** Draws lists at random, in the book's form and as a catalog file has them. */
import type { Random } from '../../../testbed/random.ts'
import { pricesOf } from '../catalog.ts'
import { PROBES, SHEETS, type Sheet } from '../sheet.ts'
import { type Entry, type List, type Plan, type Rule, routeCosts, times } from './book.ts'

const FACTORS = [
  '0.9',
  '1.15',
  '0.333333',
  '2',
  '1.000001',
  '0.123457',
  '0.5',
  '0',
  '3',
  '0.65',
  '1',
] as const
const SOLD: readonly Sheet[] = SHEETS.filter(({ id }) => !PROBES.includes(id))
/** Models that a list names, of about thirty. */
const NAMED_SHARE = 0.3
let serial = 0

/** `probe` is the model by whose price the gateway shows which version of the list it knows. */
export function drawList(random: Random, id: string, probe: string): List {
  const share = random.next()
  const rule = share < 0.6 ? ({ of: 'parent', factor: random.pick(FACTORS) } as const) : undefined
  return {
    id,
    ...(rule ? { default: rule } : share < 0.64 ? { default: 'hidden' as const } : {}),
    entries: { ...drawEntries(random), ...probeEntries(probe) },
  }
}

/** Returns the list with a change for a time that is soon over. */
export function drawPlan(random: Random, list: List, probe: string, nowMs: number): List {
  const fromMs = nowMs + random.integer(1_200, 1_500)
  const plan: Plan = {
    fromMs,
    untilMs: fromMs + random.integer(1_400, 1_800),
    ...(random.next() < 0.5 ? { default: { of: 'parent', factor: random.pick(FACTORS) } } : {}),
    entries: { ...drawEntries(random), ...probeEntries(probe) },
  }
  return { ...list, plan }
}

function drawEntries(random: Random): Record<string, Entry> {
  const named = SOLD.filter(() => random.next() < NAMED_SHARE)
  return Object.fromEntries(named.map((sheet) => [sheet.id, drawEntry(random, sheet)]))
}

function drawEntry(random: Random, sheet: Sheet): Entry {
  const share = random.next()
  if (share < 0.1) return 'hidden'
  if (share < 0.4) return times(sheet, random.pick(['0.123457', '1.7', '2.5', '0.000001']))
  const isOfCost = share < 0.7 && routeCosts(sheet) !== undefined
  return { of: isOfCost ? 'cost' : 'parent', factor: random.pick(FACTORS) }
}

/** The list's own probe gets a price that no version had; the others are left as they are. */
function probeEntries(probe: string): Record<string, Entry> {
  serial += 1
  const rates = { input_token: [`${serial}`, 1_000_000] as const }
  return Object.fromEntries(
    PROBES.map((id): [string, Entry] => {
      const own: Sheet = { id, type: 'chat', channel: 'pp-openai', cards: [{ rates }] }
      return [id, id === probe ? own : { of: 'parent', factor: '1' }]
    }),
  )
}

/** The list as an operator writes it. */
export function writeList({ default: rule, entries, plan }: List): Record<string, unknown> {
  const written = (all: Readonly<Record<string, Entry>>) =>
    Object.fromEntries(Object.entries(all).map(([id, entry]) => [id, writeEntry(entry)]))
  return {
    ...(rule === undefined ? {} : { default: rule }),
    prices: written(entries),
    ...(plan
      ? {
          planned_prices: [
            {
              from: new Date(plan.fromMs).toISOString(),
              until: new Date(plan.untilMs).toISOString(),
              ...(plan.default ? { default: plan.default } : {}),
              prices: written(plan.entries),
            },
          ],
        }
      : {}),
  }
}

function writeEntry(entry: Entry): unknown {
  return typeof entry === 'object' && 'cards' in entry
    ? pricesOf(entry)
    : (entry satisfies Rule | 'hidden')
}
