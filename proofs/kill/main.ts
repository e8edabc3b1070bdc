/**
 * Proves that no money is lost or charged twice when the gateway or its PostgreSQL is killed with
 * -9 under load. `npm run prove:kill -- [--cycles 200] [--seed N]`.
 */

import { openLaboratory } from '../../testbed/laboratory.ts'
import { POSTGRES_OPTION, readOptions } from '../../testbed/options.ts'
import { createRandom } from '../../testbed/random.ts'
import { readConditions, report } from '../../testbed/results.ts'
import { type CycleResult, runCycle, type Victim } from './cycle.ts'
import { summarise } from './summary.ts'

const values = readOptions(import.meta.filename, {
  postgres: POSTGRES_OPTION,
  cycles: { type: 'string', default: '200' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  rate: { type: 'string', default: '60' },
})
const cycles = Number(values.cycles)
const seed = Number(values.seed)
const perSecond = Number(values.rate)
/** A server given by URL belongs to somebody else, so then only the gateway is killed. */
const VICTIMS: readonly [Victim, ...Victim[]] = values.postgres.includes('://')
  ? ['gateway']
  : ['gateway', 'postgres', 'both']
const LOAD_MS = [500, 3_000] as const
const ACCOUNTS = 4
const KEYS = 600

const random = createRandom(seed)
const command = `npm run prove:kill -- --cycles ${cycles} --seed ${seed}`
const conditions = readConditions(command, values.postgres)
console.log(`seed ${seed}`)
const laboratory = await openLaboratory({
  accounts: ACCOUNTS,
  keys: KEYS,
  postgres: values.postgres,
})
const results: (CycleResult & { readonly victim: Victim })[] = []
let gateway = await laboratory.startGateway()
try {
  for (let cycle = 1; cycle <= cycles; cycle += 1) {
    const victim = VICTIMS[cycle % VICTIMS.length] ?? 'gateway'
    const loadMs = random.integer(...LOAD_MS)
    const bookSince = results.at(-1)?.bookSequence ?? 0
    const options = { cycle, victim, loadMs, perSecond, random }
    const outcome = await runCycle(laboratory, gateway, bookSince, options)
    gateway = outcome.gateway
    results.push({ ...outcome.result, victim })
    console.log(describeCycle(cycle, victim, outcome.result))
    for (const text of outcome.result.breaks.slice(0, 10)) console.log(`    ${text}`)
    if (outcome.result.breaks.length > 0) console.log(gateway.log().slice(-2_000))
  }
} finally {
  await gateway.stop()
  await laboratory.close()
}
const summary = summarise(results)
report('prove-kill', conditions, { seed, cycles, ...summary.figures }, summary.lines)
if (!summary.ok) process.exitCode = 1

function describeCycle(cycle: number, victim: Victim, result: CycleResult): string {
  const { verdicts, breaks, bootMs, backMs, closedMs } = result
  const complete = verdicts.filter(({ call }) => call.outcome === 'complete').length
  return [
    `${String(cycle).padStart(3)}/${cycles}  ${victim.padEnd(8)}`,
    `${String(complete).padStart(3)} of ${String(verdicts.length).padStart(3)} calls complete`,
    `back ${Math.round(backMs)} ms`,
    bootMs === null ? '' : `boot ${Math.round(bootMs)} ms`,
    `holds closed ${Math.round(closedMs)} ms`,
    breaks.length === 0 ? 'books agree' : `${breaks.length} BREAKS`,
  ].join('  ')
}
