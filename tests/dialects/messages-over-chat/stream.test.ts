import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MESSAGES_PING } from '../../../server/dialects/messages/error.ts'
import { createMessagesStream } from '../../../server/dialects/messages-over-chat/stream.ts'
import { createToolNames } from '../../../server/dialects/messages-over-chat/tool-names.ts'
import { fixture, streamFixtures } from '../fixtures.ts'
import { chunkings, run } from '../replay.ts'
import { answerOptions } from './answer-options.ts'
import { askAnthropic } from './ask-anthropic.ts'
import { readEvents } from './read-events.ts'

function translated(name: string, context = {}): string {
  return run(createMessagesStream(answerOptions(context)), [fixture(`chat/${name}.sse`)])
}

/** Blocks as `kind: content`, calls as `name#id: arguments`, then the stop reason. */
function tell(name: string, context = {}) {
  const { blocks, stop, error } = readEvents(translated(name, context))
  const told = blocks.map(({ type, start, content }) => {
    return type === 'tool_use' ? `${start.name}#${start.id}: ${content}` : `${type}: ${content}`
  })
  return [...told, error ? `error: ${error.type}: ${error.message}` : stop.stop_reason]
}

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
  test('CS01 CS03 CS04 CS05 a text stream, event by event', () => {
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

  const told: Record<string, (string | undefined)[]> = {
    'CS10 text-with-reason': ['text: AB', 'end_turn'],
    'CS11 three-kinds-in-one': ['thinking: Hm', 'text: Yes', 'lookup#call_a: {"q":1}', 'tool_use'],
    'CS13 null-delta': ['text: Hi', 'end_turn'],
    'CS14 clean-reasoning': ['thinking: Hm, well', 'text: Yes.', 'end_turn'],
    'CS14 reasoning-alias': ['thinking: Hm', 'text: Yes', 'end_turn'],
    'CS14 reasoning-thinking': ['thinking: Hm', 'text: Yes', 'end_turn'],
    'CS14 reasoning-details': ['thinking: Hm', 'text: Yes', 'end_turn'],
    'CS15 CS16 text-tool-text': ['text: A', 'lookup#call_a: {"q":1}', 'text: B', 'tool_use'],
    'CS16 text-inside-tool': ['lookup#call_a: {"q":1}', 'text: B', 'tool_use'],
    'CS33 content-filter': ['text: So', 'refusal'],
    'CS34 empty-reason': ['text: AB', 'end_turn'],
    'CS35 two-reasons': ['text: AB', 'end_turn'],
    'CS36 two-choices': ['text: A', 'end_turn'],
    'CS31 refusal': ['text: I cannot do that', 'refusal'],
    'CS39 no-done': ['text: Hi', 'end_turn'],
    'SS03 comments': ['text: Hi', 'end_turn'],
    'SS04 multiline': ['text: Hi', 'end_turn'],
    'SS06 no-last-blank-line': ['text: Hi', 'end_turn'],
    'SS07 done-twice': ['text: Hi', 'end_turn'],
    'SS07 late-text-after-done': ['text: Hi', 'end_turn'],
    'CM02 length': ['text: So', 'max_tokens'],
    'CM02 unknown-reason': ['text: So', 'end_turn'],
    'CM02 done-without-reason': ['text: Hi', 'end_turn'],
    'CM03 stop-with-tools': ['lookup#call_a: {"q":1}', 'tool_use'],
    'CM05 stop-sequence': ['text: A', 'stop_sequence'],
    'CM07 empty': ['end_turn'],
    'CM08 content-parts': ['text: Hello', 'end_turn'],
    'no-choices': ['text: Hi', 'end_turn'],
    crlf: ['text: Hello you', 'end_turn'],
  }
  for (const [title, expected] of Object.entries(told)) {
    test(title, () => assert.deepEqual(tell(title.split(' ').at(-1) ?? ''), expected))
  }
})

describe('tool calls', () => {
  const one = ['lookup#call_a: {"q":1}', 'tool_use']
  const two = ['lookup#call_a: {"q":1}', 'lookup#call_b: {"q":2}', 'tool_use']
  const told: Record<string, string[]> = {
    'CS18 tool-both-index-0': [
      'weather#call_a: {"city":"A"}',
      'weather#call_b: {"city":"B"}',
      'tool_use',
    ],
    'CS19 tool-id-repeated': one,
    'CS20 tool-empty-id': one,
    'CS21 tool-late-name': one,
    'CS21 tool-no-name': ['unknown#call_a: {}', 'tool_use'],
    'CS23 tool-no-index': two,
    'CS23 tool-no-index-no-id': [
      'lookup#toolu_1_0: {"q":1}',
      'lookup#toolu_1_1: {"q":2}',
      'tool_use',
    ],
    'CS24 tool-index-1': ['text: Hi', ...one],
    'CS25 tool-two-entries': one,
    'CS26 tool-whole': one,
    'CS28 tool-object-arguments': one,
    'CS29 tool-half-escape': ['lookup#call_a: {"q":"\\u4f60"}', 'tool_use'],
    'CS30 legacy-function': ['lookup#toolu_1_0: {"q":1}', 'tool_use'],
    'CM10 tool-no-arguments': ['lookup#call_a: ', 'tool_use'],
    'CM13 tool-duplicate-id': ['lookup#call_a: {"q":1}', 'lookup#toolu_1_1: {"q":2}', 'tool_use'],
    'CM13 tool-no-id': ['lookup#toolu_1_0: {"q":1}', 'tool_use'],
    'interleaved calls come one after the other: tool-interleaved': two,
    'tool-broken-arguments': ['lookup#call_a: {"q":', 'tool_use'],
    'tool-name-repeated': ['lookup#toolu_1_0: {"q":1}', 'lookup#toolu_1_1: {"q":2}', 'tool_use'],
  }
  for (const [title, expected] of Object.entries(told)) {
    test(title, () => assert.deepEqual(tell(title.split(' ').at(-1) ?? ''), expected))
  }

  test('CS26 the input of a block start is empty, the arguments are a delta', () => {
    const { blocks } = readEvents(translated('tool-whole'))
    const start = { type: 'tool_use', id: 'call_a', name: 'lookup', input: {} }
    assert.deepEqual(blocks[0]?.start, start)
  })

  test('MC53 an aliased function comes back under the name the caller gave', () => {
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
    test(`CS06 CS08 ${name}: one message_delta with the last usage`, () => {
      const { usage } = readEvents(translated(name))
      assert.equal(usage.output_tokens, 7)
      assert.equal(usage.input_tokens, 20)
    })
  }

  test('CS09 without usage both counts are estimates', () => {
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
    test(`CS38 ${name}: an error event and nothing after it`, async () => {
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
    test(`CS40 SS08 ${name}: an error event, never a made-up ending`, async () => {
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

  test('CS41 a break after the start is an error event', () => {
    const stream = createMessagesStream(answerOptions())
    const sent = stream.push(fixture('chat/clean.sse').subarray(0, 450))?.toString() ?? ''
    const last = stream.fail({ type: 'server_error', message: 'broke off' })?.toString() ?? ''
    const { error, names } = readEvents(sent + last)
    assert.deepEqual(error, { type: 'api_error', message: 'broke off' })
    assert.equal(names[0], 'message_start')
  })

  test('SS09 an event over the limit fails the stream', () => {
    const stream = createMessagesStream(answerOptions())
    const body = Buffer.from(`data: {"x":"${'x'.repeat(1_100_000)}"}\n\n`)
    assert.equal(readEvents(run(stream, [body])).error?.type, 'api_error')
  })
})

describe('MC37 prefill', () => {
  for (const [prefill, expected] of Object.entries({
    Hello: ['text: , 世界 👋!', 'end_turn'],
    Hell: ['text: o, 世界 👋!', 'end_turn'],
    'Hello, 世界 👋! And': ['text: Hello, 世界 👋!', 'end_turn'],
    Bye: ['text: Hello, 世界 👋!', 'end_turn'],
  })) {
    test(`a repeated beginning is cut off: ${prefill}`, () => {
      assert.deepEqual(tell('clean', { prefill }), expected)
    })
  }
})

describe('any chunking', () => {
  for (const name of streamFixtures('chat')) {
    test(`SS01 CS46 ${name} gives the same bytes and the same report`, async () => {
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
