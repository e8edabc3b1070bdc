/**
 * Proves that the money stays exact while the database, the network and the gateways fail in every
 * combination. `npm run prove:outage -- [--minutes 20] [--seed N] [--rate 6]`.
 */

import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatAmount } from '../../server/base/lib/money.ts'
import { POSTGRES_OPTION, readOptions } from '../../testbed/options.ts'
import { readConditions, report, table } from '../../testbed/results.ts'
import { allAttempts, countBy, type OutageResult, proveOutage } from './run.ts'

const values = readOptions(import.meta.filename, {
  postgres: POSTGRES_OPTION,
  minutes: { type: 'string', default: '20' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  rate: { type: 'string', default: '6' },
})
const minutes = Number(values.minutes)
const seed = Number(values.seed)
const perSecond = Number(values.rate)
const conditions = readConditions(
  `npm run prove:outage -- --minutes ${minutes} --seed ${seed}`,
  values.postgres,
)
console.log(`seed ${seed}`)
const start = performance.now()
const log = (text: string) => {
  console.log(`${String(Math.round((performance.now() - start) / 1_000)).padStart(5)} s  ${text}`)
}
const milliseconds = minutes * 60_000
const result = await proveOutage({
  milliseconds,
  seed,
  perSecond,
  log,
  postgres: values.postgres,
})
const figures = summarise(result)
report(
  'prove-outage',
  conditions,
  { seed, minutes, perSecond, ...figures },
  describe(result, figures),
)
if (result.breaks.length > 0) {
  const file = join(tmpdir(), `prove-outage-${seed}.log`)
  writeFileSync(file, result.logs)
  console.log(`the gateways' logs: ${file}`)
  process.exitCode = 1
}

function summarise({ breaks, faults, requests, rows, bookedNanos, chargedNanos }: OutageResult) {
  const tries = allAttempts(requests)
  const closed = rows.filter(({ status }) => status !== null)
  return {
    ok: breaks.length === 0,
    breaks,
    faults: Object.fromEntries(faults),
    requests: requests.length,
    named: requests.filter(({ isNamed }) => isNamed).length,
    tries: tries.length,
    replayed: tries.filter(({ replayOf }) => replayOf !== undefined).length,
    outcomes: countBy(tries, ({ outcome, status }) =>
      outcome === 'refused' ? `refused with ${status}` : outcome,
    ),
    records: countBy(closed, ({ status, basis }) => `${status}, ${basis}`),
    corrected: rows.filter(({ lost_charge }) => lost_charge !== null).length,
    booked: formatAmount(bookedNanos),
    charged: formatAmount(chargedNanos),
  }
}

function describe({ breaks }: OutageResult, figures: ReturnType<typeof summarise>): string[] {
  const { faults, outcomes, records, requests, named, tries, replayed, corrected } = figures
  return [
    `${requests} requests, ${named} with an Idempotency-Key, ${tries} tries at two gateways.`,
    '',
    ...table([['what went wrong', 'times'], ...Object.entries(faults)]),
    '',
    ...table([['callers saw', 'tries'], ...Object.entries(outcomes)]),
    '',
    ...table([['ledger says', 'calls'], ...Object.entries(records)]),
    '',
    `answers repeated under their key: ${replayed}`,
    `calls taken for lost that were put right: ${corrected}`,
    `the vendor billed ${figures.booked}, charged ${figures.charged}`,
    breaks.length === 0
      ? 'No live call is lost, no key was charged twice, the audit is clean: the books agree.'
      : `${breaks.length} BREAKS:\n${breaks.slice(0, 50).join('\n')}`,
    figures.ok ? 'PASSED' : 'FAILED',
  ]
}
