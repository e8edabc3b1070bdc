import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import OpenAI from 'openai'
import { chat, dataLines, KEYS, simulated } from '../support.ts'

const sim = simulated()
const PATH = '/openai/v1/chat/completions'
const client = () => new OpenAI({ apiKey: 'sim-openai-key', baseURL: `${sim.url}/openai/v1` })
const weather = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: {} } },
} as const

describe('chat completions with the real SDK', () => {
  test('a whole answer has text, a finish reason and exact usage', async () => {
    const answer = await client().chat.completions.create({
      model: 'sim-chat',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Wie geht es dir, Öl?' },
      ],
    })
    assert.match(answer.choices[0]?.message.content ?? '', /Wie geht es dir, Öl\?/)
    assert.equal(answer.choices[0]?.finish_reason, 'stop')
    const input = Math.ceil(Buffer.byteLength('Be brief.Wie geht es dir, Öl?') / 4)
    const output = Math.ceil(Buffer.byteLength(answer.choices[0]?.message.content ?? '') / 4)
    assert.equal(answer.usage?.prompt_tokens, input)
    assert.equal(answer.usage?.completion_tokens, output)
    assert.equal(answer.usage?.total_tokens, input + output)
  })

  test('a stream joins to the same text and ends with usage', async () => {
    const stream = client().chat.completions.stream({
      model: 'sim-chat',
      messages: [{ role: 'user', content: '[[say:Grüße 你好]][[chunks:4]]' }],
      stream_options: { include_usage: true },
    })
    const final = await stream.finalChatCompletion()
    assert.equal(final.choices[0]?.message.content, 'Grüße 你好')
    assert.equal(final.usage?.completion_tokens, Math.ceil(Buffer.byteLength('Grüße 你好') / 4))
  })

  test('parallel tool calls, then a text that quotes their results', async () => {
    const question = {
      role: 'user',
      content: '[[tool:weather {"city":"a]]b"}]] [[tool:weather {"city":"Bern"}]]',
    } as const
    const first = await client()
      .chat.completions.stream({ model: 'sim-chat', messages: [question], tools: [weather] })
      .finalChatCompletion()
    const calls = first.choices[0]?.message.tool_calls ?? []
    assert.deepEqual(
      calls.map((call) => call.type === 'function' && call.function.arguments),
      ['{"city":"a]]b"}', '{"city":"Bern"}'],
    )
    assert.equal(first.choices[0]?.finish_reason, 'tool_calls')
    const second = await client().chat.completions.create({
      model: 'sim-chat',
      tools: [weather],
      messages: [
        question,
        { role: 'assistant', content: null, tool_calls: calls },
        { role: 'tool', tool_call_id: calls[0]?.id ?? '', content: 'sunny' },
        { role: 'tool', tool_call_id: calls[1]?.id ?? '', content: 'rain' },
      ],
    })
    assert.equal(second.choices[0]?.message.content, 'Tool result 1: sunny\nTool result 2: rain')
  })

  for (const stream of [false, true]) {
    test(`functions are answered by one function_call, ${stream ? 'streaming' : 'whole'}`, async () => {
      const question = {
        role: 'user' as const,
        content: '[[tool:weather {"a":1}]] [[tool:weather]]',
      }
      const functions = [{ name: 'weather', parameters: { type: 'object', properties: {} } }]
      const request = { model: 'sim-chat', functions, messages: [question] }
      const { completions } = client().chat
      const answer = stream
        ? await completions.stream(request).finalChatCompletion()
        : await completions.create(request)
      const [choice] = answer.choices
      assert.equal(choice?.finish_reason, 'function_call')
      assert.equal(choice?.message.tool_calls, undefined)
      assert.deepEqual(choice?.message.function_call, { name: 'weather', arguments: '{"a":1}' })
    })
  }

  test('errors reach the SDK as its own classes', async () => {
    const badKey = new OpenAI({ apiKey: 'nope', baseURL: `${sim.url}/openai/v1`, maxRetries: 0 })
    await assert.rejects(badKey.models.list(), OpenAI.AuthenticationError)
    const limited = client().chat.completions.create(
      { model: 'sim-chat', messages: [{ role: 'user', content: '[[fault:status=429]]' }] },
      { maxRetries: 0 },
    )
    await assert.rejects(limited, OpenAI.RateLimitError)
    const unknown = client().chat.completions.create({ model: 'gpt-none', messages: [] })
    await assert.rejects(unknown, OpenAI.BadRequestError)
  })
})

describe('chat completions on the wire', () => {
  test('usage comes only on request, and then other chunks say null', async () => {
    const plain = await sim.post(PATH, KEYS.openai, chat('hi', { stream: true }))
    assert.ok(dataLines(plain.text).every((chunk) => !('usage' in chunk)))
    const options = { stream: true, stream_options: { include_usage: true } }
    const asked = await sim.post(PATH, KEYS.openai, chat('hi', options))
    const chunks = dataLines(asked.text)
    assert.deepEqual(chunks.at(-1)?.choices, [])
    assert.ok(chunks.slice(0, -1).every((chunk) => chunk.usage === null))
    assert.ok(asked.text.endsWith('data: [DONE]\n\n'))
  })

  test('[[tokens]], max_tokens and stop shape the answer', async () => {
    const long = await sim.post(PATH, KEYS.openai, chat('[[tokens:50]]'))
    assert.equal(long.json.usage?.completion_tokens, 50)
    const cut = await sim.post(PATH, KEYS.openai, chat('[[tokens:50]]', { max_tokens: 7 }))
    assert.equal(cut.json.usage?.completion_tokens, 7)
    assert.equal(cut.json.choices?.[0]?.finish_reason, 'length')
    const stopped = await sim.post(PATH, KEYS.openai, chat('[[say:one END two]]', { stop: 'END' }))
    assert.equal(stopped.json.choices?.[0]?.message?.content, 'one ')
  })

  test('cached tokens are part of the prompt and their own line in the book', async () => {
    const marker = 'cached-1'
    const sent = `[[cached:3]] [[call:${marker}]] ${'x'.repeat(40)}`
    const { json } = await sim.post(PATH, KEYS.openai, chat(sent))
    assert.equal(json.usage?.prompt_tokens_details?.cached_tokens, 3)
    const [entry] = sim.running.book.entries({ marker })
    assert.equal(entry?.units.cached_input_token, 3)
    assert.equal(entry?.units.input_token, Number(json.usage?.prompt_tokens) - 3)
  })

  const refusals: [string, unknown, RegExp][] = [
    ['unknown field', chat('hi', { shoe_size: 43 }), /Unrecognized request argument.*shoe_size/],
    ['no model', { messages: [{ role: 'user', content: 'x' }] }, /you must provide a model/],
    ['no messages', { model: 'sim-chat' }, /Missing required parameter: 'messages'/],
    ['empty tools', chat('x', { tools: [] }), /Invalid 'tools': empty array/],
    ['tool_choice alone', chat('x', { tool_choice: 'auto' }), /only allowed when 'tools'/],
    ['function_call alone', chat('x', { function_call: 'auto' }), /only allowed when 'functions'/],
    ['empty functions', chat('x', { functions: [] }), /Invalid 'functions': empty array/],
    [
      'a function result without a name',
      { model: 'sim-chat', messages: [{ role: 'function', content: 'rain' }] },
      /Missing required parameter: 'messages\[0\].name'/,
    ],
    ['five stops', chat('x', { stop: ['a', 'b', 'c', 'd', 'e'] }), /array too long/],
    ['both limits', chat('x', { max_tokens: 1, max_completion_tokens: 1 }), /at the same time/],
    ['long user', chat('x', { user: 'u'.repeat(65) }), /string too long/],
    ['stream_options alone', chat('x', { stream_options: {} }), /only allowed when 'stream'/],
    ['null content', { model: 'sim-chat', messages: [{ role: 'user', content: null }] }, /null/],
    [
      'a tool message without its call',
      { model: 'sim-chat', messages: [{ role: 'tool', tool_call_id: 'a', content: '' }] },
      /must be a response to a preceeding message/,
    ],
    ['reasoner', { ...chat('x', { max_tokens: 5 }), model: 'sim-reasoner' }, /max_completion_tok/],
  ]
  for (const [name, body, expected] of refusals) {
    test(`refused with 400: ${name}`, async () => {
      const { status, json } = await sim.post(PATH, KEYS.openai, body)
      assert.equal(status, 400)
      assert.match(String(json.error?.message), expected)
      assert.deepEqual(Object.keys(json.error ?? {}), ['message', 'type', 'param', 'code'])
    })
  }

  test('an unanswered tool call is refused with the ids', async () => {
    const calls = [{ id: 'call_z', type: 'function', function: { name: 'f', arguments: '{}' } }]
    const messages = [
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'user', content: 'well?' },
    ]
    const { status, json } = await sim.post(PATH, KEYS.openai, { model: 'sim-chat', messages })
    assert.equal(status, 400)
    assert.match(String(json.error?.message), /did not have response messages: call_z/)
  })
})
