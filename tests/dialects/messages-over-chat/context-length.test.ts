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

test('the figures are found in the words of each vendor', () => {
  const figures: Readonly<Record<string, readonly [number, number]>> = {
    'Invalid request: Your request exceeded model token limit: 262144 (requested: 336148)': [
      336148, 262144,
    ],
    "This model's maximum prompt length is 131072 but the request contains 136973 tokens.": [
      136973, 131072,
    ],
    'length of prompt_tokens (163280) must be less than max_seq_len (32768).': [163280, 32768],
    'The decoder prompt (length 66501) is longer than the maximum model length of 65536.': [
      66501, 65536,
    ],
    'the input token count is 32825 but model only supports up to 32768': [32825, 32768],
    'The prompt is too long: 267657, model maximum context length: 262143': [267657, 262143],
  }
  for (const [message, [requested, max]] of Object.entries(figures)) {
    const expected = `prompt is too long: ${requested} tokens > ${max} maximum`
    assert.equal(rewordContextLength({ message }), expected)
  }
})

test('a prompt that fits beside a smaller output limit is said to', () => {
  const sums: Readonly<Record<string, string>> = {
    "This model's maximum context length is 131072 tokens. However, you requested 133034 tokens (125034 in the messages, 8000 in the completion).":
      '125034 + 8000 > 131072',
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens (100000 of text input, 18000 of tool input, 32000 in the output).":
      '118000 + 32000 > 131072',
    "'max_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 5000 input tokens (32000 > 32768 - 5000).":
      '5000 + 32000 > 32768',
    "This model's maximum context length is 262144 tokens. However, you requested 32000 output tokens and your prompt contains at least 240000 input tokens.":
      '240000 + 32000 > 262144',
  }
  for (const [message, sum] of Object.entries(sums)) {
    const expected = `input length and \`max_tokens\` exceed context limit: ${sum}`
    assert.equal(rewordContextLength({ message }), expected)
  }
  const beyond =
    "This model's maximum context length is 262144 tokens. However, you requested 32000 output tokens and your prompt contains at least 262145 input tokens."
  const expected = 'prompt is too long: 262145 tokens > 262144 maximum'
  assert.equal(rewordContextLength({ message: beyond }), expected)
})

test('without figures the vendor’s message follows', () => {
  for (const message of [
    'Range of input length should be [1, 204800]',
    'Prompt exceeds max length',
    'Prompt \u8d85\u957f',
  ]) {
    assert.equal(rewordContextLength({ message }), `prompt is too long: ${message}`)
  }
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
