import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { translateChatRequest } from '../../../server/dialects/chat-over-messages/request.ts'
import { InvalidRequest } from '../../../server/dialects/invalid-request.ts'
import {
  DEFAULT_MESSAGES_QUIRKS,
  type MessagesQuirks,
} from '../../../server/dialects/messages/quirks.ts'

function translate(fields: object, quirks: Partial<MessagesQuirks> = {}, stream = false) {
  const request = { model: 'm', messages: [user('hi')], ...fields }
  const options = {
    upstreamModel: 'vendor-model',
    stream,
    quirks: { ...DEFAULT_MESSAGES_QUIRKS, ...quirks },
  }
  return JSON.parse(translateChatRequest(request, options).toString('utf8'))
}

const turnsOf = (...messages: unknown[]) => translate({ messages }).messages
const user = (content: unknown) => ({ role: 'user', content })
const text = (value: string) => ({ type: 'text', text: value })
const call = (id: string, args: unknown = '{"q":1}') => ({
  id,
  type: 'function',
  function: { name: 'lookup', arguments: args },
})
const calling = (...calls: unknown[]) => ({ role: 'assistant', content: null, tool_calls: calls })
const tool = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content })
const use = (id: string, input: unknown = { q: 1 }) => ({
  type: 'tool_use',
  id,
  name: 'lookup',
  input,
})
const result = (id: string, content: unknown) => ({ type: 'tool_result', tool_use_id: id, content })

function refusedField(fields: object): string {
  try {
    translate(fields)
  } catch (error) {
    if (error instanceof InvalidRequest) return error.param
    throw error
  }
  return 'nothing was refused'
}

describe('conversation', () => {
  test('the smallest request', () => {
    assert.deepEqual(translate({}), {
      model: 'vendor-model',
      messages: [user([text('hi')])],
      max_tokens: 4096,
    })
  })

  test('leading system and developer messages are the system text', () => {
    const messages = [
      { role: 'system', content: 'A' },
      { role: 'developer', content: [{ ...text('B'), cache_control: { type: 'ephemeral' } }] },
      user('hi'),
    ]
    const { system } = translate({ messages })
    assert.deepEqual(system, [text('A'), { ...text('B'), cache_control: { type: 'ephemeral' } }])
  })

  test('a system message in the middle becomes a user message in place', () => {
    const turns = turnsOf(user('hi'), { role: 'system', content: 'note' }, user('go'))
    assert.deepEqual(turns, [user([text('hi'), text('<system>\nnote\n</system>'), text('go')])])
  })

  test('messages of one role in a row are one turn', () => {
    const turns = turnsOf(user('a'), user('b'), { role: 'assistant', content: 'c' }, user('d'))
    assert.deepEqual(turns[0], user([text('a'), text('b')]))
    assert.equal(turns.length, 3)
  })

  test('the user begins, and a prefill does not end in white space', () => {
    const turns = turnsOf({ role: 'assistant', content: 'a' }, user('b'), {
      role: 'assistant',
      content: '{ ',
    })
    assert.equal(turns[0].role, 'user')
    assert.deepEqual(turns.at(-1).content, [text('{')])
  })

  test('images and files', () => {
    const parts = [
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aW1n', detail: 'low' } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,cGRm' } },
      { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=' } },
      { type: 'input_audio', input_audio: { data: 'x', format: 'wav' } },
    ]
    const [image, linked, pdf, plain, audio] = turnsOf(user(parts))[0].content
    const base64 = (media: string, data: string) => ({ type: 'base64', media_type: media, data })
    assert.deepEqual(image, { type: 'image', source: base64('image/png', 'aW1n') })
    assert.deepEqual(linked.source, { type: 'url', url: 'https://example.com/a.png' })
    assert.deepEqual(pdf, {
      type: 'document',
      source: base64('application/pdf', 'cGRm'),
      title: 'a.pdf',
    })
    assert.deepEqual(plain.source, { type: 'text', media_type: 'text/plain', data: 'hi' })
    assert.match(audio.text, /input_audio was left out/)
  })

  test('a misspelt image type, and an image sent as a file', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/jpg;base64,aW1n' } }
    const file = { type: 'file', file: { file_data: 'data:image/png;base64,aW1n' } }
    const [jpeg, png] = turnsOf(user([image, file]))[0].content
    assert.equal(jpeg.source.media_type, 'image/jpeg')
    assert.deepEqual([png.type, png.source.media_type], ['image', 'image/png'])
  })

  test('a mark for caching on a message is on its last block', () => {
    const cache_control = { type: 'ephemeral' }
    const marked = { role: 'user', content: [text('a'), text('b')], cache_control }
    assert.deepEqual(turnsOf(marked)[0].content, [text('a'), { ...text('b'), cache_control }])
  })

  test('instructions alone are the user turn that the format requires', () => {
    const body = translate({ messages: [{ role: 'system', content: 'Say hi.' }] })
    assert.deepEqual(body.messages, [user([text('Say hi.')])])
    assert.ok(!('system' in body))
  })

  test('a custom call in the history keeps its text', () => {
    const custom = { id: 'c', type: 'custom', custom: { name: 'patch', input: '*** x' } }
    const [, turn] = turnsOf(user('hi'), calling(custom), tool('c', 'done'))
    assert.deepEqual(turn.content, [
      { type: 'tool_use', id: 'c', name: 'patch', input: { input: '*** x' } },
    ])
  })

  test('lone surrogates are replaced', () => {
    assert.equal(turnsOf(user('a\ud83d'))[0].content[0].text, 'a\ufffd')
  })

  test('what cannot be read is refused by its path', () => {
    assert.equal(refusedField({ messages: 'hi' }), 'messages')
    assert.equal(refusedField({ messages: [] }), 'messages')
    assert.equal(refusedField({ messages: [user(7)] }), 'messages[0].content')
    assert.equal(refusedField({ messages: [{ role: 'robot', content: 'x' }] }), 'messages[0].role')
    const nameless = { id: 'a', function: {} }
    const param = 'messages[0].tool_calls[0].function.name'
    assert.equal(refusedField({ messages: [calling(nameless)] }), param)
    assert.equal(
      refusedField({ messages: [{ role: 'tool', content: 'x' }] }),
      'messages[0].tool_call_id',
    )
  })
})

describe('tool turns', () => {
  test('calls and their results, and what the user says after them', () => {
    const turns = turnsOf(
      user('hi'),
      { ...calling(call('c1'), call('c2')), content: 'pre' },
      tool('c2', '2'),
      tool('c1', [text('1')]),
      user('go on'),
    )
    assert.deepEqual(turns.slice(1), [
      { role: 'assistant', content: [text('pre'), use('c1'), use('c2')] },
      user([result('c2', [text('2')]), result('c1', [text('1')]), text('go on')]),
    ])
  })

  test('a call without a result is answered as interrupted, before anything else', () => {
    const turns = turnsOf(user('hi'), calling(call('c1')), user('never mind'))
    const [answered, block] = turns[2].content
    assert.equal(answered.type, 'tool_result')
    assert.match(answered.content, /interrupted/)
    assert.deepEqual(block, text('never mind'))
  })

  test('a result without a call becomes text', () => {
    assert.deepEqual(turnsOf(user('hi'), tool('gone', 'r')), [
      user([text('hi'), text('Tool result:'), text('r')]),
    ])
  })

  test('a system message between call and result waits', () => {
    const system = { role: 'system', content: 'note' }
    const turns = turnsOf(user('hi'), calling(call('c1')), system, tool('c1', 'r'))
    const types = turns[2].content.map(({ type }: { type: string }) => type)
    assert.deepEqual(types, ['tool_result', 'text'])
  })

  test('ids are shortened to fit, unique over the conversation, and results follow them', () => {
    const turns = turnsOf(
      user('hi'),
      calling(call('call.0')),
      tool('call.0', 'a'),
      calling(call('call.0')),
      tool('call.0', 'b'),
    )
    const [first, second] = [turns[1], turns[3]].map((turn) => turn.content[0].id)
    assert.match(first, /^call_0_[A-Za-z0-9_-]{8}$/)
    assert.equal(second, `${first}_2`)
    assert.equal(turns[2].content[0].tool_use_id, first)
    assert.equal(turns[4].content[0].tool_use_id, second)
  })

  test('arguments of any kind become an object', () => {
    const inputOf = (args: unknown) =>
      turnsOf(user('hi'), calling(call('c', args)), tool('c', 'r'))[1].content[0].input
    assert.deepEqual(inputOf('{"q":1}'), { q: 1 })
    assert.deepEqual(inputOf({ q: 1 }), { q: 1 })
    assert.deepEqual(inputOf(''), {})
    assert.deepEqual(inputOf('{bad'), { raw_arguments: '{bad' })
  })

  test('legacy functions', () => {
    const { messages, tools, tool_choice } = translate({
      functions: [{ name: 'lookup', parameters: { type: 'object', properties: {} } }],
      function_call: { name: 'lookup' },
      messages: [
        user('hi'),
        {
          role: 'assistant',
          content: null,
          function_call: { name: 'lookup', arguments: '{"q":1}' },
        },
        { role: 'function', name: 'lookup', content: 'r' },
      ],
    })
    assert.equal(tools[0].name, 'lookup')
    const choice = { type: 'tool', name: 'lookup', disable_parallel_tool_use: true }
    assert.deepEqual(tool_choice, choice)
    assert.deepEqual(messages[1].content, [use('lookup')])
    assert.deepEqual(messages[2].content, [result('lookup', [text('r')])])
  })
})

describe('tools', () => {
  const lookup = { type: 'function', function: { name: 'lookup', description: 'd', strict: true } }
  const choose = (fields: object) => translate({ tools: [lookup], ...fields }).tool_choice

  test('a tool always has an object schema', () => {
    const [tool] = translate({ tools: [lookup] }).tools
    const input_schema = { type: 'object', properties: {} }
    const named = { name: 'lookup', description: 'd', input_schema }
    assert.deepEqual(tool, { ...named, strict: true })
    const [older] = translate({ tools: [lookup] }, { structuredOutput: false }).tools
    assert.deepEqual(older, named)
    const [untyped] = translate({ tools: [{ function: { name: 'f' } }] }).tools
    assert.equal(untyped.name, 'f')
  })

  test('a tool that is no function is refused by name', () => {
    const custom = { type: 'custom', custom: { name: 'patch' } }
    assert.equal(refusedField({ tools: [lookup, custom] }), 'tools[1].type')
    assert.equal(refusedField({ tools: [{ type: 'web_search' }] }), 'tools[0].type')
    assert.equal(refusedField({ web_search_options: {} }), 'web_search_options')
  })

  test('a mark for caching stays on its tool', () => {
    const cache_control = { type: 'ephemeral' }
    const [tool] = translate({ tools: [{ ...lookup, cache_control }] }).tools
    assert.deepEqual(tool.cache_control, cache_control)
  })

  test('allowed_tools are the only ones sent', () => {
    const other = { type: 'function', function: { name: 'other' } }
    const named = { type: 'function', function: { name: 'lookup' } }
    const allowed_tools = { mode: 'required', tools: [named] }
    const tool_choice = { type: 'allowed_tools', allowed_tools }
    const body = translate({ tools: [other, lookup], tool_choice })
    assert.deepEqual([body.tools.length, body.tools[0].name], [1, 'lookup'])
    assert.deepEqual(body.tool_choice, { type: 'any' })
    const auto = { ...tool_choice, allowed_tools: { ...allowed_tools, mode: 'auto' } }
    assert.deepEqual(choose({ tool_choice: auto }), { type: 'auto' })
    const none = { type: 'allowed_tools', allowed_tools: {} }
    const refused = refusedField({ tools: [lookup], tool_choice: none })
    assert.equal(refused, 'tool_choice.allowed_tools.tools')
  })

  test('earlier calls without tools get stand-ins that cannot be called', () => {
    const messages = [user('hi'), calling(call('a'), call('b')), tool('a', '1'), tool('b', '2')]
    const { tools, tool_choice } = translate({ messages })
    assert.deepEqual(tools, [{ name: 'lookup', input_schema: { type: 'object' } }])
    assert.deepEqual(tool_choice, { type: 'none' })
  })

  test('the choice in the other words', () => {
    assert.deepEqual(choose({ tool_choice: 'auto' }), { type: 'auto' })
    assert.deepEqual(choose({ tool_choice: 'required' }), { type: 'any' })
    assert.deepEqual(choose({ tool_choice: 'none' }), { type: 'none' })
    const named = { type: 'function', function: { name: 'lookup' } }
    assert.deepEqual(choose({ tool_choice: named }), { type: 'tool', name: 'lookup' })
    assert.equal(choose({}), undefined)
  })

  test('one call at a time', () => {
    const single = { disable_parallel_tool_use: true }
    assert.deepEqual(choose({ parallel_tool_calls: false }), { type: 'auto', ...single })
    const forced = { tool_choice: 'required', parallel_tool_calls: false }
    assert.deepEqual(choose(forced), { type: 'any', ...single })
    assert.deepEqual(choose({ ...forced, tool_choice: 'none' }), { type: 'none' })
  })

  test('no tools, no choice', () => {
    const body = translate({ tools: [], tool_choice: 'auto', parallel_tool_calls: false })
    assert.ok(!('tools' in body) && !('tool_choice' in body))
  })
})

describe('parameters', () => {
  test('limits', () => {
    assert.equal(translate({ max_tokens: 10 }).max_tokens, 10)
    assert.equal(translate({ max_completion_tokens: 20, max_tokens: 10 }).max_tokens, 20)
    assert.equal(translate({ max_tokens: 100 }, { maxTokensLimit: 50 }).max_tokens, 50)
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
    const tools = [{ type: 'function', function: { name: 'lookup' } }]
    const forced = { ...effort, tools, tool_choice: 'required' }
    assert.ok(!('thinking' in translate(forced, { reasoning: 'budget' })))
  })

  test('answers that follow a schema', () => {
    const schema = { type: 'object', properties: { a: {} } }
    const request = { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } }
    const format = { type: 'json_schema', schema }
    assert.deepEqual(translate(request).output_config, { format })
    const described = translate(request, { structuredOutput: false })
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
})
