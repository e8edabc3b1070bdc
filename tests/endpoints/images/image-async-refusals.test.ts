/** Known refusals of a model: before an image task is created or a hold is taken. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { QUICK } from '../../tasks/stage.ts'

const PATH = '/v1/images/async'
const url = 'https://media.example/a.png'

describe(`${PATH}: known refusals`, () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await startTestGateway({ ...QUICK, ALLOW_PRIVATE_TARGETS: 'true' })
    const base = gateway.simulators.url
    const ark = { base_url: `${base}/ark/api/v3`, api_key: 'sim-ark-key' }
    const openai = { base_url: `${base}/openai/v1`, api_key: 'sim-openai-key' }
    const model = (id: string, ...routes: readonly (readonly [string, string])[]) => ({
      id,
      type: 'image',
      prices: [{ unit: 'image', amount: '0.5' }],
      routes: routes.map(([channel, upstream_model]) => ({ channel, upstream_model })),
    })
    await gateway.apply({
      channels: [
        { id: 'a', upstream: 'ark', settings: ark },
        { id: 'o', upstream: 'openai-compatible', settings: openai },
      ],
      models: [
        model('large', ['a', 'doubao-seedream-4-5-251128']),
        model('single', ['a', 'doubao-seedream-3-0-t2i-250415']),
        model('dall-e', ['o', 'dall-e-3']),
        model('both', ['o', 'dall-e-3'], ['a', 'doubao-seedream-4-5-251128']),
      ],
    })
  })
  after(() => gateway.stop())

  for (const [name, model, options, message] of [
    ['a size that is none', 'large', { size: 'huge' }, /^size: must be a width and a height/],
    ['too small a size', 'large', { size: '1024x1024' }, /^size: this model makes pictures of/],
    ['too large a size', 'large', { size: '5000x5000' }, /^size: this model makes pictures of/],
    ['too thin a picture', 'large', { size: '10000x400' }, /^size: no side may be longer/],
    ['too many references', 'large', { image: Array(15).fill(url) }, /^image: at most 14/],
    [
      'too many in all',
      'large',
      { image: Array(10).fill(url), n: 6 },
      /^n: reference and generated/,
    ],
    ['two of a model of one', 'single', { n: 2 }, /^n: this model makes one image a call/],
    ['an image for words alone', 'single', { image: url }, /^image: this model takes no images/],
    ['a sequence of one', 'single', { sequential_image_generation: 'auto' }, /^sequential_image/],
    [
      'a size of another model',
      'dall-e',
      { size: '512x512' },
      /^size: this model offers 1024x1024/,
    ],
    ['two at dall-e-3', 'dall-e', { n: 2 }, /^n: this model makes one image a call/],
  ] as const) {
    test(`${name}: 400 with the field, and no record`, async () => {
      const tenant = await gateway.tenant()
      const before = await gateway.balance(tenant.accountId)
      const answer = await gateway.post(PATH, tenant.key, { model, prompt: 'a river', ...options })
      assert.equal(answer.status, 400, answer.text)
      assert.match(answer.json.error, message)
      assert.deepEqual(await gateway.balance(tenant.accountId), before)
      assert.deepEqual((await gateway.get('/v1/usage', tenant.key)).json.data, [])
      const [row] = await gateway.sql<{ tasks: number }[]>`
        select count(*)::int as tasks from task where account_id = ${tenant.accountId}`
      assert.equal(row?.tasks, 0)
    })
  }

  test('one route that accepts the request is sufficient, and it is used', async () => {
    const tenant = await gateway.tenant()
    for (let tries = 0; tries < 8; tries += 1) {
      const body = { model: 'both', prompt: 'a river', size: '2048x2048' }
      const answer = await gateway.post(PATH, tenant.key, body)
      assert.equal(answer.status, 200, answer.text)
      const [task] = await gateway.sql<{ channel_id: string }[]>`
        select channel_id from task where id = ${answer.json.id}`
      assert.equal(task?.channel_id, 'a')
    }
  })
})
