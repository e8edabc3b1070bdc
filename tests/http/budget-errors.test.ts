/** A call that a budget refuses is told which one, and until when, in every shape of an error. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Envelope, errorHeaders, renderError } from '../../server/base/http/envelope.ts'
import { GatewayError } from '../../server/base/lib/errors.ts'

const refusedUntil = (resets_at: string | null) =>
  new GatewayError('insufficient_balance', {
    message: 'this call does not fit the budget bud_1',
    code: 'budget_exceeded',
    budget: { budget_id: 'bud_1', resets_at },
  })

for (const resetsAt of ['2026-11-27T00:00:00Z', null]) {
  for (const envelope of ['flat', 'nested', 'messages', 'native', 'google'] as const) {
    test(`${envelope}: a budget that begins anew ${resetsAt ?? 'never'}`, () => {
      const error = refusedUntil(resetsAt)
      const body = renderError(error, envelope, {}, 'req_1') as never
      assert.deepEqual(factsIn(envelope, body), ['budget_exceeded', 'bud_1', resetsAt])
      assert.deepEqual(errorHeaders(error)['retry-after'], undefined)
      assert.equal(error.outcome, 'budget_exceeded')
    })
  }
}

type Members = Readonly<Record<string, unknown>>

function factsIn(envelope: Envelope, body: Members & { readonly error: Members }) {
  if (envelope === 'google') {
    const [info] = body.error.details as readonly [{ reason: string; metadata: Members }]
    const { budget_id: id, resets_at: resetsAt = null } = info.metadata
    return [info.reason, id, resetsAt]
  }
  const { code, budget_id: id, resets_at: resetsAt } = envelopeOf(envelope, body)
  return [code, id, resetsAt]
}

function envelopeOf(envelope: Envelope, body: Members & { readonly error: Members }): Members {
  return envelope === 'nested' || envelope === 'native' ? body.error : body
}
