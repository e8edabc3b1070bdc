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
  const model = (id: string, prices: readonly object[], channel = 'dollars') => ({
    id,
    type: 'image',
    prices,
    routes: [{ channel, upstream_model: id, costs: [{ unit: 'image', amount: '0.1' }] }],
  })
  const settings = { base_url: vendor.url, api_key: 'vendor-key' }
  const image = { unit: 'image', amount: '0.5' }
  await gateway.apply(
    {
      currency: 'USD',
      channels: [
        { id: 'dollars', upstream: 'openai-compatible', settings },
        { id: 'europe', upstream: 'openai-compatible', settings: { ...settings, region: 'eu' } },
      ],
      models: [
        model('by-image', [image]),
        model('by-image-and-text', [image, { unit: 'input_token', per: 1, amount: '0.01' }]),
        model('by-token', [
          { unit: 'input_token', per: 1, amount: '0.01' },
          { unit: 'output_token', per: 1, amount: '0.001' },
        ]),
        model('by-region', [{ ...image, amount: '0.6', when: { region: 'eu' } }, image], 'europe'),
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

const PICTURES = {
  input_tokens: 10,
  input_tokens_details: { image_tokens: 4, text_tokens: 6 },
  output_tokens: 5,
}

for (const [name, model, usage, expected] of [
  ['a cost that is sold', 'by-cost', { cost: 0.02 }, ['0.04', false]],
  ['ticks of a cost', 'by-cost', { cost_in_usd_ticks: 700_000_000 }, ['0.14', false]],
  ['no cost', 'by-cost', { total_tokens: 5 }, ['0.5', false]],
  ['a cost that is not sold', 'by-image', { cost: 0.02 }, ['0.5', false]],
  ['no tokens of the text', 'by-image-and-text', { generated_images: 1 }, ['0.62', false]],
  ['tokens of the text', 'by-image-and-text', { input_tokens: 10 }, ['0.6', false]],
  ['pictures in the input', 'by-token', PICTURES, ['0.105', false]],
  ['no input', 'by-token', { output_tokens: 5 }, ['0.105', false]],
  ['no output', 'by-token', { input_tokens: 10 }, ['16.484', false]],
  ['nothing of the region', 'by-region', {}, ['0.6', false]],
  ['a tool without a unit', 'by-image', { tool_usage: { unheard_of: 2 } }, ['0.5', true]],
] as const) {
  test(`stated: ${name}`, async () => {
    const { gateway, vendor } = stage
    vendor.usage = usage
    const body = { model, prompt: 'a river' }
    const called = await gateway.post('/v1/images/generations', tenant.key, body)
    const created = await stage.create(tenant, body)
    await stage.until(tenant, created.json.id, 'succeeded')
    const books = []
    for (const answer of [called, created]) {
      const { charged, review, held, request_id: id } = await gateway.record(answer, tenant.key)
      assert.deepEqual([charged, review], expected)
      const [row] = await gateway.sql`select upstream_cost from call where request_id = ${id}`
      books.push([held, row?.upstream_cost])
    }
    assert.deepEqual(books[1], books[0], 'the hold and the upstream cost')
  })
}
