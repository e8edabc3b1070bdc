// The book against what honest clients were told: every unit once, whatever the vendor.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chat, dataLines, type Json, KEYS, simulated } from './support.ts'

const sim = simulated()

interface Told {
  marker: string
  input: number
  output: number
}

type Call = (marker: string, tokens: number) => Promise<Told>

const figures = (marker: string, usage: Json | undefined, names: [string, string]): Told => {
  return { marker, input: Number(usage?.[names[0]]), output: Number(usage?.[names[1]]) }
}

const prompt = (marker: string, tokens: number) =>
  `[[call:${marker}]][[tokens:${tokens}]] ${'x'.repeat(tokens)}`

const CALLS: Call[] = [
  async (marker, tokens) => {
    const body = chat(prompt(marker, tokens))
    const { json } = await sim.post('/openai/v1/chat/completions', KEYS.openai, body)
    return figures(marker, json.usage, ['prompt_tokens', 'completion_tokens'])
  },
  async (marker, tokens) => {
    const options = { stream: true, stream_options: { include_usage: true } }
    const body = chat(prompt(marker, tokens), options)
    const { text } = await sim.post('/openai/v1/chat/completions', KEYS.openai, body)
    const usage = dataLines(text).at(-1)?.usage
    return figures(marker, usage, ['prompt_tokens', 'completion_tokens'])
  },
  async (marker, tokens) => {
    const messages = [{ role: 'user', content: prompt(marker, tokens) }]
    const body = { model: 'sim-claude', max_tokens: 9999, stream: true, messages }
    const { text } = await sim.post('/anthropic/v1/messages', KEYS.anthropic, body)
    const usage = dataLines(text).findLast((event) => event.usage)?.usage
    return figures(marker, usage, ['input_tokens', 'output_tokens'])
  },
  async (marker, tokens) => {
    const body = { model: 'sim-ark-chat', input: prompt(marker, tokens), stream: true }
    const { text } = await sim.post('/ark/api/v3/responses', KEYS.ark, body)
    const usage = dataLines(text).at(-1)?.response?.usage
    return figures(marker, usage, ['input_tokens', 'output_tokens'])
  },
]

test('300 concurrent calls of four kinds: each is booked once, with what its client got', async () => {
  await sim.get('/sim/book', {}, 'DELETE')
  const told = await Promise.all(
    Array.from({ length: 300 }, (_, index) => {
      const call = CALLS[index % CALLS.length] as Call
      return call(`m${index}`, 1 + ((index * 7) % 90))
    }),
  )
  await sim.running.book.settled()
  assert.equal(sim.running.book.entries().length, told.length)
  for (const { marker, input, output } of told) {
    const [entry, second] = sim.running.book.entries({ marker })
    assert.equal(second, undefined)
    assert.equal(entry?.units.input_token, input, marker)
    assert.equal(entry?.units.output_token, output, marker)
  }
  const sum = (key: 'input' | 'output') => told.reduce((total, one) => total + one[key], 0)
  const total = (unit: string) =>
    sim.running.book.totals().reduce((all, one) => all + (one.units[unit] ?? 0), 0)
  assert.equal(total('input_token'), sum('input'))
  assert.equal(total('output_token'), sum('output'))
})

test('a stream is in the book before its last event is out', async () => {
  const response = await fetch(`${sim.url}/openai/v1/chat/completions`, {
    method: 'POST',
    headers: KEYS.openai,
    body: JSON.stringify(chat('[[call:early]][[tokens:30]]', { stream: true })),
  })
  const reader = response.body?.getReader()
  let text = ''
  while (!text.includes('"finish_reason":"stop"')) {
    const { value, done } = (await reader?.read()) ?? { done: true }
    assert.ok(!done)
    text += Buffer.from(value ?? []).toString()
  }
  assert.equal(sim.running.book.entries({ marker: 'early' }).length, 1)
  await reader?.cancel()
})

test('refused calls are in the book as not billed, free calls are not in it', async () => {
  await sim.get('/sim/book', {}, 'DELETE')
  await sim.post('/openai/v1/chat/completions', KEYS.openai, { model: 'sim-chat' })
  await sim.get('/openai/v1/models', KEYS.openai)
  const entries = sim.running.book.entries()
  assert.equal(entries.length, 1)
  assert.equal(entries[0]?.billed, false)
  assert.deepEqual(entries[0]?.units, {})
})
