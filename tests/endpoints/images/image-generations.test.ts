/** POST /v1/images/generations, black box and through OpenAI's own SDK. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import OpenAI from 'openai'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { testCommonStatuses } from '../common-statuses.ts'

const PATH = '/v1/images/generations'
const PIECE = 'sim-dall-e'
const TOKENS = 'sim-image'
const SEEDREAM = 'doubao-seedream-4-5-251128'
const SIZE = '2048x2048'

let gateway: TestGateway
before(async () => {
  gateway = await startTestGateway()
  await gateway.apply({
    channels: [
      {
        id: 'a',
        upstream: 'ark',
        settings: { base_url: `${gateway.simulators.url}/ark/api/v3`, api_key: 'sim-ark-key' },
      },
      {
        id: 'o',
        upstream: 'openai-compatible',
        settings: { base_url: `${gateway.simulators.url}/openai/v1`, api_key: 'sim-openai-key' },
      },
    ],
    models: [
      {
        id: 'by-quality',
        type: 'image',
        prices: [
          { unit: 'image', amount: '0.12', when: { quality: 'hd', size: '1792x1024' } },
          { unit: 'image', amount: '0.08', when: { quality: 'hd' } },
          { unit: 'image', amount: '0.04' },
        ],
        routes: [{ channel: 'o', upstream_model: 'sim-dall-e' }],
      },
      {
        id: 'chosen-quality',
        type: 'image',
        prices: [
          { unit: 'image', amount: '0.9', when: { quality: 'high' } },
          { unit: 'image', amount: '0.3', when: { quality: 'medium' } },
          { unit: 'image', amount: '0.1' },
        ],
        routes: [{ channel: 'o', upstream_model: 'sim-image' }],
      },
      {
        id: 'seedream-by-token',
        type: 'image',
        prices: [{ unit: 'output_token', per: 1_000_000, amount: '10' }],
        routes: [{ channel: 'a', upstream_model: SEEDREAM }],
      },
      {
        id: 'by-call',
        type: 'image',
        prices: [{ unit: 'call', amount: '0.3' }],
        routes: [{ channel: 'o', upstream_model: 'sim-dall-e' }],
      },
      {
        id: 'seedream-3',
        type: 'image',
        prices: [{ unit: 'image', amount: '0.2' }],
        routes: [{ channel: 'a', upstream_model: 'doubao-seedream-3-0-t2i-250415' }],
      },
      {
        id: 'free-image',
        type: 'image',
        free: true,
        routes: [{ channel: 'a', upstream_model: SEEDREAM }],
      },
    ],
  })
})
after(() => gateway.stop())

async function ask(body: object, key?: string) {
  const caller = key ?? (await gateway.tenant()).key
  const answer = await gateway.post(PATH, caller, { prompt: 'a river', ...body })
  return { answer, key: caller }
}

async function charged(body: object) {
  const { answer, key } = await ask(body)
  assert.equal(answer.status, 200, answer.text.slice(0, 300))
  return { answer, record: await gateway.record(answer, key) }
}

describe('by the image', () => {
  test('OpenAI’s form: urls, charged for n', async () => {
    const { answer, record } = await charged({ model: PIECE, n: 2, size: '512x512' })
    assert.equal(answer.json.data.length, 2)
    assert.match(answer.json.data[0].url, /^http/)
    assert.equal(typeof answer.json.created, 'number')
    assert.deepEqual([record.basis, record.held, record.charged], ['usage', '0.08', '0.08'])
    assert.deepEqual(
      record.lines.map(({ unit, quantity }) => [unit, quantity]),
      [['image', 2]],
    )
  })

  test('conditions of size and quality', async () => {
    const by = async (body: object) => (await charged({ model: 'by-quality', ...body })).record
    assert.equal((await by({})).charged, '0.04')
    assert.equal((await by({})).held, '0.12', 'the dearest while the quality is not known')
    assert.equal((await by({ quality: 'standard', size: '1024x1024' })).held, '0.04')
    assert.equal((await by({ quality: 'hd', n: 2 })).charged, '0.16')
    assert.equal((await by({ quality: 'hd', size: '1792x1024' })).charged, '0.12')
  })

  test('other words for what a price depends on are refused, not passed unread', async () => {
    const others = [
      { image_size: '1792x1024' },
      { width: 1792, height: 1024 },
      { resolution: '4K' },
      { aspectRatio: '16:9' },
      { parameters: { size: '1792*1024' } },
      { extra: [{ image_config: { imageSize: '4K' } }] },
      { image_quality: 'hd' },
      { mp: 4 },
      { parameters: { long_side: 2048 } },
      { sizes: ['1792x1024'] },
    ]
    for (const other of others) {
      const { answer } = await ask({ model: 'by-quality', size: '1024x1024', ...other })
      assert.equal(answer.status, 400, JSON.stringify(other))
      assert.match(answer.json.error.message, /depends on its (?:size|quality)/)
    }
    const free = { sequential_image_generation: 'disabled', size: 'auto' }
    assert.equal((await ask({ model: SEEDREAM, ...free })).answer.status, 200)
  })

  test('a value that a price depends on is one that prices can read', async () => {
    const written = [
      { size: '１７９２x１０２４' },
      { size: '1792, 1024' },
      { size: '1792\u200bx1024' },
      { quality: 'ｈｄ' },
      { quality: 'hd\u0000' },
    ]
    for (const one of written) {
      const { answer } = await ask({ model: 'by-quality', size: '1024x1024', ...one })
      assert.equal(answer.status, 400, JSON.stringify(one))
      assert.match(answer.json.error.message, /plain word, number or size.*the price depends on it/)
      assert.equal(answer.json.error.param, Object.keys(one)[0])
    }
    const { record } = await charged({ model: 'by-quality', quality: 'hd', size: '1792x1024' })
    assert.equal(record.charged, '0.12')
    assert.equal((await ask({ model: 'by-call', style: 'ｖｉｖｉｄ' })).answer.status, 200)
    const other = { max_images: 1, MAX_IMAGES: 9 }
    const sequence = { sequential_image_generation_options: other }
    const { answer } = await ask({ model: 'by-call', ...sequence })
    assert.equal(answer.json.error.param, 'sequential_image_generation_options.MAX_IMAGES')
  })

  test('tools of the vendor’s, which have a fee, are refused without a price', async () => {
    for (const tools of [[{ type: 'web_search' }], [{ type: 'other' }], { type: 'web_search' }]) {
      const { answer } = await ask({ model: 'by-quality', tools })
      assert.equal(answer.status, 400, answer.text)
      assert.equal(answer.json.error.code, 'not_priced')
    }
    const many = Array.from({ length: 129 }, () => ({ type: 'web_search' }))
    const { answer: most } = await ask({ model: 'by-quality', tools: many })
    assert.match(most.text, /at most 128 hosted tools/)
    const { answer: none } = await ask({ model: 'by-quality', tools: [] })
    assert.notEqual(none.json.error?.code, 'not_priced', 'no tool has no fee')
  })

  test('a size chosen by the model is charged as chosen', async () => {
    const { answer, record } = await charged({ model: 'chosen-quality', quality: 'auto' })
    assert.equal(answer.json.quality, 'medium')
    assert.deepEqual([record.held, record.charged], ['0.9', '0.3'])
  })

  test('a sequence is held at its maximum and charged for the delivered images', async () => {
    const { answer, record } = await charged({
      model: SEEDREAM,
      size: SIZE,
      sequential_image_generation: 'auto',
      prompt: 'a river [[fault:fail-images=1]]',
    })
    assert.equal(answer.json.data.length, 3)
    assert.equal(answer.json.usage.generated_images, 2)
    assert.deepEqual([record.held, record.charged], ['3.75', '0.5'])
  })

  test('max_images bounds the hold', async () => {
    const { record } = await charged({
      model: SEEDREAM,
      size: SIZE,
      sequential_image_generation: 'auto',
      sequential_image_generation_options: { max_images: 4 },
    })
    assert.deepEqual([record.held, record.charged], ['1', '1'])
  })

  test('n reaches a vendor that has no n, and size auto is its default', async () => {
    const { answer, record } = await charged({ model: SEEDREAM, n: 2, size: 'auto' })
    assert.equal(answer.json.data.length, 2)
    assert.equal(record.charged, '0.5')
  })

  test('n for a model with one image per call: 400, nothing charged', async () => {
    const { answer, key } = await ask({ model: 'seedream-3', n: 2 })
    assert.equal(answer.status, 400)
    assert.equal(answer.json.error.param, 'n')
    assert.equal((await gateway.record(answer, key)).charged, '0')
    assert.equal((await ask({ model: 'seedream-3', n: 1 })).answer.status, 200)
  })

  test('b64_json is passed on', async () => {
    for (const model of [PIECE, SEEDREAM]) {
      const { answer } = await charged({ model, response_format: 'b64_json' })
      const png = Buffer.from(answer.json.data[0].b64_json, 'base64')
      assert.equal(png.toString('latin1', 1, 4), 'PNG')
    }
  })

  test('by the call, for any number of images', async () => {
    const { record } = await charged({ model: 'by-call', n: 2 })
    assert.deepEqual([record.basis, record.held, record.charged], ['usage', '0.3', '0.3'])
  })

  test('a free model: nothing is charged, the record shows the images', async () => {
    const { record } = await charged({ model: 'free-image', size: SIZE })
    assert.deepEqual([record.basis, record.charged], ['usage', '0'])
    assert.ok(record.lines.some(({ unit, quantity }) => unit === 'image' && quantity === 1))
  })
})

describe('by the token', () => {
  test('the usage of the answer', async () => {
    const { answer, record } = await charged({ model: TOKENS, quality: 'high', n: 2 })
    const { usage } = answer.json
    assert.equal(record.basis, 'usage')
    const quantities = Object.fromEntries(record.lines.map((one) => [one.unit, one.quantity]))
    assert.equal(quantities.input_token, usage.input_tokens)
    assert.equal(quantities.image_output_token, usage.output_tokens)
    assert.ok(Number(record.charged) <= Number(record.held))
  })

  test('without usage, an estimate', async () => {
    const { record } = await charged({
      model: TOKENS,
      size: '1024x1024',
      prompt: 'a river [[fault:usage=absent]]',
    })
    assert.equal(record.basis, 'estimate')
    assert.equal(record.charged, record.held)
  })

  test('negative usage counts as not stated and is estimated, within the hold', async () => {
    const { record } = await charged({
      model: TOKENS,
      prompt: 'a river [[fault:usage=negative]]',
    })
    assert.deepEqual([record.basis, record.charged], ['estimate', record.held])
  })

  test('tokens of a vendor that counts pixels', async () => {
    const { record } = await charged({ model: 'seedream-by-token', size: SIZE })
    assert.deepEqual([record.held, record.charged], ['0.16384', '0.16384'])
  })
})

test('400: fields of a wrong shape', async () => {
  const { key } = await gateway.tenant()
  for (const [field, value] of Object.entries({
    prompt: '',
    n: 0,
    size: 7,
    quality: {},
    stream: 'yes',
    response_format: 'jpeg',
    partial_images: 9,
    sequential_image_generation: 'on',
  })) {
    const { answer } = await ask({ model: PIECE, [field]: value }, key)
    assert.equal(answer.status, 400, field)
    assert.equal(answer.json.error.param, field)
  }
  const { answer } = await ask({ model: PIECE, n: 99 }, key)
  assert.equal(answer.status, 400)
})

test('400 with the vendor’s message: moderation, and an unknown field', async () => {
  const { answer } = await ask({ model: SEEDREAM, prompt: 'x [[fault:moderation]]' })
  assert.equal(answer.status, 400)
  assert.match(answer.json.error.message, /sensitive/i)
  const unknown = await ask({ model: TOKENS, response_format: 'url' })
  assert.equal(unknown.answer.status, 400)
  assert.match(unknown.answer.json.error.message, /response_format/)
})

describe('the SDK', () => {
  const client = async () => {
    const { key } = await gateway.tenant()
    return new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  }

  test('images.generate', async () => {
    const openai = await client()
    const images = await openai.images.generate({
      model: TOKENS,
      prompt: 'a river',
      quality: 'low',
    })
    assert.ok(images.data?.[0]?.b64_json)
    assert.equal(images.usage?.output_tokens, 272)
  })

  for (const model of [TOKENS, SEEDREAM]) {
    test(`images.generate as a stream from ${model}`, async () => {
      const openai = await client()
      const stream = await openai.images.generate({ model, prompt: 'a river', stream: true })
      const types: string[] = []
      for await (const event of stream) types.push(event.type)
      assert.equal(types.at(-1), 'image_generation.completed')
      const { data } = (await (
        await fetch(`${gateway.url}/v1/usage?limit=1`, {
          headers: { authorization: `Bearer ${openai.apiKey}` },
        })
      ).json()) as { data: { basis: string; charged: string; status: string }[] }
      assert.equal(data[0]?.status, 'succeeded')
      assert.equal(data[0]?.basis, 'usage')
      assert.notEqual(data[0]?.charged, '0')
    })
  }

  test('a model that cannot stream answers with its document', async () => {
    const { answer } = await ask({ model: PIECE, stream: true })
    assert.equal(answer.status, 200)
    assert.match(answer.headers.get('content-type') ?? '', /json/)
    assert.ok(answer.json.data[0].url)
  })

  test('its error classes', async () => {
    const openai = await client()
    const request = openai.images.generate({ model: PIECE, prompt: 'x', size: '3x3' as 'auto' })
    await assert.rejects(request, OpenAI.BadRequestError)
    const wrong = new OpenAI({ apiKey: 'nonsense', baseURL: `${gateway.url}/v1`, maxRetries: 0 })
    const refused = wrong.images.generate({ model: PIECE, prompt: 'x' })
    await assert.rejects(refused, OpenAI.AuthenticationError)
  })
})

testCommonStatuses(() => gateway, {
  path: PATH,
  body: { model: PIECE, prompt: 'a river' },
  model: PIECE,
  envelope: 'nested',
  withWords: (words) => ({ model: PIECE, prompt: words }),
  withModel: (model) => ({ path: PATH, body: { model, prompt: 'a river' } }),
})
