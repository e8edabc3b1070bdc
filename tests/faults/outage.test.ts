/**
 * Outages under load, the short version of `npm run prove:outage`: two gateways, lost answers of
 * commits, statements delayed beyond a hold's deadline, a locked balance, a stopped database.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DROP, FREEZE, HOLD_BACK, LOCK } from '../../proofs/outage/faults.ts'
import { allAttempts, proveOutage } from '../../proofs/outage/run.ts'

test('callers, ledger and vendor agree after short outages of every kind', async (t) => {
  const seed = 20_261_122
  const result = await proveOutage({
    milliseconds: 14_000,
    seed,
    perSecond: 5,
    streamMsMax: 4_000,
    longestMs: 4_500,
    faults: [DROP, FREEZE, HOLD_BACK, LOCK],
  })
  t.diagnostic(`seed ${seed}: ${[...result.faults].map(([name, times]) => `${name} ${times}`)}`)
  assert.deepEqual(result.breaks, [], result.logs.slice(-5_000))
  const complete = allAttempts(result.requests).filter(({ outcome }) => outcome === 'complete')
  assert.ok(complete.length > 10, `only ${complete.length} calls were answered`)
})
