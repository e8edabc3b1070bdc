/** Judges the slices by what was promised, and names the attack behind each effect. */
import { formatAmount } from '../../server/base/lib/money.ts'
import { round, table } from '../../testbed/results.ts'
import type { Attack } from './attacks/attack.ts'
import { type Figures, figuresOf } from './figures.ts'
import type { HonestCall } from './honest.ts'
import type { MoneyVerdict } from './money.ts'
import type { Slice } from './slices.ts'
import type { Sample } from './watch-process.ts'

/** The honest callers' p99 under attack, as a multiple of the one without. */
const RATIO_MAX = 1.5
const GROWTH_MB_MAX = 300
const REFUSALS_SHOWN = 20

const isQuiet = ({ attacks }: Slice) => attacks.length === 0
const ms = (value: number) => `${round(value)} ms`

/** One line for a slice that has ended. */
export function describeSlice(
  slice: Slice,
  number: number,
  slices: number,
  calls: readonly HonestCall[],
  samples: readonly Sample[],
): string {
  const { calls: sent, failed, p99Ms, instead, ...own } = figuresOf([slice], calls, samples)
  const answers = slice.attacks.map((name) => `${name}: ${printTally(slice.tallies[name])}`)
  const figures = [
    `p99 ${ms(p99Ms)}`,
    `loop ${ms(own.loopMs)}`,
    `${Math.round(own.residentMb)} MB`,
    `(heap ${Math.round(own.heapMb)}, buffers ${Math.round(own.buffersMb)})`,
    `${own.cores.toFixed(2)} cores`,
    `${failed} of ${sent} failed ${printTally(instead)}`,
  ]
  return `${number}/${slices}  ${figures.join('  ')}\n    ${answers.join('\n    ')}`
}

function printTally(tally: Readonly<Record<string, number>> = {}): string {
  return Object.entries(tally)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')
}

export function judge(observed: {
  readonly attacks: readonly Attack[]
  readonly slices: readonly Slice[]
  readonly calls: readonly HonestCall[]
  readonly samples: readonly Sample[]
  readonly money: MoneyVerdict & { readonly audited: boolean }
  readonly hasExited: boolean
}) {
  const { attacks, slices, calls, samples, money, hasExited } = observed
  const figures = (some: readonly Slice[]) => figuresOf(some, calls, samples)
  const quiet = figures(slices.filter(isQuiet))
  const attacked = figures(slices.filter((slice) => !isQuiet(slice)))
  // The after-effects of an attack must not raise the baseline for the next one.
  const first = figures(slices.slice(0, 1))
  const ratio = attacked.p99Ms / quiet.p99Ms
  const growthMb = attacked.residentMb - first.residentMb
  const byAttack = attacks.flatMap(({ name, role }) => {
    const own = slices.filter((slice) => slice.attacks.includes(name))
    return own.length > 0 ? [{ name, role, slices: own.length, ...figures(own) }] : []
  })
  const promises: readonly (readonly [string, boolean])[] = [
    [`p99 ${ratio.toFixed(2)} × of without, at most ${RATIO_MAX}`, ratio <= RATIO_MAX],
    [
      `memory ${Math.round(growthMb)} MB above, at most ${GROWTH_MB_MAX}`,
      growthMb <= GROWTH_MB_MAX,
    ],
    [`${attacked.failed} honest calls failed under attack`, attacked.failed === 0],
    ['the gateway ran to the end', !hasExited],
    [
      `charged ${formatAmount(money.chargedNanos)}, billed ${formatAmount(money.billedNanos)}`,
      money.breaks.length === 0,
    ],
    ['the audit is clean', money.audited],
  ]
  const rows = [describe('without', quiet), describe('under attack', attacked)]
  const lines = [
    ...table([COLUMNS, ...rows]),
    '',
    ...table([['beside', ...COLUMNS.slice(1)], ...byAttack.map((one) => describe(one.name, one))]),
    '',
    ...money.breaks.slice(0, 20),
    ...listRefusals(slices, calls),
    ...promises.map(([text, holds]) => `${holds ? 'holds' : 'BROKEN'}  ${text}`),
  ]
  const { breaks } = money
  return {
    ok: promises.every(([, holds]) => holds),
    figures: { ratio, growthMb, quiet, attacked, byAttack, breaks: breaks.length },
    lines,
  }
}

/** Returns the first refusals of honest calls, with what they ran beside. */
function listRefusals(slices: readonly Slice[], calls: readonly HonestCall[]): readonly string[] {
  const refused = calls.filter(({ outcome }) => outcome !== 'complete')
  return refused.slice(0, REFUSALS_SHOWN).map(({ kind, at, milliseconds, refusal = '' }) => {
    const beside = slices.find(({ from, to }) => at >= from && at < to)?.attacks ?? []
    return `refused  ${kind} after ${ms(milliseconds)} beside ${beside.join(', ')}: ${refusal}`
  })
}

const COLUMNS = ['', 'calls', 'failed', 'p50', 'p99', 'loop', 'memory', 'cores']

function describe(name: string, one: Figures): (string | number)[] {
  const { calls, failed, p50Ms, p99Ms, loopMs, residentMb, cores } = one
  const memory = `${Math.round(residentMb)} MB`
  return [name, calls, failed, ms(p50Ms), ms(p99Ms), ms(loopMs), memory, cores.toFixed(2)]
}
