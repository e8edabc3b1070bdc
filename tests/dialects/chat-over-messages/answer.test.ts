import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createChatBody,
  createChatStream,
} from '../../../server/wire/dialects/chat-over-messages/writer.ts'
import { askOpenai } from '../chat/ask-openai.ts'
import { fixture, streamFixtures } from '../fixtures.ts'
import { chunkings, run } from '../replay.ts'

const OPTIONS = {
  id: 'chatcmpl-1',
  model: 'asked-model',
  created: 1780732857,
  includeUsage: true,
  inputTokensEstimate: 42,
}
const USAGE = {
  prompt_tokens: 97,
  completion_tokens: 18,
  total_tokens: 115,
  prompt_tokens_details: { cached_tokens: 80, cache_write_tokens: 5 },
}

function streamed(name: string, options = {}) {
  const relay = createChatStream({ ...OPTIONS, ...options })
  const out = run(relay, [fixture(`messages/${name}.sse`)])
  return { out, report: relay.report() }
}

/** The chunks of a stream that ended well, without `[DONE]`. */
function chunksOf(out: string) {
  const events = out.split('\n\n').filter(Boolean)
  assert.equal(events.pop(), 'data: [DONE]')
  return events.map((event) => JSON.parse(event.slice('data: '.length)))
}

describe('functions, the older form of tools', () => {
  const legacyFunctions = true

  test('a stream has one call as function_call, and its own finish reason', () => {
    const choices = chunksOf(streamed('tools', { legacyFunctions }).out).flatMap(
      (chunk) => chunk.choices,
    )
    assert.ok(choices.every(({ delta }) => delta.tool_calls === undefined))
    const calls = choices.flatMap(({ delta }) => delta.function_call ?? [])
    const [{ name }] = calls
    const others = calls.slice(1).filter((call) => call.name !== undefined)
    assert.deepEqual([typeof name, others], ['string', []])
    JSON.parse(calls.map((call) => call.arguments).join(''))
    assert.equal(choices.at(-1).finish_reason, 'function_call')
  })

  test('a body has one call as function_call', () => {
    const relay = createChatBody({ ...OPTIONS, legacyFunctions })
    const content = [
      { type: 'tool_use', id: 'toolu_1', name: 'first', input: { a: 1 } },
      { type: 'tool_use', id: 'toolu_2', name: 'second', input: {} },
    ]
    const message = { type: 'message', role: 'assistant', content, stop_reason: 'tool_use' }
    const out = run(relay, [Buffer.from(JSON.stringify(message))])
    const [choice] = JSON.parse(out).choices
    assert.equal(choice.finish_reason, 'function_call')
    assert.deepEqual(choice.message.function_call, { name: 'first', arguments: '{"a":1}' })
    assert.equal(choice.message.tool_calls, undefined)
  })
})

describe('stream', () => {
  test('role, text, reason, usage, [DONE], all of one completion', () => {
    const chunks = chunksOf(streamed('text').out)
    for (const { id, object, created, model } of chunks) {
      const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1780732857 }
      assert.deepEqual({ id, object, created, model }, { ...head, model: 'asked-model' })
    }
    const [first, ...rest] = chunks
    assert.deepEqual(first.choices[0].delta, { role: 'assistant', content: '' })
    const usage = rest.pop()
    assert.deepEqual(usage.choices, [])
    assert.deepEqual(usage.usage, USAGE)
    const last = rest.pop()
    assert.deepEqual(last.choices[0].delta, {})
    assert.equal(last.choices[0].finish_reason, 'stop')
    const text = rest.map((chunk) => chunk.choices[0].delta.content).join('')
    assert.equal(text, 'Hello, 世界 👋 "q"\n')
    for (const chunk of rest) assert.equal(chunk.choices[0].finish_reason, null)
  })

  test('a caller that did not ask for usage gets no usage chunk', () => {
    const { out, report } = streamed('text', { includeUsage: false })
    assert.ok(!out.includes('usage'))
    const usage = { input_token: 12, cached_input_token: 80, cache_write_5m_token: 5 }
    assert.deepEqual(report.usage, { ...usage, output_token: 18 })
    assert.equal(report.finished, true)
  })

  const lookup = { id: 'toolu_1', name: 'lookup', arguments: '{"q":1}' }
  const now = { id: 'toolu_2', name: 'now', arguments: '{}' }
  const answers: Record<string, object> = {
    text: { text: 'Hello, 世界 👋 "q"\n', calls: [], reason: 'stop' },
    crlf: { text: 'Hello, 世界 👋 "q"\n', calls: [], reason: 'stop' },
    tools: { text: 'Let me look.', calls: [lookup, now], reason: 'tool_calls' },
    thinking: { text: 'Yes', calls: [], reason: 'stop' },
    'unknown-events': { text: 'Hi', calls: [], reason: 'stop' },
    'no-event-lines': { text: 'Hi', calls: [], reason: 'stop' },
    'done-after': { text: 'Hi', calls: [], reason: 'stop' },
    'two-deltas': { text: 'Hi', calls: [], reason: 'stop' },
    'no-stop': { text: 'Hi', calls: [], reason: 'stop' },
    'input-in-start': { text: '', calls: [lookup], reason: 'tool_calls' },
    'stop-sequence': { text: 'A', calls: [], reason: 'stop' },
    'server-tool': { text: 'Found', calls: [], reason: 'stop' },
    empty: { text: '', calls: [], reason: 'stop' },
  }
  for (const [name, expected] of Object.entries(answers)) {
    test(`${name}, as the openai package reads it`, async () => {
      assert.deepEqual(await askOpenai(streamed(name).out), expected)
    })
  }

  test('thinking is reasoning_content', () => {
    const deltas = chunksOf(streamed('thinking').out).flatMap(({ choices }) => choices)
    const reasoning = deltas.map(({ delta }) => delta.reasoning_content ?? '').join('')
    assert.equal(reasoning, 'Hm, well')
  })

  test('the other reasons', () => {
    for (const [name, reason] of Object.entries({
      'max-tokens': 'length',
      refusal: 'content_filter',
    })) {
      const reasons = chunksOf(streamed(name).out).flatMap(({ choices }) => choices)
      assert.equal(reasons.at(-1).finish_reason, reason)
    }
  })

  test('later usage replaces earlier', () => {
    const { usage } = chunksOf(streamed('usage-in-delta').out).at(-1)
    assert.equal(usage.prompt_tokens, 20 + 90 + 5)
  })

  for (const name of ['error', 'error-first', 'error-flat']) {
    test(`${name}: the error chunk is the last one`, async () => {
      const { out, report } = streamed(name)
      await assert.rejects(askOpenai(out), /Overloaded/)
      assert.ok(!out.includes('[DONE]'))
      assert.equal(report.error?.message, 'Overloaded')
      assert.equal(report.finished, false)
    })
  }

  for (const name of ['cut', 'cut-inside-event']) {
    test(`${name}: the answer ends with an error chunk, without a finish reason`, async () => {
      const { out, report } = streamed(name)
      await assert.rejects(askOpenai(out), /upstream provider error/)
      assert.ok(!out.includes('[DONE]'))
      assert.equal(report.finished, false)
    })
  }

  test('a connection that breaks ends with exactly one error chunk', () => {
    const relay = createChatStream(OPTIONS)
    relay.push(fixture('messages/cut.sse'))
    const last = relay.fail({ type: 'server_error', message: 'broke off' })?.toString()
    assert.match(last ?? '', /^data: {"error":{"message":"broke off"/)
    assert.equal(relay.fail({ type: 'server_error', message: 'again' }), undefined)
  })

  for (const name of streamFixtures('messages')) {
    test(`${name}: any chunking gives the same bytes and the same report`, () => {
      const body = fixture(`messages/${name}.sse`)
      const expected = streamed(name)
      for (const { name: chunking, chunks } of chunkings(body)) {
        const relay = createChatStream(OPTIONS)
        assert.equal(run(relay, chunks), expected.out, chunking)
        assert.deepEqual(relay.report(), expected.report, chunking)
      }
    })
  }
})

describe('body', () => {
  function answer(document: unknown) {
    const relay = createChatBody(OPTIONS)
    const completion = JSON.parse(run(relay, [Buffer.from(JSON.stringify(document))]))
    return { completion, report: relay.report() }
  }

  const message = {
    type: 'message',
    content: [
      { type: 'thinking', thinking: 'Hm', signature: 's' },
      { type: 'text', text: 'a' },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      { type: 'tool_use', id: 'toolu_1', name: 'lookup', input: { q: 1 } },
      { type: 'text', text: 'b' },
    ],
    stop_reason: 'tool_use',
    usage: {
      input_tokens: 12,
      cache_creation_input_tokens: 5,
      cache_read_input_tokens: 80,
      output_tokens: 18,
    },
  }

  test('a message with everything in it', () => {
    const { completion, report } = answer(message)
    const called = { name: 'lookup', arguments: '{"q":1}' }
    assert.deepEqual(completion, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1780732857,
      model: 'asked-model',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'ab',
            refusal: null,
            reasoning_content: 'Hm',
            tool_calls: [{ id: 'toolu_1', type: 'function', function: called }],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: USAGE,
    })
    assert.equal(report.usage?.cache_write_5m_token, 5)
    assert.equal(report.finished, true)
  })

  test('a call alone has content null, an empty answer has an empty text', () => {
    const [, , , call] = message.content
    const contentOf = (content: unknown[]) =>
      answer({ ...message, content }).completion.choices[0].message.content
    assert.equal(contentOf([call]), null)
    assert.equal(contentOf([]), '')
  })

  test('without usage the counts are estimates', () => {
    const { completion, report } = answer({ ...message, usage: undefined })
    assert.equal(completion.usage.prompt_tokens, 42)
    assert.ok(completion.usage.completion_tokens > 0)
    assert.equal(report.usage, undefined)
  })

  test('an error document is reported, and delivered in the format of chat', () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    const { completion, report } = answer({ type: 'error', error })
    assert.equal(completion.error.message, 'Overloaded')
    assert.deepEqual(report.error, error)
  })
})

test('usage that is stated behind the end of a stream counts', () => {
  const relay = createChatStream(OPTIONS)
  const event = (data: object) => relay.push(Buffer.from(`data: ${JSON.stringify(data)}\n\n`))
  const usage = { input_tokens: 10, output_tokens: 1 }
  event({ type: 'message_start', message: { id: 'msg_1', usage } })
  event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } })
  event({ type: 'message_stop' })
  event({ type: 'message_delta', delta: {}, usage: { output_tokens: 20 } })
  relay.end()
  assert.deepEqual(relay.report().usage, { input_token: 10, output_token: 20 })
})

test('each stop reason has its finish reason; a paused turn is not whole', () => {
  for (const [stopReason, expected] of [
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['pause_turn', 'length'],
    ['refusal', 'content_filter'],
    ['a new one', 'stop'],
  ] as const) {
    const content = [{ type: 'text', text: 'hi' }]
    const message = { type: 'message', role: 'assistant', content, stop_reason: stopReason }
    const out = run(createChatBody(OPTIONS), [Buffer.from(JSON.stringify(message))])
    assert.equal(JSON.parse(out).choices[0].finish_reason, expected, stopReason)
  }
})
