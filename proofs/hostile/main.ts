/**
 * Proves that no caller and no vendor stops or fills a gateway: beside 200 honest calls a second,
 * attackers send everything that has ever hurt a gateway, in slices that alternate with quiet ones.
 * `npm run prove:hostile -- [--minutes 10] [--rate 200] [--only PATTERN] [--seed N] [--alone]`;
 * `--minutes` are those under attack; `--only` plays the attacks whose names match, such as
 * `'402|60 MB$'`; `--alone` plays each attack once by itself instead. Before, malformed requests
 * and half-open connections (`--requests 10000`, `--connections 2000`; 0 leaves them out).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { waitForHolds } from '../../testbed/holds.ts'
import { POSTGRES_OPTION, readOptions } from '../../testbed/options.ts'
import { createRandom } from '../../testbed/random.ts'
import { readConditions, report } from '../../testbed/results.ts'
import { ATTACKS } from './attacks/index.ts'
import { proveMalformed } from './malformed/prove-malformed.ts'
import { compareCharges } from './money.ts'
import { ATTACKS_PER_MINUTE, drawAttacks, playAlone, runSlices, type Slice } from './slices.ts'
import { openStage, type Stage } from './stage.ts'
import { describeSlice, judge } from './verdict.ts'

const values = readOptions(import.meta.filename, {
  postgres: POSTGRES_OPTION,
  minutes: { type: 'string', default: '10' },
  rate: { type: 'string', default: '200' },
  only: { type: 'string', default: '' },
  alone: { type: 'boolean', default: false },
  requests: { type: 'string', default: '10000' },
  connections: { type: 'string', default: '2000' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
})
const minutes = Number(values.minutes)
const perSecond = Number(values.rate)
const seed = Number(values.seed)
const only = new RegExp(values.only)
const { postgres } = values

/** The warm-up until a process has compiled its code and allocated the memory that it keeps. */
const WARM_UP_MS = 30_000
/** Few, so that attackers can fill them at little cost of their own. */
const CALLS_MAX = '1000'
/** The default on a machine of 1.5 GB: memory beyond it comes from elsewhere. */
const MEMORY_BYTES_MAX = '192MB'

const random = createRandom(seed)
const command = [
  `npm run prove:hostile -- --minutes ${minutes} --seed ${seed}`,
  ...(values.only === '' ? [] : [`--only '${values.only}'`]),
  ...(values.alone ? ['--alone'] : []),
  ...(values.requests === '10000' ? [] : [`--requests ${values.requests}`]),
  ...(values.connections === '2000' ? [] : [`--connections ${values.connections}`]),
]
const conditions = readConditions(command.join(' '), postgres)
console.log(`seed ${seed}`)
const malformed = await proveMalformed({
  requests: Number(values.requests),
  connections: Number(values.connections),
  postgres,
  random,
})
const attacks = ATTACKS.filter(({ name }) => only.test(name))
const drawn = values.alone
  ? playAlone(attacks)
  : drawAttacks(attacks, Math.ceil(minutes * ATTACKS_PER_MINUTE), random)
const stage = await openStage({
  perSecond,
  seed,
  postgres,
  environment: { CALLS_MAX, MEMORY_BYTES_MAX },
})
try {
  await prove(stage)
} finally {
  await stage.close()
}

async function prove(stage: Stage): Promise<void> {
  await sleep(WARM_UP_MS)
  const slices = await runSlices(stage, drawn, (slice: Slice, number: number) => {
    console.log(describeSlice(slice, number, drawn.length, stage.calls(), stage.samples()))
  })
  if (stage.gateway.hasExited()) console.log(stage.gateway.log().slice(-3_000))
  await stage.end()
  const verdict = judge({
    attacks,
    slices,
    calls: stage.calls(),
    samples: stage.samples(),
    money: await readMoney(stage),
    hasExited: stage.gateway.hasExited(),
  })
  const ok = verdict.ok && malformed.ok
  const figures = { ok, seed, minutes, ...verdict.figures, malformed: malformed.figures }
  const lines = [...verdict.lines, '', ...malformed.lines, '', ok ? 'PASSED' : 'FAILED']
  report('prove-hostile', conditions, figures, lines)
  if (!ok) process.exitCode = 1
}

async function readMoney({ laboratory, calls }: Stage) {
  const entries = await laboratory.simulators.readBook()
  return laboratory.withDatabase(async (sql) => {
    await waitForHolds(sql)
    const compared = await compareCharges(sql, laboratory.accountIds, calls(), entries)
    return { ...compared, audited: (await audit(sql)).ok }
  })
}
