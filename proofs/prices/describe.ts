/** Prints the proof's result: a summary, and all known facts about each exception. */
import { table } from '../../testbed/results.ts'
import { GROWTH_MAX, type Growth } from './holds.ts'
import type { Verdict } from './judge.ts'
import type { ProofResult } from './run.ts'

const LENGTH_MAX = 700
const GROUPS_SHOWN = 100
/** An answer whose settlement is late states no charge: one in so many may. */
const UNSTATED_PART = 200

export function describeVerdict(
  seed: number,
  { observed, row, arrivals, breaks, price }: Verdict,
): string {
  const { testCase, status, requestId, text } = observed
  const { dialect, model, expected, tricks } = testCase
  const [arrival] = arrivals
  return [
    '',
    `case ${testCase.id} of seed ${seed} (again: --seed ${seed} --first ${testCase.id} --cases 1)`,
    ...breaks.map((text) => `  BREAK ${text}`),
    `  ${dialect} ${model}, expected ${expected}; ${tricks.join(', ')}`,
    `  pays by ${price.list}: ${print(price.sheet ?? 'hidden')}`,
    `  request ${requestId} ${testCase.body.slice(0, LENGTH_MAX)}`,
    `  answered ${status} ${text.slice(0, LENGTH_MAX)}`,
    `  vendor ${arrivals.length} times at ${arrival?.path}, ${arrival?.bytes} bytes`,
    `  work ${print(arrival?.work)}`,
    `  vendor's answer ${arrival?.answer.slice(0, 2 * LENGTH_MAX)}`,
    `  record ${print(row)}`,
  ].join('\n')
}

/** Groups breaks of one kind, with their number and the first case. */
function groupBreaks(broken: readonly Verdict[]): string[] {
  const groups = new Map<string, { count: number; first: number }>()
  for (const { observed, breaks } of broken) {
    const { dialect, model, expected, tricks, id } = observed.testCase
    for (const text of breaks) {
      const kind = text.replace(/\d+/g, '#').slice(0, 160)
      const key = `${kind} (${dialect} ${model}, ${expected}; ${tricks.join(', ')})`
      const group = groups.get(key) ?? { count: 0, first: id }
      group.count += 1
      groups.set(key, group)
    }
  }
  const sorted = [...groups].sort(([, a], [, b]) => b.count - a.count)
  return sorted.map(([key, { count, first }]) => `${count} × ${key}, first in case ${first}`)
}

function describeGrowth({ calls, commit, median, p90, most }: Growth): string {
  const times = `median ${median} times, 90 % up to ${p90}, most ${most}`
  return `holds of ${calls} ordinary calls against ${commit}: ${times}`
}

function countPlanned(byEntry: Readonly<Record<string, number>>): number {
  const planned = Object.entries(byEntry).filter(([name]) => name.startsWith('planned '))
  return planned.reduce((sum, [, count]) => sum + count, 0)
}

function listCounts(counts: Readonly<Record<string, number>>): string {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a)
  return sorted.map(([name, count]) => `${name} ${count}`).join(', ')
}

function print(value: unknown): string {
  return JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner))
}

export function summarise(result: ProofResult, growth: Growth, seconds: number) {
  const { broken, others, byTrick, worth, charged } = result
  const { cases, sent, fullyStated, notStated, debts, reviews, busy, seed } = result
  const { listed, changedMeanwhile, acrossPlans, changes, byEntry, stated } = result
  const isStated = stated.none * UNSTATED_PART <= fullyStated
  const ok = broken.length + others.length === 0 && growth.median <= GROWTH_MAX && isStated
  const tricks = [...byTrick].sort(([a], [b]) => (a < b ? -1 : 1))
  const rows = tricks.map(([name, tally]) => [
    name,
    tally.cases,
    tally.sent,
    tally.refused,
    tally.breaks,
  ])
  const lines = [
    `${cases} cases in ${seconds} s, seed ${seed}`,
    `${sent} reached the vendor; the others were refused before anything was sent`,
    `${fullyStated} with stated usage: worth ${worth} nano, charged ${charged} nano`,
    `${notStated} with broken or partial usage: charged at most the hold or what was stated`,
    `${debts} became debt, ${reviews} were marked for review`,
    `${busy} answers of 503 while the database was slow: tried again, and not charged`,
    `${listed} were priced by a list; the price of ${changedMeanwhile.calls} calls and ` +
      `${changedMeanwhile.tasks} tasks had changed when they ended`,
    `${countPlanned(byEntry)} were priced by a planned change while it ran; ` +
      `${acrossPlans.begins} stood at the begin of one, ${acrossPlans.ends} at its end`,
    `cases by what decided their price: ${listCounts(byEntry)}`,
    `${stated.headers} answers state the charge in a header, ${stated.bodies} in their usage; ` +
      `${stated.none} that should state it do not`,
    ...Object.entries(changes).map(([what, count]) => `${count} ${what}`),
    `${broken.length} exceptions, ${others.length} breaks of balances, audit and vendor`,
    describeGrowth(growth),
    ...others.slice(0, 20),
    ...groupBreaks(broken).slice(0, GROUPS_SHOWN),
    '',
    ...table([['kind', 'cases', 'sent', 'not sent', 'exceptions'], ...rows]),
    '',
    ok ? 'PASSED' : 'FAILED',
  ]
  const figures = {
    ok,
    seed,
    cases,
    sent,
    fullyStated,
    notStated,
    debts,
    reviews,
    busy,
    listed,
    changedMeanwhile,
    acrossPlans,
    byEntry,
    stated,
    changes,
    seconds,
    worthNanos: String(worth),
    chargedNanos: String(charged),
    exceptions: broken.map(({ observed, breaks }) => ({ case: observed.testCase.id, breaks })),
    holds: growth,
    others,
    kinds: Object.fromEntries(tricks),
  }
  return { lines, figures, ok }
}
