import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createResponsesStream } from '../../../server/wire/dialects/responses-over-chat/writer.ts'
import { run } from '../replay.ts'
import { answerOptions } from './answer-options.ts'
import * as chat from './chat-chunks.ts'
import { readEvents } from './read-events.ts'

function play(...chunks: string[]) {
  const relay = createResponsesStream(answerOptions())
  const out = run(
    relay,
    chunks.map((chunk) => Buffer.from(chunk)),
  )
  return { ...readEvents(out), report: relay.report(), out }
}

const HELLO = [chat.chunk({ role: 'assistant', content: '' }), chat.text('Hé'), chat.text('llo')]

test('a text stream has every event from created to completed', () => {
  const { types, response, report } = play(
    ...HELLO,
    chat.finish('stop'),
    chat.usage(9, 2),
    chat.DONE,
  )
  assert.deepEqual(types, [
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.delta',
    'response.output_text.done',
    'response.content_part.done',
    'response.output_item.done',
    'response.completed',
  ])
  const content = [{ type: 'output_text', text: 'Héllo', annotations: [], logprobs: [] }]
  const id = 'msg_abc_0'
  assert.deepEqual(response.output, [
    { id, type: 'message', status: 'completed', role: 'assistant', content },
  ])
  assert.equal(response.status, 'completed')
  assert.equal(response.model, 'caller-model')
  assert.deepEqual(report, {
    outputBytes: 6,
    outputEvents: 2,
    finished: true,
    usage: { input_token: 9, output_token: 2 },
  })
})

test('usage has totals and details, which Codex requires', () => {
  const details = {
    prompt_tokens_details: { cached_tokens: 80 },
    completion_tokens_details: { reasoning_tokens: 3 },
  }
  const { response } = play(...HELLO, chat.finish('stop'), chat.usage(100, 5, details), chat.DONE)
  assert.deepEqual(response.usage, {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 80 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 3 },
    total_tokens: 105,
  })
})

test('without usage the counts are estimates, and the report says none', () => {
  const { response, report } = play(...HELLO, chat.finish('stop'), chat.DONE)
  assert.equal(response.usage.input_tokens, 77)
  assert.equal(response.usage.output_tokens, 2)
  assert.equal(report.usage, undefined)
})

test('items have ids of their own, and a call keeps the upstream’s call id', () => {
  const { response } = play(
    chat.callStart(0, 'call_x', 'look', '{"q":'),
    chat.callPiece(0, '1}'),
    chat.finish('tool_calls'),
    chat.DONE,
  )
  assert.deepEqual(response.output, [
    {
      id: 'fc_abc_0',
      type: 'function_call',
      call_id: 'call_x',
      name: 'look',
      arguments: '{"q":1}',
      status: 'completed',
    },
  ])
})

test('a missing or repeated call id is replaced by a new one', () => {
  const { response } = play(
    chat.callStart(0, 'a', 'look', '{}'),
    chat.callStart(1, 'a', 'look', '{}'),
    chat.callStart(2, '', 'look', '{}'),
    chat.finish('tool_calls'),
    chat.DONE,
  )
  const ids = response.output.map((item) => item.call_id)
  assert.deepEqual(ids, ['a', 'call_abc_1', 'call_abc_2'])
})

test('reasoning is an item of its own, from added to done', () => {
  const { types, response } = play(
    chat.thought('Let '),
    chat.thought('me.'),
    chat.text('Yes'),
    chat.finish('stop'),
    chat.DONE,
  )
  assert.deepEqual(types.slice(2, 9), [
    'response.output_item.added',
    'response.reasoning_summary_part.added',
    'response.reasoning_summary_text.delta',
    'response.reasoning_summary_text.delta',
    'response.reasoning_summary_text.done',
    'response.reasoning_summary_part.done',
    'response.output_item.done',
  ])
  const summary = [{ type: 'summary_text', text: 'Let me.' }]
  assert.deepEqual(response.output[0], { id: 'rs_abc_0', type: 'reasoning', summary })
  assert.equal(response.output[1]?.id, 'msg_abc_1')
})

test('indexes are contiguous in the order of first appearance', () => {
  const { response } = play(
    chat.thought('a'),
    chat.text('b'),
    chat.callStart(3, 'x', 'look', '{}'),
    chat.text('c'),
    chat.callStart(7, 'y', 'look', '{"q":'),
    chat.callStart(8, 'z', 'look', '{'),
    chat.callPiece(7, '2}'),
    chat.callPiece(8, '}'),
    chat.finish('tool_calls'),
    chat.DONE,
  )
  const kinds = response.output.map((item) => item.type)
  assert.deepEqual(kinds, [
    'reasoning',
    'message',
    'function_call',
    'message',
    'function_call',
    'function_call',
  ])
  assert.deepEqual(
    [response.output[4]?.arguments, response.output[5]?.arguments],
    ['{"q":2}', '{}'],
  )
})

test('a piece that comes after the start of another call in its chunk is kept', () => {
  const one = { index: 0, function: { arguments: ':1}' } }
  const other = { index: 1, id: 'b', function: { name: 'g', arguments: '{}' } }
  const { response } = play(
    chat.callStart(0, 'a', 'f', '{"x"'),
    chat.chunk({ tool_calls: [other, one] }),
    chat.finish('tool_calls'),
    chat.DONE,
  )
  assert.deepEqual(
    response.output.map((item) => item.arguments),
    ['{"x":1}', '{}'],
  )
})

test('a call of a custom tool has its own item type, with its input as text', () => {
  const patch = '*** Begin "x"\n+é\n'
  const text = JSON.stringify({ input: patch })
  const { types, response } = play(
    chat.callStart(0, 'c1', 'apply_patch', text.slice(0, 11)),
    chat.callPiece(0, text.slice(11)),
    chat.finish('tool_calls'),
    chat.DONE,
  )
  assert.deepEqual(types.slice(2, 6), [
    'response.output_item.added',
    'response.custom_tool_call_input.delta',
    'response.custom_tool_call_input.done',
    'response.output_item.done',
  ])
  assert.deepEqual(response.output, [
    {
      id: 'ctc_abc_0',
      type: 'custom_tool_call',
      call_id: 'c1',
      name: 'apply_patch',
      input: patch,
      status: 'completed',
    },
  ])
})

for (const [name, args, input] of [
  ['text without the object', '*** Begin', '*** Begin'],
  ['a JSON text', '"*** Begin"', '*** Begin'],
  ['an object of another shape', '{"patch":"x"}', '{"patch":"x"}'],
  ['nothing', '', ''],
] as const) {
  test(`the input of a custom tool is read from ${name}`, () => {
    const { response } = play(
      chat.callStart(0, 'c1', 'apply_patch', args),
      chat.finish('tool_calls'),
      chat.DONE,
    )
    assert.equal(response.output[0]?.input, input)
  })
}

test('calls of namespaces and of the client’s tool search have their own item types', () => {
  const { response } = play(
    chat.callStart(0, 'c1', 'close', '{"id":1}'),
    chat.callStart(1, 'c2', 'tool_search', '{"query":"x"}'),
    chat.finish('tool_calls'),
    chat.DONE,
  )
  const [close, search] = response.output
  assert.deepEqual([close?.name, close?.namespace], ['close', 'agents'])
  assert.deepEqual(search, {
    id: 'tsc_abc_1',
    type: 'tool_search_call',
    call_id: 'c2',
    execution: 'client',
    arguments: { query: 'x' },
    status: 'completed',
  })
})

test('missing arguments are an empty object, for clients that parse them', () => {
  const { response } = play(chat.callStart(0, 'c', 'look'), chat.finish('tool_calls'), chat.DONE)
  assert.equal(response.output[0]?.arguments, '{}')
})

for (const [reason, incomplete] of [
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
] as const) {
  test(`the finish reason ${reason} makes the response incomplete: ${incomplete}`, () => {
    const { ending, response, report } = play(...HELLO, chat.finish(reason), chat.DONE)
    assert.equal(ending, 'response.incomplete')
    assert.equal(response.status, 'incomplete')
    assert.deepEqual(response.incomplete_details, { reason: incomplete })
    assert.equal(response.output[0]?.status, 'incomplete')
    assert.equal(report.finished, true)
  })
}

test('a call with whole arguments is complete in an incomplete response', () => {
  const { response } = play(
    chat.callStart(0, 'a', 'look', '{}'),
    chat.callStart(1, 'b', 'look', '{"q"'),
    chat.finish('length'),
    chat.DONE,
  )
  const states = response.output.map((item) => item.status)
  assert.deepEqual(states, ['completed', 'incomplete'])
})

test('a refusal is a content part of the message', () => {
  const { types, response } = play(
    chat.text('Well'),
    chat.chunk({ refusal: 'I can' }),
    chat.chunk({ refusal: 'not' }),
    chat.finish('stop'),
    chat.DONE,
  )
  assert.ok(types.includes('response.refusal.done'))
  const refusal = response.output[0]?.content[1]
  assert.deepEqual(refusal, { type: 'refusal', refusal: 'I cannot' })
})

test('sources of a text are its annotations', () => {
  const source = { url: 'https://x.example/', title: 'X', start_index: 0, end_index: 5 }
  const cited = chat.chunk({ annotations: [{ type: 'url_citation', url_citation: source }] })
  const { types, response } = play(cited, ...HELLO, cited, chat.finish('stop'), chat.DONE)
  const [part] = response.output[0]?.content ?? []
  assert.deepEqual(part?.annotations, [{ type: 'url_citation', ...source }])
  assert.equal(types.filter((type) => type === 'response.output_text.annotation.added').length, 1)
})

test('an upstream error is response.failed with its message', () => {
  const broken = 'data: {"error":{"message":"slow down","type":"rate_limit_error"}}\n\n'
  const { ending, response, report } = play(...HELLO, broken, chat.text('late'), chat.DONE)
  assert.equal(ending, 'response.failed')
  assert.deepEqual(response.error, { code: 'rate_limit_exceeded', message: 'slow down' })
  assert.equal(response.output[0]?.content[0]?.text, 'Héllo')
  assert.equal(report.finished, false)
  assert.equal(report.error?.message, 'slow down')
})

test('an end without a finish reason is response.failed', () => {
  for (const chunks of [HELLO, []]) {
    const { ending, response, report } = play(...chunks)
    assert.equal(ending, 'response.failed')
    assert.equal(response.error.code, 'server_error')
    assert.equal(report.finished, false)
  }
})

test('an end without [DONE] after a finish reason is response.completed', () => {
  const { ending, report } = play(...HELLO, chat.finish('stop'))
  assert.equal(ending, 'response.completed')
  assert.equal(report.finished, true)
})

test('a broken connection is one response.failed with the code of its cause', () => {
  const relay = createResponsesStream(answerOptions())
  const start = relay.push(Buffer.from(HELLO.join('')))?.toString() ?? ''
  const failure = { type: 'billing_error', message: 'insufficient balance' }
  const { response } = readEvents(start + relay.fail(failure)?.toString())
  assert.deepEqual(response.error, { code: 'insufficient_quota', message: 'insufficient balance' })
  assert.equal(relay.fail(failure), undefined)
  assert.equal(relay.end(), undefined)
})

test('a quota error of the upstream is not passed on as the caller’s', () => {
  const broken = 'data: {"error":{"message":"no quota","code":"insufficient_quota"}}\n\n'
  assert.equal(play(...HELLO, broken).response.error.code, 'server_error')
})

test('an empty completion is response.completed without output', () => {
  const { ending, response } = play(
    chat.chunk({ role: 'assistant' }),
    chat.finish('stop'),
    chat.DONE,
  )
  assert.equal(ending, 'response.completed')
  assert.deepEqual(response.output, [])
})

test('a JSON document in place of a stream becomes one', () => {
  const message = { role: 'assistant', content: 'hi' }
  const { ending, response } = play(
    JSON.stringify({ id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }] }),
  )
  assert.equal(ending, 'response.completed')
  assert.equal(response.output[0]?.content[0]?.text, 'hi')
})

test('the response repeats the parameters of the request', () => {
  const options = answerOptions({ instructions: 'A', temperature: 0.5, metadata: { a: 'b' } })
  const relay = createResponsesStream(options)
  const out = run(relay, [Buffer.from([...HELLO, chat.finish('stop'), chat.DONE].join(''))])
  const { response } = readEvents(out)
  assert.equal(response.instructions, 'A')
  assert.equal(response.temperature, 0.5)
  assert.deepEqual(response.metadata, { a: 'b' })
  assert.equal(response.store, false)
})
