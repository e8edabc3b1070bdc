import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readResponseBody } from '../../../server/wire/dialects/responses/read-response.ts'
import { createBodyTap } from '../../../server/wire/dialects/tap.ts'

const message = {
  type: 'message',
  content: [
    { type: 'output_text', text: 'Hé' },
    { type: 'refusal', refusal: 'no' },
  ],
}
const reasoning = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }
const call = { type: 'function_call', arguments: '{}' }
const custom = { type: 'custom_tool_call', input: 'xyz' }
const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 4, cache_write_tokens: 1 },
  output_tokens: 5,
  total_tokens: 15,
}

const UNITS = { input_token: 5, cached_input_token: 4, cache_write_token: 1, output_token: 5 }

test('usage of a whole response is read in disjoint units, with the bytes of its output', () => {
  const output = [message, reasoning, call, custom, null, { type: 'web_search_call' }]
  assert.deepEqual(readResponseBody({ object: 'response', status: 'completed', output, usage }), {
    outputBytes: 12,
    usage: { ...UNITS, web_search_call: 1 },
  })
})

test('an incomplete response is not an error', () => {
  const reading = readResponseBody({ object: 'response', status: 'incomplete', output: [], usage })
  assert.equal(reading.error, undefined)
})

test('a failed response keeps its usage and reports its error', () => {
  const error = { code: 'invalid_prompt', message: 'bad prompt' }
  assert.deepEqual(readResponseBody({ object: 'response', status: 'failed', error, usage }), {
    outputBytes: 0,
    usage: UNITS,
    error: { type: 'invalid_request_error', message: 'bad prompt', code: 'invalid_prompt' },
  })
})

for (const [name, document] of [
  ['a failed response that does not say why', { object: 'response', status: 'failed' }],
  ['another object', { choices: [] }],
  ['no JSON', undefined],
] as const) {
  test(`reported as a server error: ${name}`, () => {
    assert.deepEqual(readResponseBody(document).error, {
      type: 'server_error',
      message: 'upstream provider error',
    })
  })
}

test('an error with status 200 is read, nested and flat', () => {
  assert.deepEqual(readResponseBody({ error: { message: 'm', type: 'auth_error' } }).error, {
    type: 'auth_error',
    message: 'm',
  })
  assert.deepEqual(readResponseBody({ error: 'm', type: 't' }).error?.message, 'm')
})

test('a whole answer passes byte for byte', () => {
  const body = Buffer.from('{ "object":"response", "output":[], "usage":{"output_tokens":1.0} }')
  const tap = createBodyTap(readResponseBody)
  tap.push(body)
  assert.equal(tap.end(), body)
  assert.deepEqual(tap.report().usage, { output_token: 1 })
})
