import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  call,
  calling,
  refusedField,
  result,
  text,
  tool,
  translate,
  turnsOf,
  use,
  user,
} from './translate.ts'

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
      {
        type: 'file',
        file: { filename: 'b.json', file_data: 'data:application/json;base64,e30=' },
      },
      { type: 'file', file: { file_data: 'https://example.com/b.pdf' } },
      { type: 'file', file: { file_data: 'JVBERi0xLjQK' } },
      { type: 'hologram' },
    ]
    const [image, linked, pdf, plain, json, page, raw, other] = turnsOf(user(parts))[0].content
    const base64 = (media: string, data: string) => ({ type: 'base64', media_type: media, data })
    assert.deepEqual(image, { type: 'image', source: base64('image/png', 'aW1n') })
    assert.deepEqual(linked.source, { type: 'url', url: 'https://example.com/a.png' })
    assert.deepEqual(pdf, {
      type: 'document',
      source: base64('application/pdf', 'cGRm'),
      title: 'a.pdf',
    })
    assert.deepEqual(plain.source, { type: 'text', media_type: 'text/plain', data: 'hi' })
    assert.deepEqual(json.source, { type: 'text', media_type: 'text/plain', data: '{}' })
    assert.deepEqual(page.source, { type: 'url', url: 'https://example.com/b.pdf' })
    assert.deepEqual(raw.source, base64('application/pdf', 'JVBERi0xLjQK'))
    assert.match(other.text, /hologram was left out/)
  })

  test('equal parts in a row that are left out are named once, and no text of the caller is', () => {
    const parts = [{}, {}, { type: 'hologram' }, { type: 'hologram' }, {}]
    const notes: { text: string }[] = turnsOf(user(parts))[0].content
    const names = notes.map(({ text }) => /type (\w+)/.exec(text)?.[1])
    assert.deepEqual(names, ['unknown', 'hologram', 'unknown'])
    const said = notes.map(({ text }) => ({ type: 'text', text }))
    assert.deepEqual(turnsOf(user([{}, said[0], said[0]]))[0].content, [said[0], said[0], said[0]])
  })

  test('audio, video and files of another vendor are refused by name', () => {
    const refused = (part: object) => refusedField({ messages: [user([part])] })
    assert.equal(refused({ type: 'input_audio' }), 'messages[0].content[0].type')
    assert.equal(refused({ type: 'video_url' }), 'messages[0].content[0].type')
    const file = { type: 'file', file: { file_id: 'file-1' } }
    assert.equal(refused(file), 'messages[0].content[0].file.file_id')
  })

  test('blank texts and reasoning without a signature are dropped', () => {
    const thinking = { type: 'thinking', thinking: [text('hm')] }
    const output = { type: 'output_text', text: 'y' }
    const answer = { role: 'assistant', content: [thinking, text(' '), output] }
    const [, turn] = turnsOf(user(['  ', 'x'].map(text)), answer, user('z'))
    assert.deepEqual(turn.content, [text('y')])
  })

  test('calls that share an id get a result each', () => {
    const turns = turnsOf(user('hi'), calling(call('a'), call('a')), tool('a', '1'), tool('a', '2'))
    assert.deepEqual(turns[1].content, [use('a'), use('a_2')])
    assert.deepEqual(turns[2].content, [result('a', [text('1')]), result('a_2', [text('2')])])
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

  test('an id of more than 8 KB becomes a short one, with its result', () => {
    const ids = ['a', 'b'].map((end) => 'i'.repeat(8_192) + end)
    const turns = turnsOf(
      user('hi'),
      calling(...ids.map((id) => call(id))),
      ...ids.toReversed().map((id) => tool(id, `of ${id.at(-1)}`)),
    )
    const [first, second] = turns[1].content.map(({ id }: { id: string }) => id)
    assert.ok(first.length < 64 && second.length < 64 && first !== second)
    assert.deepEqual(
      turns[2].content.map((one: { tool_use_id: string }) => one.tool_use_id),
      [second, first],
    )
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
    const [older] = translate({ tools: [lookup] }, { structured_output: false }).tools
    assert.deepEqual(older, named)
    const [untyped] = translate({ tools: [{ function: { name: 'f' } }] }).tools
    assert.equal(untyped.name, 'f')
  })

  test('a tool that a vendor would run is refused by name', () => {
    assert.equal(refusedField({ tools: [lookup, { type: 'mcp' }] }), 'tools[1].type')
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

  test('a choice that no offered tool can meet is refused', () => {
    const refused = (tool_choice: unknown) => refusedField({ tools: [lookup], tool_choice })
    assert.deepEqual(choose({ tool_choice: 'any' }), { type: 'any' })
    assert.equal(refused('perhaps'), 'tool_choice')
    assert.equal(refused({ type: 'hosted' }), 'tool_choice')
    assert.equal(refused({ type: 'function', function: { name: 'other' } }), 'tool_choice')
    const other = { type: 'function', function: { name: 'other' } }
    const allowed_tools = { mode: 'auto', tools: [other] }
    assert.equal(refused({ type: 'allowed_tools', allowed_tools }), 'tool_choice')
  })

  test('no tools, no choice', () => {
    const body = translate({ tools: [], tool_choice: 'auto', parallel_tool_calls: false })
    assert.ok(!('tools' in body) && !('tool_choice' in body))
  })
})
