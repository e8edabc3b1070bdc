import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rewordContextLength } from '../../../server/wire/dialects/messages-over-chat/context-length.ts'

const code = 'context_length_exceeded'

test('both figures are put into the message that clients recognise', () => {
  const messages = [
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 140123 tokens. Please reduce the length of the messages.",
    "This model's maximum context length is 128000 tokens. However, you requested 140123 tokens (140000 in the messages, 123 in the completion).",
    "This model's maximum context length is 128000 tokens. However, your request has 140123 input tokens.",
  ]
  for (const message of messages) {
    const expected = 'prompt is too long: 140123 tokens > 128000 maximum'
    assert.equal(rewordContextLength({ message }), expected, message)
  }
})

test('without figures the vendor’s message follows', () => {
  const message = 'Total tokens of image and text exceed max message tokens.'
  assert.equal(rewordContextLength({ message }), `prompt is too long: ${message}`)
  assert.equal(rewordContextLength({ message: 'no', code }), 'prompt is too long: no')
  const native = 'prompt is too long: 210000 tokens > 200000 maximum'
  assert.equal(rewordContextLength({ message: native }), native)
})

test('other refusals are left alone', () => {
  assert.equal(rewordContextLength({ message: 'max_tokens is too large: 99999' }), undefined)
  assert.equal(rewordContextLength({ code: 'invalid_value' }), undefined)
})
