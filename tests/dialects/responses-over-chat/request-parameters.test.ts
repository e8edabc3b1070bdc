import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusal, toChat, translate } from './translate.ts'

const toBody = (request: object, quirks = {}) => toChat({ input: 'hi', ...request }, quirks)

test('limits and sampling take the names that the upstream knows', () => {
  const request = { max_output_tokens: 900, temperature: 0, top_p: 0.5 }
  const { model, messages, ...rest } = toBody(request)
  assert.equal(model, 'upstream-model')
  assert.equal(messages.length, 1)
  assert.deepEqual(rest, { max_tokens: 900, temperature: 0, top_p: 0.5 })
  const quirks = { max_tokens_field: 'max_completion_tokens', max_tokens_limit: 100 }
  assert.equal(toBody(request, quirks).max_completion_tokens, 100)
  const silent = toBody({ max_output_tokens: null, temperature: null })
  assert.deepEqual(Object.keys(silent), ['model', 'messages'])
})

test('the effort is the highest one of the model that is not above the requested one', () => {
  const effort = (requested: string, known: string[]) => {
    return toBody({ reasoning: { effort: requested } }, { reasoning_efforts: known })
      .reasoning_effort
  }
  assert.equal(effort('high', ['low', 'medium', 'high']), 'high')
  assert.equal(effort('xhigh', ['low', 'medium', 'high']), 'high')
  assert.equal(effort('minimal', ['low', 'high']), 'low')
  assert.equal(effort('none', ['none', 'low']), 'none')
  assert.equal(effort('none', ['low']), undefined)
  assert.equal(effort('medium', []), undefined)
  assert.equal(effort('nonsense', ['low']), undefined)
})

test('a stream asks for usage where the upstream supports it', () => {
  const { stream, stream_options: options } = toBody({ stream: true })
  assert.deepEqual([stream, options], [true, { include_usage: true }])
  assert.equal(toBody({ stream: true }, { stream_options: false }).stream_options, undefined)
  assert.equal(toBody({ stream: false }).stream, undefined)
})

const schema = { type: 'object', properties: { a: { type: 'string' } } }

test('text.format becomes response_format', () => {
  const format = { type: 'json_schema', name: 'n', schema, strict: true }
  assert.deepEqual(toBody({ text: { format, verbosity: 'low' } }).response_format, {
    type: 'json_schema',
    json_schema: { name: 'n', schema, strict: true },
  })
  const object = { text: { format: { type: 'json_object' } } }
  assert.deepEqual(toBody(object).response_format, { type: 'json_object' })
  assert.equal(toBody({ text: {} }).response_format, undefined)
})

test('an upstream that knows only JSON objects gets the schema in its instructions', () => {
  const text = { format: { type: 'json_schema', name: 'n', schema } }
  const body = toBody({ text, instructions: 'A' }, { response_format: 'json_object' })
  assert.deepEqual(body.response_format, { type: 'json_object' })
  assert.equal(body.messages[0]?.role, 'system')
  assert.match(String(body.messages[0]?.content), /^A\n\n.*JSON schema:\n\{"type":"object"/)
})

test('private and unknown fields are neither forwarded nor refused', () => {
  const canary = 'canary-7f3a'
  const request = {
    store: true,
    include: ['reasoning.encrypted_content', canary],
    prompt_cache_key: canary,
    client_metadata: { canary },
    metadata: { canary },
    truncation: 'auto',
    service_tier: 'auto',
    background: false,
    stream_options: { include_obfuscation: false },
    internal_chat_message_metadata_passthrough: { canary },
    unknown_field: canary,
    user: canary,
    input: [{ role: 'user', content: 'hi', id: canary, internal_x: canary }],
  }
  const chat = toBody(request)
  assert.deepEqual(Object.keys(chat), ['model', 'messages'])
  assert.ok(!JSON.stringify(chat).includes(canary))
})

test('what no chat has is named, unless it is a hint or not set', () => {
  const ignoredOf = (fields: object) => translate({ input: 'hi', ...fields }).ignored
  assert.deepEqual(ignoredOf({ unknown_field: 1, seed: 5, stop: ['a'] }), [
    'unknown_field',
    'seed',
    'stop',
  ])
  const settings = { text: { verbosity: 'low' }, reasoning: { effort: 'high' } }
  assert.deepEqual(ignoredOf(settings), ['text.verbosity', 'reasoning.effort'])
  const marked = [{ role: 'user', content: 'hi', cache_control: { type: 'ephemeral', ttl: '1h' } }]
  assert.deepEqual(ignoredOf({ input: marked, prompt_cache_options: { ttl: '1h' } }), [
    'prompt_cache_options.ttl',
    'cache_control.ttl',
  ])
  assert.deepEqual(ignoredOf({ prompt_cache_options: { ttl: '30m' } }), [])
  assert.deepEqual(ignoredOf({ store: true, metadata: { a: 'b' }, moderation: null, n: 0 }), [])
})

test('a tier that is priced is sent, a format or number of no meaning refused', () => {
  assert.equal(toBody({ service_tier: 'flex' }).service_tier, 'flex')
  const formatted = (format: object) => refusal({ input: 'hi', text: { format } })
  assert.equal(formatted({ type: 'zzz' }), 'text.format.type')
  assert.equal(formatted({ type: 'json_schema', name: 'x' }), 'text.format.schema')
  assert.equal(refusal({ input: 'hi', temperature: 'hot' }), 'temperature')
})

test('an effort switches thinking where the vendor has a switch', () => {
  const thinkingOf = (effort: string) => {
    return toBody({ reasoning: { effort } }, { thinking_switch: true }).thinking
  }
  assert.deepEqual(thinkingOf('high'), { type: 'enabled' })
  assert.deepEqual(thinkingOf('none'), { type: 'disabled' })
  const flag = toBody({ reasoning: { effort: 'low' } }, { thinking_switch: 'enable_thinking' })
  assert.equal(flag.enable_thinking, true)
})

test('settings that change in the conversation count as the last states them', () => {
  const update = { type: 'configuration_update', reasoning: { effort: 'low' } }
  const request = { input: ['a', update], reasoning: { effort: 'high', summary: 'auto' } }
  const input = [{ role: 'user', content: 'a' }, update]
  const chat = toBody({ ...request, input }, { reasoning_efforts: ['low', 'high'] })
  assert.equal(chat.reasoning_effort, 'low')
})

test('the user id is sent as a pseudonym, and only where the upstream wants one', () => {
  const chat = toBody({ user: 'someone@example.org' }, { user_field: 'user', user_length: 20 })
  assert.match(String(chat.user), /^[\w-]{20}$/)
})

for (const [field, value] of Object.entries({
  previous_response_id: 'resp_1',
  conversation: { id: 'conv_1' },
  prompt: { id: 'pmpt_1' },
  background: true,
  top_logprobs: 2,
  include: ['message.output_text.logprobs'],
})) {
  test(`${field} is refused`, () => {
    assert.equal(refusal({ input: 'hi', [field]: value }), field)
    if (field !== 'background') assert.ok(toBody({ [field]: null }))
  })
}

for (const value of [0, -1, 1.5, '5']) {
  test(`refused: max_output_tokens ${JSON.stringify(value)}`, () => {
    assert.equal(refusal({ input: 'hi', max_output_tokens: value }), 'max_output_tokens')
  })
}
