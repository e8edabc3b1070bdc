/** Vendors' own finish reasons, as callers of each dialect read them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChatRelay } from '../../../server/wire/dialects/chat/relay.ts'
import {
  createMessagesBody,
  createMessagesStream,
} from '../../../server/wire/dialects/messages-over-chat/writer.ts'
import { createResponsesBody } from '../../../server/wire/dialects/responses-over-chat/writer.ts'
import { answerOptions as messagesOptions } from '../messages-over-chat/answer-options.ts'
import { run } from '../replay.ts'
import { answerOptions as responsesOptions } from '../responses-over-chat/answer-options.ts'

const HEAD = { id: 'c', object: 'chat.completion', created: 1, model: 'm' }
const whole = (reason: string) => {
  const message = { role: 'assistant', content: 'Some' }
  const choices = [{ index: 0, message, finish_reason: reason }]
  return [Buffer.from(JSON.stringify({ ...HEAD, choices }))]
}
const stream = (reason: string) => {
  const delta = { role: 'assistant', content: 'Some' }
  const choices = [{ index: 0, delta, finish_reason: reason }]
  const chunk = { ...HEAD, object: 'chat.completion.chunk', choices }
  return [Buffer.from(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)]
}

for (const [reason, stopReason, incomplete] of [
  ['sensitive', 'refusal', 'content_filter'],
  ['model_length', 'max_tokens', 'max_output_tokens'],
  ['model_context_window_exceeded', 'max_tokens', 'max_output_tokens'],
  ['insufficient_system_resource', 'max_tokens', 'max_output_tokens'],
] as const) {
  test(`${reason}: not whole`, () => {
    const message = run(createMessagesBody(messagesOptions()), whole(reason))
    assert.equal(JSON.parse(message).stop_reason, stopReason)
    const events = run(createMessagesStream(messagesOptions()), stream(reason))
    assert.match(events, new RegExp(`"stop_reason":"${stopReason}"`))
    const response = JSON.parse(run(createResponsesBody(responsesOptions()), whole(reason)))
    assert.deepEqual(response.incomplete_details, { reason: incomplete })
    assert.match(run(createChatRelay({ includeUsage: true }), stream(reason)), new RegExp(reason))
  })
}

test('network_error: the vendor failed', () => {
  for (const relay of [
    createMessagesStream(messagesOptions()),
    createChatRelay({ includeUsage: true }),
  ]) {
    assert.match(run(relay, stream('network_error')), /"error":\{/)
    assert.ok(relay.report().error)
  }
})
