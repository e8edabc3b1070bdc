/** Summarises all cycles. */
import { formatAmount } from '../../server/base/lib/money.ts'
import type { Verdict } from '../../testbed/books.ts'
import type { Outcome } from '../../testbed/calls.ts'
import { median, table } from '../../testbed/results.ts'
import type { CycleResult, Victim } from './cycle.ts'

const COMPARED = 10

export function summarise(results: readonly (CycleResult & { readonly victim: Victim })[]) {
  const verdicts = results.flatMap((result) => result.verdicts)
  const breaks = results.flatMap((result) => result.breaks)
  const boots = results.flatMap(({ bootMs }) => (bootMs === null ? [] : [bootMs]))
  const firstBootMs = Math.round(median(boots.slice(0, COMPARED)))
  const lastBootMs = Math.round(median(boots.slice(-COMPARED)))
  const slowestCloseMs = Math.round(Math.max(...results.map(({ closedMs }) => closedMs)))
  const slowestBackMs = Math.round(Math.max(...results.map(({ backMs }) => backMs)))
  const bootsSteadily = lastBootMs <= firstBootMs * 1.25 + 50
  const ok = breaks.length === 0 && bootsSteadily
  const figures = {
    ok,
    breaks,
    killed: countBy(results, ({ victim }) => victim),
    calls: verdicts.length,
    outcomes: countBy(verdicts, ({ call }) => call.outcome),
    kinds: countBy(verdicts, ({ call }) => call.kind),
    records: countBy(
      verdicts.filter(({ row }) => row),
      ({ row }) => `${row?.status}, ${row?.basis}`,
    ),
    booked: formatAmount(sum(verdicts, ({ bookedNanos }) => bookedNanos)),
    charged: formatAmount(sum(verdicts, ({ chargedNanos }) => chargedNanos)),
    firstBootMs,
    lastBootMs,
    slowestBackMs,
    slowestCloseMs,
  }
  return { ok, figures, lines: describe(figures, verdicts) }
}

interface Figures {
  readonly ok: boolean
  readonly breaks: readonly string[]
  readonly killed: Readonly<Record<string, number>>
  readonly records: Readonly<Record<string, number>>
  readonly firstBootMs: number
  readonly lastBootMs: number
  readonly slowestBackMs: number
  readonly slowestCloseMs: number
}

function describe(figures: Figures, verdicts: readonly Verdict[]): string[] {
  const { breaks, killed, firstBootMs, lastBootMs, slowestBackMs, slowestCloseMs } = figures
  const killings = Object.entries(killed).map(([victim, times]) => `${victim} ${times}`)
  const outcomes: readonly Outcome[] = ['complete', 'refused', 'cut', 'lost']
  const rows = outcomes.map((outcome) => {
    const group = verdicts.filter(({ call }) => call.outcome === outcome)
    const booked = formatAmount(sum(group, ({ bookedNanos }) => bookedNanos))
    return [outcome, group.length, booked, formatAmount(sum(group, (one) => one.chargedNanos))]
  })
  const records = Object.entries(figures.records).map(([name, count]) => [name, count])
  return [
    `Killed with -9: ${killings.join(', ')}.`,
    '',
    ...table([['callers saw', 'calls', 'upstream billed', 'charged'], ...rows]),
    '',
    ...table([['ledger says', 'calls'], ...records]),
    '',
    `boot to ready: ${firstBootMs} ms in the first ${COMPARED}, ${lastBootMs} ms in the last`,
    `kill to the next paid answer: ${slowestBackMs} ms at most`,
    `open holds gone: after ${slowestCloseMs} ms at most (allowed: 60 s)`,
    breaks.length === 0
      ? 'Audit clean after every cycle; callers, ledger and simulators agree on every call.'
      : `${breaks.length} BREAKS:\n${breaks.slice(0, 50).join('\n')}`,
    figures.ok ? 'PASSED' : 'FAILED',
  ]
}

function countBy<T>(list: readonly T[], name: (one: T) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const one of list) counts[name(one)] = (counts[name(one)] ?? 0) + 1
  return counts
}

function sum<T>(list: readonly T[], read: (one: T) => bigint): bigint {
  return list.reduce((total, one) => total + read(one), 0n)
}
