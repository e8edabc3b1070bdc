import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createMessagesBody,
  createMessagesStream,
} from '../../../server/wire/dialects/messages-over-chat/writer.ts'
import { fixture } from '../fixtures.ts'
import { chunkings, run } from '../replay.ts'
import { answerOptions } from './answer-options.ts'
import { readEvents } from './read-events.ts'

const USAGE = {
  prompt_tokens: 100,
  completion_tokens: 5,
  prompt_tokens_details: { cached_tokens: 80 },
}

function completion(message: object, reason: string | null = 'stop', more: object = {}) {
  const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason: reason }
  return { id: 'c', object: 'chat.completion', choices: [choice], usage: USAGE, ...more }
}

function answer(document: unknown, context = {}) {
  const relay = createMessagesBody(answerOptions(context))
  const message = JSON.parse(run(relay, [Buffer.from(JSON.stringify(document))]))
  return { message, report: relay.report() }
}

function call(id: unknown, text: unknown, name = 'lookup') {
  return { id, type: 'function', function: { name, arguments: text } }
}

const contentOf = (document: unknown, context = {}) => answer(document, context).message.content
const stopOf = (message: object, reason: string | null) =>
  answer(completion(message, reason)).message.stop_reason

describe('content', () => {
  test('the words of a spoken answer are its text', () => {
    const spoken = { content: null, audio: { id: 'a', data: 'AAAA', transcript: 'Hello.' } }
    assert.deepEqual(contentOf(completion(spoken)), [{ type: 'text', text: 'Hello.' }])
  })

  test('a text answer states cached and uncached input tokens apart', () => {
    const { message, report } = answer(completion({ content: 'hi' }))
    assert.deepEqual(message, {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'asked-model',
      content: [{ type: 'text', text: 'hi' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 20,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 80,
        output_tokens: 5,
      },
    })
    const usage = { input_token: 20, cached_input_token: 80, output_token: 5 }
    assert.deepEqual(report, { usage, outputBytes: 2, finished: true })
  })

  test('a refusal is a text block', () => {
    const { message } = answer(completion({ content: null, refusal: 'I cannot' }))
    assert.deepEqual(message.content, [{ type: 'text', text: 'I cannot' }])
    assert.equal(message.stop_reason, 'refusal')
  })

  test('an answer without content has an empty content list', () => {
    for (const content of [null, '', undefined]) {
      assert.deepEqual(contentOf(completion({ content })), [])
    }
  })

  test('content in parts is one text block', () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]
    assert.deepEqual(contentOf(completion({ content: parts })), [{ type: 'text', text: 'ab' }])
  })

  test('thinking that the caller enabled is the first block, with an empty signature', () => {
    const message = {
      content: 'Yes',
      reasoning_content: 'Hm',
      tool_calls: [call('call_a', '{}')],
    }
    const [thinking, ...rest] = contentOf(completion(message))
    assert.deepEqual(thinking, { type: 'thinking', thinking: 'Hm', signature: '' })
    assert.deepEqual(contentOf(completion(message), { showsThinking: false }), rest)
    const alias = contentOf(completion({ content: 'Yes', reasoning: 'Hm' }))
    assert.equal(alias[0].thinking, 'Hm')
  })

  test('only the first choice is translated', () => {
    const other = { index: 1, message: { content: 'b' }, finish_reason: 'stop' }
    const document = completion({ content: 'a' })
    const both = { ...document, choices: [other, ...document.choices] }
    assert.deepEqual(contentOf(both), [{ type: 'text', text: 'a' }])
  })

  test('a repeated prefill is cut off', () => {
    const document = completion({ content: '{"a":1}' })
    assert.deepEqual(contentOf(document, { prefill: '{' }), [{ type: 'text', text: '"a":1}' }])
  })
})

describe('tool calls', () => {
  const inputOf = (text: unknown) =>
    contentOf(completion({ tool_calls: [call('call_a', text)] }))[0].input

  test('arguments are read as text, as an object, or missing', () => {
    assert.deepEqual(inputOf('{"q":1}'), { q: 1 })
    assert.deepEqual(inputOf({ q: 1 }), { q: 1 })
    for (const nothing of ['', ' ', undefined, null]) assert.deepEqual(inputOf(nothing), {})
  })

  test('arguments that are not JSON are kept as their raw text', () => {
    assert.deepEqual(inputOf('{bad'), { raw_arguments: '{bad' })
    assert.deepEqual(inputOf('[1]'), { raw_arguments: '[1]' })
  })

  test('missing and repeated call ids are replaced by new ones', () => {
    const calls = [call('', '{}'), call(undefined, '{}'), call('a', '{}'), call('a', '{}')]
    const ids = contentOf(completion({ tool_calls: calls })).map(({ id }: { id: string }) => id)
    assert.deepEqual(ids, ['toolu_1_0', 'toolu_1_1', 'a', 'toolu_1_3'])
  })

  test('a legacy function_call is a call', () => {
    const [block] = contentOf(completion({ function_call: { name: 'f', arguments: '{"q":1}' } }))
    assert.deepEqual(block, { type: 'tool_use', id: 'toolu_1_0', name: 'f', input: { q: 1 } })
  })
})

describe('stop reasons', () => {
  const tools = { tool_calls: [call('call_a', '{}')] }

  test('each finish reason has its stop reason', () => {
    const expected = {
      stop: 'end_turn',
      length: 'max_tokens',
      tool_calls: 'tool_use',
      function_call: 'tool_use',
      content_filter: 'refusal',
      something: 'end_turn',
    }
    for (const [reason, stop] of Object.entries(expected)) {
      assert.equal(stopOf({ content: 'a' }, reason), stop, reason)
    }
    assert.equal(stopOf({ content: 'a' }, null), 'end_turn')
  })

  test('an answer with a tool call has the stop reason tool_use', () => {
    for (const reason of ['stop', 'something', null]) {
      assert.equal(stopOf(tools, reason), 'tool_use')
    }
    assert.equal(stopOf(tools, 'length'), 'max_tokens')
  })

  test('a matched stop sequence is named where the upstream names it', () => {
    const document = completion({ content: 'a' })
    const named = { ...document, choices: [{ ...document.choices[0], stop_reason: 'END' }] }
    const { message } = answer(named)
    assert.equal(message.stop_reason, 'stop_sequence')
    assert.equal(message.stop_sequence, 'END')
    const token = { ...document, choices: [{ ...document.choices[0], stop_reason: 7 }] }
    assert.equal(answer(token).message.stop_reason, 'end_turn')
  })
})

describe('usage', () => {
  test('thinking is stated as a part of the output', () => {
    const completion_tokens_details = { reasoning_tokens: 3 }
    const { message } = usageOf({ ...USAGE, completion_tokens_details })
    assert.deepEqual(message.usage.output_tokens_details, { thinking_tokens: 3 })
  })

  const usageOf = (usage: unknown) => answer(completion({ content: 'hello' }, 'stop', { usage }))

  test('more cached than prompt tokens are counted beside the prompt', () => {
    const details = { cached_tokens: 120 }
    const { message, report } = usageOf({ ...USAGE, prompt_tokens_details: details })
    assert.equal(message.usage.input_tokens, 100)
    assert.equal(message.usage.cache_read_input_tokens, 120)
    assert.equal(report.usage?.cached_input_token, 120)
  })

  test('missing usage is estimated for the caller and absent from the report', () => {
    const { message, report } = usageOf(undefined)
    assert.equal(message.usage.input_tokens, 42)
    assert.equal(message.usage.output_tokens, 2)
    assert.equal(report.usage, undefined)
    assert.equal(report.outputBytes, 5)
  })

  test('a count that is no number is an estimate for the caller and not stated for the books', () => {
    const { message, report } = usageOf({ prompt_tokens: '12', completion_tokens: 5 })
    assert.equal(message.usage.input_tokens, 42)
    assert.deepEqual(report.usage, { output_token: 5 })
  })

  test('a vendor’s own names for cached tokens', () => {
    const hit = usageOf({ prompt_tokens: 10, completion_tokens: 1, prompt_cache_hit_tokens: 4 })
    assert.equal(hit.message.usage.cache_read_input_tokens, 4)
    const details = { cached_tokens: 2, cache_write_tokens: 3 }
    const written = usageOf({ ...USAGE, prompt_tokens: 10, prompt_tokens_details: details })
    assert.deepEqual(written.report.usage, {
      input_token: 5,
      cached_input_token: 2,
      cache_write_token: 3,
      output_token: 5,
    })
  })
})

describe('what is no completion', () => {
  test('an error with status 200 is reported as an error', () => {
    const { message, report } = answer({ error: { message: 'Overloaded', code: 503 } })
    const error = { type: 'server_error', message: 'Overloaded', code: '503' }
    assert.deepEqual(report, { outputBytes: 0, finished: true, error })
    const expected = { type: 'overloaded_error', message: 'Overloaded' }
    assert.deepEqual(message, { type: 'error', error: expected })
  })

  test('nor is anything else', () => {
    for (const document of [{}, [], 'x', null, { choices: 'x' }]) {
      assert.ok(answer(document).report.error, JSON.stringify(document))
    }
  })
})

describe('upstreams that answer in the other form', () => {
  test('a document in answer to a streaming request becomes a whole stream', () => {
    const document = completion({
      content: 'Hi',
      reasoning_content: 'Hm',
      tool_calls: [call('a', '{"q":1}'), call('a', '{"q":2}')],
    })
    const body = Buffer.from(`\n${JSON.stringify(document, null, 2)}\n`)
    for (const { name, chunks } of chunkings(body)) {
      const relay = createMessagesStream(answerOptions())
      const { blocks, stop, usage } = readEvents(run(relay, chunks))
      const summary = blocks.map(({ type, content }) => `${type}: ${content}`)
      const expected = ['thinking: Hm', 'text: Hi', 'tool_use: {"q":1}', 'tool_use: {"q":2}']
      assert.deepEqual(summary, expected, name)
      assert.equal(stop.stop_reason, 'tool_use')
      assert.equal(usage.output_tokens, 5)
      assert.equal(relay.report().finished, true)
    }
  })

  test('an error document becomes an error event', () => {
    const relay = createMessagesStream(answerOptions())
    const body = Buffer.from('{"error":{"message":"No capacity"}}')
    assert.equal(readEvents(run(relay, [body])).error?.message, 'No capacity')
    assert.equal(relay.report().error?.message, 'No capacity')
  })

  test('a stream in answer to a request for a document is collected', () => {
    const expected = [
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_use', id: 'call_a', name: 'lookup', input: { q: 'é\n' } },
      { type: 'tool_use', id: 'call_b', name: 'lookup', input: { q: 2 } },
    ]
    for (const { name, chunks } of chunkings(fixture('chat/clean-tools.sse'))) {
      const relay = createMessagesBody(answerOptions())
      const message = JSON.parse(run(relay, chunks))
      assert.deepEqual(message.content, expected, name)
      assert.equal(message.usage.output_tokens, 7)
      assert.equal(relay.report().finished, true)
    }
  })

  test('a stream that breaks off becomes an error, not a document', () => {
    const relay = createMessagesBody(answerOptions())
    assert.equal(JSON.parse(run(relay, [fixture('chat/cut.sse')])).type, 'error')
    assert.ok(relay.report().error)
  })
})
