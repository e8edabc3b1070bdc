/**
 * Proves that every backup of a busy database of three gateways can be restored, and every instant
 * of its archive. `npm run prove:restore -- [--backups 20] [--points 5] [--seed N]`.
 */
import { POSTGRES_OPTION, readOptions } from '../../testbed/options.ts'
import { readConditions, report, table } from '../../testbed/results.ts'
import { type Round, runDrill } from './drill.ts'

const values = readOptions(import.meta.filename, {
  postgres: POSTGRES_OPTION,
  backups: { type: 'string', default: '20' },
  points: { type: 'string', default: '5' },
  rate: { type: 'string', default: '25' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
})
const seed = Number(values.seed)
// Half of the backups are restored to a server of this kind, half to the embedded one.
process.env.TEST_POSTGRES_CHOICE = values.postgres
const backups = Number(values.backups)
/** The log of a server of somebody else is not ours to replay. */
const points = values.postgres.includes('://') ? 0 : Number(values.points)

const conditions = readConditions(
  `npm run prove:restore -- --backups ${backups} --points ${points} --seed ${seed}`,
  values.postgres,
)
console.log(`seed ${seed}`)
const result = await runDrill({
  seed,
  backups,
  points,
  perSecond: Number(values.rate),
  log: (text) => console.log(text),
  postgres: values.postgres,
})
const rounds = [...result.backups, ...result.points]
const good = (rounds: readonly Round[]) => rounds.filter(({ breaks }) => breaks.length === 0).length
const isComplete = result.backups.length === backups && result.points.length === points
const ok = isComplete && good(rounds) === rounds.length && result.sourceBreaks.length === 0
const failures = [
  ...rounds.flatMap(({ name, breaks }) => breaks.map((text) => `${name}: ${text}`)),
  ...result.sourceBreaks.map((text) => `source: ${text}`),
]
report('prove-restore', conditions, { ok, seed, ...result }, [
  `Three gateways, ${result.calls} calls, ${result.complete} of them answered whole; ` +
    `${result.kills} gateways killed with -9 while backups were made.`,
  '',
  ...table([
    ['state', 'rows', 'answered before, found', 'begun later, absent', 'breaks'],
    ...rounds.map((one) => [one.name, one.rows, one.known, one.later, one.breaks.length]),
  ]),
  '',
  `${good(result.backups)} of ${backups} backups restored, compared and audited clean.`,
  `${good(result.points)} of ${points} instants replayed from the archive and audited clean.`,
  ...failures.slice(0, 50),
  ok ? 'PASSED' : 'FAILED',
])
if (!ok) process.exitCode = 1
