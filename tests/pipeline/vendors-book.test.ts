/**
 * Charges equal the vendor's bill: a few hundred cases of `npm run prove:prices`, against a vendor
 * with its own books. The long proof and its results are in proofs/prices.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { describeVerdict } from '../../proofs/prices/describe.ts'
import { compareHolds, GROWTH_MAX } from '../../proofs/prices/holds.ts'
import { runProof } from '../../proofs/prices/run.ts'
import { openStage, type ProofStage } from '../../proofs/prices/stage.ts'

const SEED = 20_261_122
const CASES = 400

describe("the vendor's book", () => {
  let stage: ProofStage

  before(async () => {
    stage = await openStage()
  })
  after(() => stage.stop())

  test('agrees with every record, balance and the audit', async (context) => {
    context.diagnostic(`seed ${SEED}`)
    const result = await runProof(stage, { seed: SEED, cases: CASES })
    assert.deepEqual(
      result.broken.map((verdict) => describeVerdict(SEED, verdict)),
      [],
    )
    assert.deepEqual(result.others, [])
    assert.equal(result.charged, result.worth)
    // Without sent and refused calls the proof would be empty.
    assert.ok(result.fullyStated > CASES / 2, `${result.fullyStated} with stated usage`)
    assert.ok(result.notStated > CASES / 20, `${result.notStated} with broken usage`)
    assert.ok(result.sent < CASES, 'something was refused')
    assert.ok(result.debts > 0, 'something became debt')
  })

  test('holds of ordinary calls are at most 1.5 times as large as they were', async (context) => {
    const growth = await compareHolds(stage)
    context.diagnostic(`median ${growth.median} of ${growth.calls} calls`)
    assert.ok(growth.median <= GROWTH_MAX, `median ${growth.median}`)
  })
})
