/**
 * Proves that the charge equals the vendor's bill, whatever a caller sends and an answer states.
 * `npm run prove:prices -- [--cases 100000] [--seed N] [--first N] [--concurrency 32]
 * [--base-prices]`.
 */
import { POSTGRES_OPTION, readOptions } from '../../testbed/options.ts'
import { readConditions, report } from '../../testbed/results.ts'
import { startTestServer } from '../../tests/support/postgres.ts'
import { describeVerdict, summarise } from './describe.ts'
import { compareHolds } from './holds.ts'
import type { Verdict } from './judge.ts'
import { runProof } from './run.ts'
import { openStage } from './stage.ts'

const values = readOptions(import.meta.filename, {
  postgres: POSTGRES_OPTION,
  cases: { type: 'string', default: '100000' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  first: { type: 'string', default: '0' },
  concurrency: { type: 'string', default: '32' },
  quiet: { type: 'boolean', default: false },
  /** No price lists: every run of a case is then the same. */
  'base-prices': { type: 'boolean', default: false },
  /** Ends after the first batch with an exception. */
  'until-break': { type: 'boolean', default: false },
})
const cases = Number(values.cases)
const seed = Number(values.seed)
const first = Number(values.first)
const concurrency = Number(values.concurrency)
const SHOWN = 40
let shown = 0
/** Set by an interrupt: the run ends and reports its results so far. */
let isOver = false
process.on('SIGUSR2', () => {
  isOver = true
})
const REFUSALS_SHOWN = process.env.SHOW_REFUSALS !== undefined

console.log(`seed ${seed}`)
const isBase = values['base-prices']
const kind = isBase ? ' --base-prices' : ''
const command = `npm run prove:prices -- --cases ${cases} --seed ${seed}${kind}`
const conditions = readConditions(
  first === 0 ? command : `${command} --first ${first}`,
  values.postgres,
)
const server = await startTestServer({ choice: values.postgres, autovacuum: true })
process.env.TEST_POSTGRES = JSON.stringify(server.place)
process.env.TRIBUTARY_TEST_UNSAFE_DATABASE = '1'
const start = performance.now()
const stage = await openStage().catch(async (error: unknown) => {
  await server.stop()
  throw error
})
try {
  const growth = await compareHolds(stage)
  const result = await runProof(stage, {
    seed,
    cases,
    first,
    concurrency,
    untilBreak: values['until-break'],
    isOver: () => isOver,
    lists: !isBase,
    onBreak: show,
    onProgress: printProgress,
  })
  const seconds = Math.round((performance.now() - start) / 1000)
  const { lines, figures, ok } = summarise(result, growth, seconds)
  if (REFUSALS_SHOWN) {
    for (const [name, { refusal }] of result.byTrick) if (refusal) console.log(name, refusal)
  }
  if (values.quiet) console.log(lines.join('\n'))
  else report(isBase ? 'prove-prices-base' : 'prove-prices', conditions, figures, lines)
  process.exitCode = ok ? 0 : 1
} finally {
  await stage.stop()
  await server.stop()
}

function show(verdict: Verdict): void {
  shown += 1
  if (shown <= SHOWN) console.log(describeVerdict(seed, verdict))
}

function printProgress(done: number, breaks: number): void {
  const seconds = Math.round((performance.now() - start) / 1000)
  if (done % 6_000 === 0 || breaks > 0) console.log(`${seconds} s: ${done} cases, ${breaks} breaks`)
}
