/**
 * Both video protocols against the vendors' simulators, which were written by others from the same
 * facts: every model generation, the three books, the failures that a vendor can script.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { type Simulators, startSimulators } from '../../simulators/index.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/in-process.ts'
import { until } from '../support/until.ts'
import { CONTENTS_PATH, QUICK, VIDEO_PATH } from './stage.ts'

const TOKENS = [{ unit: 'output_token', per: 1_000_000, amount: '46' }]
const SECONDS = [
  { unit: 'second', per: 1, amount: '0.9', when: { resolution: '2K' } },
  { unit: 'second', per: 1, amount: '0.56' },
  { unit: 'image', per: 1, amount: '0.28' },
]
const MODELS: readonly [string, string, object[]][] = [
  ['doubao-seedance-1-0-pro-250528', 'a', TOKENS],
  ['doubao-seedance-1-5-pro-251215', 'a', TOKENS],
  ['doubao-seedance-2-0-260128', 'a', TOKENS],
  ['doubao-seedance-2-0-fast-260128', 'a', TOKENS],
  ['doubao-seedance-2-5-260628', 'a', TOKENS],
  ['MiniMax-H3', 'm', SECONDS],
  ['wan3.0-video', 'd', SECONDS],
  ['wan2.7-t2v', 'd', SECONDS],
  ['kling-3.0', 'k', SECONDS],
  ['kling-v2-6', 'o', SECONDS],
  ['fal-ai/films', 'f', SECONDS],
  ['owner/films', 'r', SECONDS],
]
/** Keys and addresses of the vendors, by the channels that MODELS name. */
function channelsAt(url: string): object[] {
  return [
    {
      id: 'a',
      upstream: 'ark',
      settings: { base_url: `${url}/ark/api/v3`, api_key: 'sim-ark-key' },
    },
    {
      id: 'm',
      upstream: 'minimax',
      settings: { base_url: `${url}/minimax`, api_key: 'sim-minimax-key' },
    },
    {
      id: 'd',
      upstream: 'dashscope',
      settings: { base_url: `${url}/dashscope`, api_key: 'sim-dashscope-key' },
    },
    {
      id: 'k',
      upstream: 'kling',
      settings: { base_url: `${url}/kling`, api_key: 'sim-kling-key' },
    },
    {
      id: 'f',
      upstream: 'media-tasks',
      settings: {
        preset: 'fal',
        base_url: `${url}/fal`,
        api_key: 'sim-media-key',
        stated_usage: true,
      },
    },
    {
      id: 'r',
      upstream: 'media-tasks',
      settings: {
        preset: 'replicate',
        base_url: `${url}/replicate`,
        api_key: 'sim-media-key',
      },
    },
    {
      id: 'v',
      upstream: 'media-tasks',
      settings: {
        preset: 'openrouter',
        base_url: `${url}/openrouter-videos`,
        api_key: 'sim-media-key',
      },
    },
    {
      id: 'o',
      upstream: 'kling',
      settings: {
        base_url: `${url}/kling`,
        access_key: 'sim-kling-access',
        secret_key: 'sim-kling-secret',
      },
    },
  ]
}

function catalogAt(url: string): object {
  return {
    channels: channelsAt(url),
    models: [
      ...MODELS.map(([model, channel, prices]) => ({
        id: `t-${model}`,
        type: 'video',
        prices,
        routes: [{ channel, upstream_model: model }],
      })),
      costsAs('t-costs'),
    ],
  }
}

function costsAs(id: string): object {
  return {
    id,
    type: 'video',
    prices: [
      { unit: 'second', per: 1, amount: '0.5' },
      { unit: 'vendor_cost', per: 1_000_000_000, amount: '1' },
    ],
    routes: [{ channel: 'v', upstream_model: 'owner/films' }],
  }
}

const image = { type: 'image_url', image_url: { url: 'https://media.example/a.png' } }

describe('video against simulated vendors', () => {
  let gateway: TestGateway
  let vendors: Simulators
  before(async () => {
    vendors = await startSimulators({ port: 0, timeScale: 0.02 })
    gateway = await startTestGateway({ ...QUICK, ALLOW_PRIVATE_TARGETS: 'true' })
    await gateway.apply(catalogAt(vendors.url))
    await gateway.apply({ currency: 'USD', models: [costsAs('t-dollars')] }, 'dollars')
  })
  after(async () => {
    await gateway.stop()
    await vendors.stop()
  })

  async function run(
    body: object,
    known?: string,
  ): Promise<{ created: TestAnswer; done: TestAnswer; key: string }> {
    const key = known ?? (await gateway.tenant({ balance: '1000' })).key
    const created = await gateway.post(VIDEO_PATH, key, body)
    assert.equal(created.status, 200, created.text)
    const done = await until('its end', async () => {
      const shown = await gateway.get(`${VIDEO_PATH}/${created.json.id}`, key)
      return ['succeeded', 'failed'].includes(shown.json.status) && shown
    })
    return { created, done, key }
  }

  for (const [model, channel] of MODELS) {
    test(`${model}: succeeds, and is charged what the vendor states`, async () => {
      const content = [{ type: 'text', text: 'a river' }]
      const { created, done, key } = await run({ model: `t-${model}`, content, ratio: '16:9' })
      assert.equal(done.json.status, 'succeeded', done.text)
      assert.match(done.json.video_url, /^http/)
      if (channel !== 'f' && channel !== 'r') assert.equal(Math.floor(done.json.duration), 5)
      const record = await gateway.record(created, key)
      assert.equal(record.basis, channel === 'k' || channel === 'o' ? 'params' : 'usage')
      const [line] = record.lines
      const { usage = {} } = done.json
      assert.equal(
        line?.quantity,
        usage.completion_tokens ?? usage.total_seconds ?? usage.duration ?? 5,
      )
      assert.equal(record.charged, record.held, 'the hold was the exact price')
    })
  }

  const IN_FORCE = { resolution: '720p', ratio: 'adaptive', duration: 5, generate_audio: true }
  for (const [model, body, expected] of [
    ['MiniMax-H3', {}, { resolution: '768P', ratio: '16:9' }],
    ['MiniMax-H3', { resolution: '2K', ratio: '9:16' }, { resolution: '2K', ratio: '9:16' }],
    ['doubao-seedance-2-0-260128', {}, {}],
    ['doubao-seedance-1-0-pro-250528', {}, { generate_audio: false }],
    [
      'doubao-seedance-1-0-pro-250528',
      { words: '--rs 480p --rt 1:1 --dur 7' },
      { resolution: '480p', ratio: '1:1', duration: 7, generate_audio: false },
    ],
    ['doubao-seedance-1-0-pro-250528', { frames: 57 }, { frames: 57 }],
  ] as const) {
    test(`a waiting task states the values in force: ${model} ${JSON.stringify(body)}`, async () => {
      const { words = '', ...change } = { words: '', ...body }
      const content = [{ type: 'text', text: `[[fault:queue-time=600000]] a river ${words}` }]
      const { key } = await gateway.tenant({ balance: '1000' })
      const request = { model: `t-${model}`, content, ...change }
      const { json, text } = await gateway.post(CONTENTS_PATH, key, request)
      const shown = (await gateway.get(`${CONTENTS_PATH}/${json.id}`, key)).json
      assert.match(shown.status, /queued|running/, text)
      const values = { ...IN_FORCE, ...expected }
      if ('frames' in expected)
        Object.assign(values, { duration: undefined, generate_audio: false })
      const stated = Object.fromEntries(Object.keys(values).map((name) => [name, shown[name]]))
      assert.deepEqual(stated, values)
    })
  }

  test('what the vendor states as its cost is the charge, in its own currency alone', async () => {
    const content = [{ type: 'text', text: 'a river' }]
    const account = await createAccount(gateway.sql, {
      name: 'dollars',
      currency: 'USD',
      openingBalanceNanos: 100_000_000_000n,
      actor: 'test',
    })
    const dollars = await createKey(gateway.sql, { accountId: account.id })
    for (const [model, known, charged] of [
      ['t-dollars', dollars.key, '0.25'],
      ['t-costs', undefined, '2'],
    ] as const) {
      const { created, done, key } = await run({ model, content, duration: 4 }, known)
      assert.equal(done.json.status, 'succeeded', done.text)
      const record = await gateway.record(created, key)
      assert.deepEqual([record.held, record.charged], ['2', charged])
    }
  })

  test('on the native path the id is the vendor’s at its older generation too', async () => {
    const { key } = await gateway.tenant({ balance: '1000' })
    for (const media of [[], [image]]) {
      const content = [{ type: 'text', text: 'a river' }, ...media]
      const { json } = await gateway.post(CONTENTS_PATH, key, { model: 't-kling-v2-6', content })
      assert.match(json.id, /^\d+$/)
      await until('its end', async () => {
        const shown = await gateway.get(`${CONTENTS_PATH}/${json.id}`, key)
        return shown.json.status === 'succeeded'
      })
    }
  })

  test('a task is read with the keys that created it, whatever its channel has since', async () => {
    const { key } = await gateway.tenant({ balance: '1000' })
    const applyKeys = (keys: object) => {
      const settings = { base_url: `${vendors.url}/kling`, ...keys }
      const routes = [{ channel: 'turned', upstream_model: 'kling-v2-6' }]
      const model = { id: 't-turned', type: 'video', prices: SECONDS, routes }
      const channel = { id: 'turned', upstream: 'kling', settings }
      return gateway.apply({ channels: [channel], models: [model] }, 'turned')
    }
    await applyKeys({ access_key: 'sim-kling-access', secret_key: 'sim-kling-secret' })
    const content = [{ type: 'text', text: '[[fault:queue-time=50000]] a river' }]
    const created = await gateway.post(VIDEO_PATH, key, { model: 't-turned', content })
    await applyKeys({ api_key: 'another-key' })
    await until('its end', async () => {
      const shown = await gateway.get(`${VIDEO_PATH}/${created.json.id}`, key)
      return shown.json.status === 'succeeded'
    })
  })

  test('a failure that only the answer with the film states', async () => {
    const content = [{ type: 'text', text: '[[fault:fail-task]] a river' }]
    for (const model of ['t-fal-ai/films', 't-owner/films', 't-costs']) {
      const { created, done, key } = await run({ model, content })
      assert.equal(done.json.status, 'failed')
      assert.equal(done.json.error.message, 'the content was refused')
      assert.equal((await gateway.record(created, key)).charged, '0')
    }
  })

  test('a vendor’s refusal with a 422 is the caller’s 400', async () => {
    const { key } = await gateway.tenant({ balance: '1000' })
    const content = [{ type: 'text', text: '[[fault:moderation]] a river' }]
    const refused = await gateway.post(VIDEO_PATH, key, { model: 't-owner/films', content })
    const error = 'refused by policy'
    assert.deepEqual(
      [refused.status, refused.json],
      [400, { error, type: 'invalid_request_error' }],
    )
  })

  test('2K at its own price, with a first frame', async () => {
    const content = [{ type: 'text', text: 'a river' }, image]
    const { created, done, key } = await run({ model: 't-MiniMax-H3', content, resolution: '2K' })
    assert.equal(done.json.resolution, '2K')
    assert.equal((await gateway.record(created, key)).charged, '4.5')
  })

  test('the shortest video of the model is four seconds', async () => {
    const content = [{ type: 'text', text: 'a river' }]
    const { done } = await run({ model: 't-MiniMax-H3', content, duration: 4 })
    assert.deepEqual([done.json.status, done.json.duration], ['succeeded', 4])
  })

  test('a vendor without a cancel: a waiting task is refused in words that say so', async () => {
    const { key } = await gateway.tenant()
    const content = [{ type: 'text', text: '[[fault:queue-time=600000]] a river' }]
    const { json } = await gateway.post(VIDEO_PATH, key, { model: 't-MiniMax-H3', content })
    const answer = await gateway.fetch(`${VIDEO_PATH}/${json.id}`, { method: 'DELETE', key })
    assert.equal(answer.status, 409)
    assert.match(await answer.text(), /tasks of this model cannot be cancelled/)
  })

  test('a waiting task is cancelled, whatever its vendor calls that', async () => {
    const content = [{ type: 'text', text: '[[fault:queue-time=600000]] a river' }]
    for (const model of ['t-fal-ai/films', 't-owner/films', 't-wan3.0-video']) {
      const { key } = await gateway.tenant()
      const created = await gateway.post(VIDEO_PATH, key, { model, content })
      const path = `${VIDEO_PATH}/${created.json.id}`
      const answer = await gateway.fetch(path, { method: 'DELETE', key })
      assert.equal(answer.status, 200, `${model}: ${await answer.text()}`)
      const shown = await gateway.get(path, key)
      assert.deepEqual([shown.json.status, shown.json.error.code], ['failed', 'cancelled'])
      assert.equal((await gateway.record(created, key)).charged, '0')
    }
  })

  test('more than five reference images cost extra', async () => {
    const images = Array.from({ length: 7 }, () => ({ ...image, role: 'reference_image' }))
    const content = [{ type: 'text', text: 'a river' }, ...images]
    const { created, key } = await run({ model: 't-MiniMax-H3', content })
    assert.equal((await gateway.record(created, key)).charged, '3.36')
  })

  test('input video is billed by the vendor and covered by the hold', async () => {
    const video = { type: 'video_url', video_url: { url: 'https://media.example/v.mp4' } }
    const content = [{ type: 'text', text: 'a river' }, video]
    for (const model of ['t-doubao-seedance-2-0-260128', 't-MiniMax-H3', 't-wan3.0-video']) {
      const { created, done, key } = await run({ model, content })
      assert.equal(done.json.status, 'succeeded', done.text)
      const record = await gateway.record(created, key)
      assert.equal(record.review, false)
      assert.ok(Number(record.charged) <= Number(record.held), model)
    }
  })

  test('refused with 400, by our rules before any charge', async () => {
    const { key } = await gateway.tenant()
    const model = 't-MiniMax-H3'
    const content = [{ type: 'text', text: 'a river' }]
    for (const change of [
      { resolution: '1080p' },
      { duration: 3 },
      { duration: -1 },
      { content: [{ type: 'text', text: 'x'.repeat(7001) }] },
      { service_tier: 'flex' },
    ]) {
      const answer = await gateway.post(VIDEO_PATH, key, { model, content, ...change })
      assert.equal(answer.status, 400, JSON.stringify(change).slice(0, 60))
    }
    assert.deepEqual((await gateway.get('/v1/usage', key)).json.data, [])
  })
})
