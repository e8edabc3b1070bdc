import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI from 'openai'
import { KEYS, simulated } from '../support.ts'

const sim = simulated()
const client = () => new OpenAI({ apiKey: 'sim-openai-key', baseURL: `${sim.url}/openai/v1` })
const PATH = '/openai/v1/embeddings'

test('the SDK reads base64 vectors of length one, the same for the same text', async () => {
  const answer = await client().embeddings.create({
    model: 'sim-embedding',
    input: ['river', 'stream', 'river'],
    dimensions: 16,
  })
  const [first, second, third] = answer.data.map((entry) => [...entry.embedding])
  assert.equal(first?.length, 16)
  assert.ok(Math.abs(Math.hypot(...(first ?? [])) - 1) < 1e-5)
  assert.deepEqual(first, third)
  assert.notDeepEqual(first, second)
  assert.equal(answer.usage.prompt_tokens, 6)
})

test('floats are the same as base64', async () => {
  const body = { model: 'sim-embedding', input: 'river', dimensions: 4 }
  const floats = await sim.post(PATH, KEYS.openai, { ...body, encoding_format: 'float' })
  const packed = await sim.post(PATH, KEYS.openai, { ...body, encoding_format: 'base64' })
  const bytes = Buffer.from(String(packed.json.data?.[0]?.embedding), 'base64')
  const read = [0, 1, 2, 3].map((index) => bytes.readFloatLE(index * 4))
  assert.deepEqual(read, floats.json.data?.[0]?.embedding)
})

test('token arrays count as their length; bad input is refused', async () => {
  const model = 'sim-embedding'
  const tokens = await sim.post(PATH, KEYS.openai, { model, input: [[1, 2, 3], [4]] })
  assert.equal(tokens.json.usage?.prompt_tokens, 4)
  for (const input of [[], '', [''], [{}], 5.5]) {
    const refused = await sim.post(PATH, KEYS.openai, { model, input })
    assert.equal(refused.status, 400, JSON.stringify(input))
  }
})

test('models are listed and found; others are not', async () => {
  const list = await client().models.list()
  assert.ok(list.data.some((model) => model.id === 'sim-chat'))
  assert.equal((await client().models.retrieve('sim-anything')).id, 'sim-anything')
  await assert.rejects(client().models.retrieve('gpt-none'), OpenAI.NotFoundError)
})
