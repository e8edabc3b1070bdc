import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dataLines, type Json, KEYS, list, simulated } from '../support.ts'

const ARK = '/ark/api/v3/images/generations'
const OPENAI = '/openai/v1/images/generations'
const sim = simulated()
const picture = (prompt: string, more: object = {}) => {
  return { model: 'doubao-seedream-4-5-251128', prompt, ...more }
}
const last = () => sim.running.book.entries().at(-1)

/** Width and height as the PNG itself says. */
function sizeOf(bytes: Buffer): [number, number] {
  assert.equal(bytes.toString('latin1', 1, 4), 'PNG')
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
}

const bytesOf = (entry: Json | undefined) => Buffer.from(String(entry?.b64_json), 'base64')

test('ARK: an address of a PNG of the requested size, billed by the picture', async () => {
  const { json } = await sim.post(ARK, KEYS.ark, picture('a cat [[call:i-1]]'))
  assert.deepEqual(json.usage, { generated_images: 1, output_tokens: 16384, total_tokens: 16384 })
  const [first] = list(json.data)
  const fetched = await fetch(String(first?.url))
  assert.equal(fetched.headers.get('content-type'), 'image/png')
  assert.deepEqual(sizeOf(Buffer.from(await fetched.arrayBuffer())), [2048, 2048])
  assert.deepEqual(sim.running.book.entries({ marker: 'i-1' })[0]?.units, { image: 1 })
})

test('ARK: several pictures, some of them refused, as one body and as events', async () => {
  const several = {
    sequential_image_generation: 'auto',
    sequential_image_generation_options: { max_images: 3 },
    size: '2560x1440',
  }
  const prompt = 'x [[fault:fail-images=1]]'
  const { json } = await sim.post(ARK, KEYS.ark, picture(prompt, several))
  assert.deepEqual(
    list(json.data).map((entry) => entry.error?.code ?? entry.size),
    ['2560x1440', '2560x1440', 'OutputImageSensitiveContentDetected'],
  )
  assert.deepEqual(last()?.units, { image: 2 })
  const streamed = await sim.post(ARK, KEYS.ark, picture(prompt, { ...several, stream: true }))
  assert.deepEqual(
    dataLines(streamed.text).map((event) => event.type),
    [
      'image_generation.partial_succeeded',
      'image_generation.partial_succeeded',
      'image_generation.partial_failed',
      'image_generation.completed',
    ],
  )
  assert.ok(streamed.text.endsWith('data: [DONE]\n\n'))
})

describe('ARK refuses', () => {
  const old = { model: 'doubao-seedream-3-0-t2i-250415' }
  const cases: [string, object, string][] = [
    ['no prompt', { prompt: undefined }, 'MissingParameter.prompt'],
    ['an unknown model', { model: 'x' }, 'InvalidEndpointOrModel.NotFound'],
    ['a small size', { size: '1024x1024' }, 'InvalidParameter'],
    ['a narrow size', { size: '9000x500' }, 'InvalidParameter'],
    ['a seed', { seed: 1 }, 'InvalidParameter.UnsupportedParameter'],
    ['15 images', { image: Array(15).fill('https://a.example/i.png') }, 'InvalidParameter'],
    ['an image on 3.0', { ...old, image: 'https://a' }, 'InvalidParameter.UnsupportedParameter'],
    ['all refused', { prompt: '[[fault:fail-images=1]]' }, 'OutputImageSensitiveContentDetected'],
    ['moderation', { prompt: '[[fault:moderation]]' }, 'InputTextSensitiveContentDetected'],
  ]
  for (const [name, more, code] of cases) {
    test(name, async () => {
      const { json } = await sim.post(ARK, KEYS.ark, picture('x', more))
      assert.equal(json.error?.code, code)
      assert.equal(last()?.billed, false)
    })
  }
})

test('OpenAI: base64 and tokens', async () => {
  const body = { model: 'sim-image', prompt: 'a cat', size: '1536x1024', quality: 'high', n: 2 }
  const { json } = await sim.post(OPENAI, KEYS.openai, body)
  const [first] = list(json.data)
  assert.deepEqual(sizeOf(bytesOf(first)), [1536, 1024])
  assert.equal(json.usage?.output_tokens, 2 * 6208)
  assert.deepEqual(last()?.units, { input_token: 2, image_output_token: 2 * 6208 })
  const streamed = await sim.post(OPENAI, KEYS.openai, { ...body, n: 1, stream: true })
  const [event] = dataLines(streamed.text)
  assert.equal(event?.type, 'image_generation.completed')
  assert.deepEqual(sizeOf(bytesOf(event)), [1536, 1024])
})

test('OpenAI: an address without usage for the older models', async () => {
  const body = { model: 'sim-dall-e', prompt: 'a cat', size: '512x512' }
  const { json } = await sim.post(OPENAI, KEYS.openai, body)
  const fetched = await fetch(String(list(json.data)[0]?.url))
  assert.deepEqual(sizeOf(Buffer.from(await fetched.arrayBuffer())), [512, 512])
  assert.equal('usage' in json, false)
  assert.deepEqual(last()?.units, { image: 1 })
})

test('OpenAI refuses unknown fields, sizes, and response_format where it has no meaning', async () => {
  for (const more of [{ foo: 1 }, { size: '1x1' }, { n: 11 }, { response_format: 'url' }]) {
    const body = { model: 'sim-image', prompt: 'x', ...more }
    assert.equal((await sim.post(OPENAI, KEYS.openai, body)).status, 400)
  }
})
