/** Whatever the vendor states, an image task is charged as the same call would be. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createAccount } from '../../../server/money/accounts/manage-accounts.ts'
import { createKey } from '../../../server/money/accounts/manage-keys.ts'
import type { Tenant } from '../../support/in-process.ts'
import { type ImageStage, startImageStage } from './image-stage.ts'

let stage: ImageStage
let tenant: Tenant

before(async () => {
  stage = await startImageStage()
  const { gateway, vendor } = stage
  const model = (id: string, prices: readonly object[]) => ({
    id,
    type: 'image',
    prices,
    routes: [{ channel: 'dollars', upstream_model: id }],
  })
  const image = { unit: 'image', amount: '0.5' }
  await gateway.apply(
    {
      currency: 'USD',
      channels: [
        {
          id: 'dollars',
          upstream: 'openai-compatible',
          settings: { base_url: vendor.url, api_key: 'vendor-key' },
        },
      ],
      models: [
        model('by-image', [image]),
        model('by-image-and-text', [image, { unit: 'input_token', per: 1, amount: '0.01' }]),
        model('by-cost', [image, { unit: 'vendor_cost', per: 1, amount: '0.000000002' }]),
      ],
    },
    'dollars',
  )
  const account = await createAccount(gateway.sql, {
    name: 'dollars',
    currency: 'USD',
    openingBalanceNanos: 100_000_000_000n,
    actor: 'test',
  })
  const { key, id: keyId } = await createKey(gateway.sql, { accountId: account.id })
  tenant = { accountId: account.id, key, keyId }
})
after(() => stage.stop())

for (const [name, model, usage, expected] of [
  ['a cost that is sold', 'by-cost', { cost: 0.02 }, ['0.04', false]],
  ['ticks of a cost', 'by-cost', { cost_in_usd_ticks: 700_000_000 }, ['0.14', false]],
  ['no cost', 'by-cost', { total_tokens: 5 }, ['0.5', false]],
  ['a cost that is not sold', 'by-image', { cost: 0.02 }, ['0.5', false]],
  ['no tokens of the text', 'by-image-and-text', { generated_images: 1 }, ['0.5', false]],
  ['tokens of the text', 'by-image-and-text', { input_tokens: 10 }, ['0.6', false]],
  ['a tool without a unit', 'by-image', { tool_usage: { unheard_of: 2 } }, ['0.5', true]],
] as const) {
  test(`stated: ${name}`, async () => {
    const { gateway, vendor } = stage
    vendor.usage = usage
    const body = { model, prompt: 'a river' }
    const called = await gateway.post('/v1/images/generations', tenant.key, body)
    const created = await stage.create(tenant, body)
    await stage.until(tenant, created.json.id, 'succeeded')
    for (const answer of [called, created]) {
      const { charged, review } = await gateway.record(answer, tenant.key)
      assert.deepEqual([charged, review], expected)
    }
  })
}
