import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MESSAGES_PING } from '../../../server/wire/dialects/messages/error.ts'
import { createToolNames } from '../../../server/wire/dialects/messages-over-chat/tool-names.ts'
import { createMessagesStream } from '../../../server/wire/dialects/messages-over-chat/writer.ts'
import { fixture, streamFixtures } from '../fixtures.ts'
import { chunkings, run } from '../replay.ts'
import { answerOptions } from './answer-options.ts'
import { askAnthropic } from './ask-anthropic.ts'
import { readEvents } from './read-events.ts'

function translated(name: string, context = {}): string {
  return run(createMessagesStream(answerOptions(context)), [fixture(`chat/${name}.sse`)])
}

/** Blocks as `kind: content`, calls as `name#id: arguments`, then the stop reason. */
function summarize(name: string, context = {}) {
  const { blocks, stop, error } = readEvents(translated(name, context))
  const lines = blocks.map(({ type, start, content }) => {
    return type === 'tool_use' ? `${start.name}#${start.id}: ${content}` : `${type}: ${content}`
  })
  return [...lines, error ? `error: ${error.type}: ${error.message}` : stop.stop_reason]
}

test('the last pieces of two calls in one chunk are kept, whichever comes first', () => {
  const chunk = (...tool_calls: object[]) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls } }] })}\n\n`
  const start = (index: number, id: string, text: string) => {
    return { index, id, function: { name: id, arguments: text } }
  }
  const piece = (index: number, text: string) => ({ index, function: { arguments: text } })
  const body =
    chunk(start(0, 'a', '{"x"'), start(1, 'b', '{"y"')) +
    chunk(piece(1, ':2}'), piece(0, ':1}')) +
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n'
  const stream = createMessagesStream(answerOptions())
  const { blocks } = readEvents(run(stream, [Buffer.from(body)]))
  assert.deepEqual(
    blocks.map(({ content }) => content),
    ['{"x":1}', '{"y":2}'],
  )
})

test('usage behind an ending, or in an error, is read', () => {
  const text = 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}'
  const usage = '"usage":{"prompt_tokens":10,"completion_tokens":3000}'
  for (const events of [
    [text, 'data: [DONE]', `data: {"choices":[],${usage}}`],
    [text, `data: {"error":{"message":"no"},${usage}}`],
  ]) {
    const stream = createMessagesStream(answerOptions())
    run(stream, [Buffer.from(`${events.join('\n\n')}\n\n`)])
    assert.deepEqual(stream.report().usage, { input_token: 10, output_token: 3000 })
  }
})

describe('order', () => {
  test('a text stream has every event of the dialect, in order', () => {
    const read = readEvents(translated('clean'))
    assert.deepEqual(read.names, [
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    const cache = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
    assert.deepEqual(read.message, {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'asked-model',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 42, ...cache, output_tokens: 0 },
    })
    assert.deepEqual(read.blocks[0]?.start, { type: 'text', text: '' })
    assert.deepEqual(read.stop, { stop_reason: 'end_turn', stop_sequence: null })
    const usage = { input_tokens: 20, ...cache, cache_read_input_tokens: 80, output_tokens: 7 }
    assert.deepEqual(read.usage, usage)
  })

  const cases: Record<string, (string | undefined)[]> = {
    'text beside a finish reason comes before the ending: text-with-reason': [
      'text: AB',
      'end_turn',
    ],
    'one chunk of thinking, text and a call makes three blocks in this order: three-kinds-in-one': [
      'thinking: Hm',
      'text: Yes',
      'lookup#call_a: {"q":1}',
      'tool_use',
    ],
    'a missing or null delta is ignored: null-delta': ['text: Hi', 'end_turn'],
    'reasoning_content is a thinking block before the text: clean-reasoning': [
      'thinking: Hm, well',
      'text: Yes.',
      'end_turn',
    ],
    'reasoning is a thinking block: reasoning-alias': ['thinking: Hm', 'text: Yes', 'end_turn'],
    'thinking is a thinking block: reasoning-thinking': ['thinking: Hm', 'text: Yes', 'end_turn'],
    'reasoning_details are a thinking block: reasoning-details': [
      'thinking: Hm',
      'text: Yes',
      'end_turn',
    ],
    'text after a call is a block of its own: text-tool-text': [
      'text: A',
      'lookup#call_a: {"q":1}',
      'text: B',
      'tool_use',
    ],
    'text between the parts of a call waits until after the call: text-inside-tool': [
      'lookup#call_a: {"q":1}',
      'text: B',
      'tool_use',
    ],
    'content_filter is a refusal: content-filter': ['text: So', 'refusal'],
    'an empty finish reason ends nothing: empty-reason': ['text: AB', 'end_turn'],
    'text after a finish reason is still delivered: two-reasons': ['text: AB', 'end_turn'],
    'only the first choice is translated: two-choices': ['text: A', 'end_turn'],
    'a refusal is text and the stop reason: refusal': ['text: I cannot do that', 'refusal'],
    'a stream may end without [DONE]: no-done': ['text: Hi', 'end_turn'],
    'comment lines are ignored: comments': ['text: Hi', 'end_turn'],
    'data lines of one event are joined: multiline': ['text: Hi', 'end_turn'],
    'the last event counts without its blank line: no-last-blank-line': ['text: Hi', 'end_turn'],
    'a second [DONE] is ignored: done-twice': ['text: Hi', 'end_turn'],
    'text after [DONE] is ignored: late-text-after-done': ['text: Hi', 'end_turn'],
    'length is max_tokens: length': ['text: So', 'max_tokens'],
    'an unknown finish reason is end_turn: unknown-reason': ['text: So', 'end_turn'],
    '[DONE] without a finish reason is end_turn: done-without-reason': ['text: Hi', 'end_turn'],
    'stop after a call is tool_use: stop-with-tools': ['lookup#call_a: {"q":1}', 'tool_use'],
    'a stop sequence is named where the upstream names it: stop-sequence': [
      'text: A',
      'stop_sequence',
    ],
    'an empty answer has no block: empty': ['end_turn'],
    'content in parts is one text: content-parts': ['text: Hello', 'end_turn'],
    'chunks without choices are ignored: no-choices': ['text: Hi', 'end_turn'],
    'CRLF ends lines too: crlf': ['text: Hello you', 'end_turn'],
  }
  for (const [title, expected] of Object.entries(cases)) {
    test(title, () => assert.deepEqual(summarize(title.split(' ').at(-1) ?? ''), expected))
  }
})

describe('tool calls', () => {
  const one = ['lookup#call_a: {"q":1}', 'tool_use']
  const two = ['lookup#call_a: {"q":1}', 'lookup#call_b: {"q":2}', 'tool_use']
  const cases: Record<string, string[]> = {
    'two ids under one index are two calls: tool-both-index-0': [
      'weather#call_a: {"city":"A"}',
      'weather#call_b: {"city":"B"}',
      'tool_use',
    ],
    'an id repeated in each chunk is one call: tool-id-repeated': one,
    'an empty id continues the call: tool-empty-id': one,
    'a call waits for a late name: tool-late-name': one,
    'a call without a name is called unknown: tool-no-name': ['unknown#call_a: {}', 'tool_use'],
    'calls without an index are separated by their ids: tool-no-index': two,
    'entries without index and id are calls of their own: tool-no-index-no-id': [
      'lookup#toolu_1_0: {"q":1}',
      'lookup#toolu_1_1: {"q":2}',
      'tool_use',
    ],
    'an index that starts at 1 leaves no gap among the blocks: tool-index-1': ['text: Hi', ...one],
    'two entries of one call in one chunk are joined: tool-two-entries': one,
    'a call may come whole in one chunk: tool-whole': one,
    'arguments as an object are written as JSON: tool-object-arguments': one,
    'half an escape sequence passes unchanged: tool-half-escape': [
      'lookup#call_a: {"q":"\\u4f60"}',
      'tool_use',
    ],
    'a legacy function_call is a call: legacy-function': ['lookup#toolu_1_0: {"q":1}', 'tool_use'],
    'a call may have no arguments: tool-no-arguments': ['lookup#call_a: ', 'tool_use'],
    'a repeated id of another call is replaced: tool-duplicate-id': [
      'lookup#call_a: {"q":1}',
      'lookup#toolu_1_1: {"q":2}',
      'tool_use',
    ],
    'a missing id is minted: tool-no-id': ['lookup#toolu_1_0: {"q":1}', 'tool_use'],
    'interleaved calls come one after the other: tool-interleaved': two,
    'broken arguments pass unchanged: tool-broken-arguments': ['lookup#call_a: {"q":', 'tool_use'],
    'whole arguments end a call, a repeated name does not: tool-name-repeated': [
      'lookup#toolu_1_0: {"q":1}',
      'lookup#toolu_1_1: {"q":2}',
      'tool_use',
    ],
  }
  for (const [title, expected] of Object.entries(cases)) {
    test(title, () => assert.deepEqual(summarize(title.split(' ').at(-1) ?? ''), expected))
  }

  test('the input of a block start is empty, the arguments are a delta', () => {
    const { blocks } = readEvents(translated('tool-whole'))
    const start = { type: 'tool_use', id: 'call_a', name: 'lookup', input: {} }
    assert.deepEqual(blocks[0]?.start, start)
  })

  test('an aliased function comes back under the caller’s name', () => {
    const toolNames = { ...createToolNames(), fromChat: () => 'the caller’s long name' }
    const { blocks } = readEvents(translated('tool-whole', { toolNames }))
    assert.equal(blocks[0]?.start.name, 'the caller’s long name')
  })
})

test('a ping may stand between any two events', async () => {
  const events = translated('clean').split('\n\n').filter(Boolean)
  const message = await askAnthropic(events.map((one) => `${one}\n\n${MESSAGES_PING}`).join(''))
  assert.deepEqual(message.content[0], { type: 'text', text: 'Hello, 世界 👋!' })
})

describe('usage', () => {
  for (const name of ['usage-late', 'usage-on-finish', 'usage-on-every', 'usage-null-last']) {
    test(`${name}: one message_delta with the last usage`, () => {
      const { usage } = readEvents(translated(name))
      assert.equal(usage.output_tokens, 7)
      assert.equal(usage.input_tokens, 20)
    })
  }

  test('without usage both token counts are estimates', () => {
    const stream = createMessagesStream(answerOptions())
    const { usage } = readEvents(run(stream, [fixture('chat/usage-none.sse')]))
    assert.equal(usage.input_tokens, 42)
    assert.equal(usage.output_tokens, 3)
    assert.deepEqual(stream.report(), { outputBytes: 11, outputEvents: 1, finished: true })
  })

  test('reasoning counts as output even when it is not shown', () => {
    const stream = createMessagesStream(answerOptions({ showsThinking: false }))
    const { blocks } = readEvents(run(stream, [fixture('chat/clean-reasoning.sse')]))
    assert.deepEqual(
      blocks.map(({ type }) => type),
      ['text'],
    )
    assert.equal(stream.report().outputBytes, 'Hm, wellYes.'.length)
  })
})

describe('broken streams', () => {
  for (const name of ['error-nested', 'error-flat', 'error-in-choice', 'error-event']) {
    test(`${name}: the error event is the last one`, async () => {
      const stream = createMessagesStream(answerOptions())
      const out = run(stream, [fixture(`chat/${name}.sse`)])
      const { error, names } = readEvents(out)
      assert.equal(error?.message, 'Overloaded')
      assert.match(String(error?.type), /^(api|overloaded)_error$/)
      assert.ok(!names.includes('message_stop') && !names.includes('message_delta'))
      assert.equal(stream.report().error?.message, 'Overloaded')
      assert.equal(stream.report().finished, false)
      await assert.rejects(askAnthropic(out), /Overloaded/)
    })
  }

  for (const name of ['cut', 'nothing', 'bad-json']) {
    test(`${name}: the answer ends with an error event, without a stop reason`, async () => {
      const stream = createMessagesStream(answerOptions())
      const out = run(stream, [fixture(`chat/${name}.sse`)])
      assert.equal(readEvents(out).error?.type, 'api_error')
      assert.equal(stream.report().finished, false)
      await assert.rejects(askAnthropic(out), /upstream provider error/)
    })
  }

  test('an error in place of the first chunk starts no message', () => {
    const stream = createMessagesStream(answerOptions())
    const { names } = readEvents(run(stream, [fixture('chat/error-first.sse')]))
    assert.deepEqual(names, ['error'])
    assert.equal(stream.report().outputBytes, 0)
  })

  test('a connection that breaks after the start ends with an error event', () => {
    const stream = createMessagesStream(answerOptions())
    const sent = stream.push(fixture('chat/clean.sse').subarray(0, 450))?.toString() ?? ''
    const last = stream.fail({ type: 'server_error', message: 'broke off' })?.toString() ?? ''
    const { error, names } = readEvents(sent + last)
    assert.deepEqual(error, { type: 'api_error', message: 'broke off' })
    assert.equal(names[0], 'message_start')
  })

  test('a first event of 9 MB is translated, and the usage behind it is read', () => {
    const stream = createMessagesStream(answerOptions())
    const content = 'x'.repeat(9_000_000)
    const choice = { index: 0, delta: { role: 'assistant', content }, finish_reason: 'stop' }
    const usage = { prompt_tokens: 3, completion_tokens: 2_000_000 }
    const chunks = [{ choices: [choice] }, { choices: [], usage }]
    const body = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
    const events = readEvents(run(stream, [Buffer.from(`${body}data: [DONE]\n\n`)]))
    assert.equal(events.error, undefined)
    assert.equal(events.names.at(-1), 'message_stop')
    assert.deepEqual(stream.report().usage, { input_token: 3, output_token: 2_000_000 })
  })

  test('an event over the limit of 64 MB fails the stream', () => {
    const stream = createMessagesStream(answerOptions())
    const half = Buffer.alloc(33 * 1024 * 1024, 'x')
    assert.equal(
      readEvents(run(stream, [Buffer.from('data: '), half, half])).error?.type,
      'api_error',
    )
  })
})

describe('a prefilled answer', () => {
  for (const [prefill, expected] of Object.entries({
    Hello: ['text: , 世界 👋!', 'end_turn'],
    Hell: ['text: o, 世界 👋!', 'end_turn'],
    'Hello, 世界 👋! And': ['text: Hello, 世界 👋!', 'end_turn'],
    Bye: ['text: Hello, 世界 👋!', 'end_turn'],
  })) {
    test(`a repeated beginning is cut off: ${prefill}`, () => {
      assert.deepEqual(summarize('clean', { prefill }), expected)
    })
  }
})

describe('any chunking', () => {
  for (const name of streamFixtures('chat')) {
    test(`${name}: blocks and report are the same`, async () => {
      const body = fixture(`chat/${name}.sse`)
      const whole = createMessagesStream(answerOptions())
      const expected = run(whole, [body])
      readEvents(expected)
      for (const { name: chunking, chunks } of chunkings(body)) {
        const stream = createMessagesStream(answerOptions())
        assert.deepEqual(
          readEvents(run(stream, chunks)).blocks,
          readEvents(expected).blocks,
          chunking,
        )
        assert.deepEqual(stream.report(), whole.report(), chunking)
      }
      if (whole.report().finished) await askAnthropic(expected)
    })
  }
})
