import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI from 'openai'
import { KEYS, simulated } from '../support.ts'

const sim = simulated()
const PATH = '/openai/v1/moderations'
const IMAGE = { type: 'image_url', image_url: { url: 'https://media.example/image.png' } }

test('the SDK reads a result for each text, and one for all parts', async () => {
  const client = new OpenAI({ apiKey: 'sim-openai-key', baseURL: `${sim.url}/openai/v1` })
  const texts = await client.moderations.create({ input: ['a river', 'hate'] })
  assert.deepEqual(
    texts.results.map(({ flagged }) => flagged),
    [false, true],
  )
  const text = { type: 'text' as const, text: 'hate' }
  const parts = await client.moderations.create({
    input: [text, { type: 'image_url', image_url: { url: IMAGE.image_url.url } }],
  })
  assert.deepEqual(
    parts.results.map(({ categories }) => categories.hate),
    [true],
  )
})

test('one model states its tokens; bad input is refused', async () => {
  const model = 'sim-moderation-tokens'
  const stated = await sim.post(PATH, KEYS.openai, { model, input: 'a river' })
  assert.equal(stated.json.usage?.prompt_tokens, stated.json.usage?.total_tokens)
  const free = await sim.post(PATH, KEYS.openai, { input: 'a river' })
  assert.equal(free.json.usage, undefined)
  for (const input of [undefined, [], 7, [{}], [IMAGE, 'text'], [{ type: 'audio' }]]) {
    const refused = await sim.post(PATH, KEYS.openai, { model, input })
    assert.equal(refused.status, 400, JSON.stringify(input))
  }
  const unknown = await sim.post(PATH, KEYS.openai, { model, input: 'a', user: 'u' })
  assert.equal(unknown.status, 400)
})
