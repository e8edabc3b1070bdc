import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call, calling, ignoredOf, refusedField, tool, translate, user } from './translate.ts'

test('limits', () => {
  assert.equal(translate({ max_tokens: 10 }).max_tokens, 10)
  assert.equal(translate({ max_completion_tokens: 20, max_tokens: 10 }).max_tokens, 20)
  assert.equal(translate({ max_tokens: 100 }, { max_tokens_limit: 50 }).max_tokens, 50)
  assert.equal(refusedField({ max_tokens: 0 }), 'max_tokens')
  assert.equal(refusedField({ max_completion_tokens: 'x' }), 'max_completion_tokens')
})

test('sampling and stops', () => {
  const body = translate({ temperature: 1.7, top_p: 0.5, stop: ['a', ' '] })
  assert.equal(body.temperature, 1)
  assert.equal(body.top_p, 0.5)
  assert.deepEqual(body.stop_sequences, ['a'])
  assert.deepEqual(translate({ stop: 'x' }).stop_sequences, ['x'])
  assert.ok(!('stop_sequences' in translate({ stop: null })))
})

test('what the format lacks is named, unless it is a hint or not set', () => {
  assert.deepEqual(ignoredOf({ frequency_penalty: 0.5, logit_bias: { 5: 1 }, xyz: 1 }), [
    'frequency_penalty',
    'logit_bias',
    'xyz',
  ])
  const unset = { frequency_penalty: 0, logit_bias: {}, seed: null, logprobs: false }
  assert.deepEqual(ignoredOf({ ...unset, metadata: { a: 'b' }, store: true }), [])
  assert.deepEqual(ignoredOf({ stop: ['a', '\n'] }), ['stop'])
  const named = { role: 'user', name: 'ann', content: 'hi' }
  assert.deepEqual(ignoredOf({ messages: [named] }), ['messages[0].name'])
  assert.deepEqual(ignoredOf({ reasoning_effort: 'high' }), ['reasoning_effort'])
  const effort = { reasoning_effort: 'high', max_tokens: 30_000 }
  assert.deepEqual(ignoredOf(effort, { reasoning: 'budget' }), [])
})

test('values of the wrong kind are refused by name', () => {
  assert.equal(refusedField({ stop: 5 }), 'stop')
  assert.equal(refusedField({ top_p: 'all' }), 'top_p')
  assert.equal(refusedField({ response_format: { type: 'grammar' } }), 'response_format.type')
  const nameless = { type: 'json_schema', json_schema: { name: 'x' } }
  const schema = 'response_format.json_schema.schema'
  assert.equal(refusedField({ response_format: nameless }), schema)
  assert.equal(refusedField({ service_tier: 'priority' }), 'service_tier')
  assert.equal(refusedField({ search_parameters: { mode: 'on' } }), 'search_parameters')
  assert.equal(refusedField({ search_parameters: { mode: 'off' } }), 'nothing was refused')
  assert.equal(refusedField({ enable_search: true }), 'enable_search')
  assert.equal(refusedField({ plugins: [{ id: 'web' }] }), 'plugins')
})

test('the user by either name', () => {
  assert.deepEqual(translate({ safety_identifier: 'a' }).metadata, { user_id: 'a' })
  const both = translate({ safety_identifier: 'a', user: 'b' })
  assert.deepEqual(both.metadata, { user_id: 'b' })
})

test('thinking as some chat clients switch it', () => {
  const thinkingOf = (thinking: object) => {
    return translate({ thinking, max_tokens: 30_000 }, { reasoning: 'budget' }).thinking
  }
  const enabled = (budget_tokens: number) => ({ type: 'enabled', budget_tokens })
  assert.deepEqual(thinkingOf(enabled(2_000)), enabled(2_000))
  assert.deepEqual(thinkingOf({ type: 'enabled' }), enabled(8_192))
  assert.equal(thinkingOf({ type: 'disabled' }), undefined)
})

test('one answer only', () => {
  assert.equal(refusedField({ n: 2 }), 'n')
  assert.equal(refusedField({ n: 1 }), 'nothing was refused')
})

test('fields of the chat format do not reach the vendor', () => {
  const body = translate({
    logit_bias: {},
    seed: 1,
    store: true,
    stream_options: {},
    logprobs: false,
    modalities: ['text'],
  })
  assert.deepEqual(Object.keys(body), ['model', 'messages', 'max_tokens'])
})

test('what the answer would lack is refused by name', () => {
  assert.equal(refusedField({ logprobs: true }), 'logprobs')
  assert.equal(refusedField({ modalities: ['text', 'audio'] }), 'modalities')
})

test('sampling as newer models and thinking allow it', () => {
  assert.equal(translate({ top_k: 5 }).top_k, 5)
  assert.ok(!('top_p' in translate({ temperature: 0.5, top_p: 1 })))
  assert.equal(translate({ top_p: 1 }).top_p, 1)
  const thinking = { reasoning_effort: 'high', max_tokens: 9_000, top_k: 5 }
  const low = translate({ ...thinking, top_p: 0.5 }, { reasoning: 'adaptive' })
  assert.ok(low.thinking && !('top_p' in low) && !('top_k' in low))
  assert.equal(translate({ ...thinking, top_p: 0.99 }, { reasoning: 'adaptive' }).top_p, 0.99)
})

test('effort as the upstream knows it', () => {
  const effort = { reasoning_effort: 'medium', max_tokens: 30_000, temperature: 0.5 }
  assert.ok(!('thinking' in translate(effort)))
  const budget = translate(effort, { reasoning: 'budget' })
  assert.deepEqual(budget.thinking, { type: 'enabled', budget_tokens: 8_192 })
  assert.ok(!('temperature' in budget))
  const adaptive = translate(effort, { reasoning: 'adaptive' })
  assert.deepEqual(adaptive.output_config, { effort: 'medium' })
  const small = translate({ ...effort, max_tokens: 100 }, { reasoning: 'budget' })
  assert.ok(!('thinking' in small))
})

test('no thinking where the vendor would refuse it', () => {
  const effort = { reasoning_effort: 'low', max_tokens: 30_000 }
  const messages = [user('hi'), calling(call('c')), tool('c', 'r')]
  const looping = translate({ ...effort, messages }, { reasoning: 'budget' })
  assert.ok(!('thinking' in looping))
  const prefill = { ...effort, messages: [user('hi'), { role: 'assistant', content: '{' }] }
  assert.ok(!('thinking' in translate(prefill, { reasoning: 'budget' })))
  const tools = [{ type: 'function', function: { name: 'lookup' } }]
  const forced = { ...effort, tools, tool_choice: 'required' }
  assert.ok(!('thinking' in translate(forced, { reasoning: 'budget' })))
})

test('answers that follow a schema', () => {
  const schema = { type: 'object', properties: { a: {} } }
  const request = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } }
  const format = { type: 'json_schema', schema }
  assert.deepEqual(translate(request).output_config, { format })
  const described = translate(request, { structured_output: false })
  assert.match(described.system[0].text, /JSON schema/)
  const both = translate({ ...request, reasoning_effort: 'low' }, { reasoning: 'adaptive' })
  assert.deepEqual(both.output_config, { format, effort: 'low' })
  const plain = translate({ response_format: { type: 'json_object' } })
  assert.match(plain.system[0].text, /one JSON object/)
})

test('a stream is requested as a stream', () => {
  assert.equal(translate({}, {}, true).stream, true)
  assert.ok(!('stream' in translate({ stream: true })))
})
