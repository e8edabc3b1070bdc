import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createResponsesBody } from '../../../server/wire/dialects/responses-over-chat/writer.ts'
import { chunkings, run } from '../replay.ts'
import { answerOptions } from './answer-options.ts'
import * as chat from './chat-chunks.ts'

function translate(document: unknown) {
  const relay = createResponsesBody(answerOptions())
  const answer = JSON.parse(run(relay, [Buffer.from(JSON.stringify(document))]))
  return { answer, report: relay.report() }
}

function completion(message: object, reason = 'stop', more: object = {}) {
  const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason: reason }
  return { id: 'c', object: 'chat.completion', created: 1, choices: [choice], ...more }
}

const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }

test('a completion becomes a response', () => {
  const { answer, report } = translate(completion({ content: 'Hi' }, 'stop', { usage }))
  assert.deepEqual(answer.output, [
    {
      id: 'msg_abc_0',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
    },
  ])
  assert.equal(answer.usage.total_tokens, 11)
  assert.deepEqual(report, {
    usage: { input_token: 9, output_token: 2 },
    outputBytes: 2,
    finished: true,
  })
})

test('a response has every member that the dialect requires, with its default', () => {
  const { answer } = translate(completion({ content: 'Hi' }, 'stop', { usage }))
  const { output, usage: counted, ...always } = answer
  assert.ok(output && counted)
  assert.deepEqual(always, {
    id: 'resp_abc',
    object: 'response',
    created_at: 1780732857,
    completed_at: null,
    status: 'completed',
    error: null,
    incomplete_details: null,
    model: 'caller-model',
    background: false,
    frequency_penalty: 0,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: {},
    parallel_tool_calls: true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    store: false,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    user: null,
  })
})

test('output items are reasoning, text and calls in this order', () => {
  const called = (id: string, name: string, text: string) => {
    return { id, type: 'function', function: { name, arguments: text } }
  }
  const { answer } = translate(
    completion(
      {
        content: 'Hi',
        reasoning_content: 'hm',
        tool_calls: [called('a', 'look', ''), called('b', 'apply_patch', '{"input":"x"}')],
      },
      'tool_calls',
    ),
  )
  const [reasoning, message, look, patch] = answer.output
  assert.equal(reasoning.summary[0].text, 'hm')
  assert.equal(message.content[0].text, 'Hi')
  assert.deepEqual([look.call_id, look.arguments], ['a', '{}'])
  assert.deepEqual([patch.type, patch.input], ['custom_tool_call', 'x'])
})

test('an incomplete response states its reason', () => {
  const { answer } = translate(completion({ content: 'Hi' }, 'length'))
  assert.equal(answer.status, 'incomplete')
  assert.deepEqual(answer.incomplete_details, { reason: 'max_output_tokens' })
  const filtered = translate(completion({ content: '' }, 'content_filter')).answer
  assert.deepEqual(filtered.incomplete_details, { reason: 'content_filter' })
})

test('an empty completion has an empty output list', () => {
  assert.deepEqual(translate(completion({ content: null })).answer.output, [])
})

test('an error with status 200 is reported, and delivered in the format of Responses', () => {
  const { answer, report } = translate({ error: { message: 'm', type: 'server_error' } })
  assert.deepEqual(answer.error.message, 'm')
  assert.equal(report.error?.message, 'm')
})

test('an answer that is not a completion is an error', () => {
  const relay = createResponsesBody(answerOptions())
  assert.ok(JSON.parse(run(relay, [Buffer.from('<html>')])).error)
  assert.equal(relay.report().error?.type, 'server_error')
})

test('a stream in place of a document is collected at any chunking', () => {
  const body = Buffer.from(
    chat.text('Hé') + chat.text('llo') + chat.finish('stop') + chat.usage(9, 2) + chat.DONE,
  )
  for (const { name, chunks } of chunkings(body)) {
    const relay = createResponsesBody(answerOptions())
    const answer = JSON.parse(run(relay, chunks))
    assert.equal(answer.output[0].content[0].text, 'Héllo', name)
    assert.deepEqual(relay.report().usage, { input_token: 9, output_token: 2 }, name)
  }
})
