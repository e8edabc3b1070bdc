import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusal, toChat, toMessages } from './translate.ts'

const call = (id: string, name = 'look', extra = {}) => {
  return {
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name,
    arguments: '{"q":1}',
    ...extra,
  }
}
const output = (id: string, text: unknown = `r-${id}`) => {
  return { type: 'function_call_output', id: `fco_${id}`, call_id: id, output: text }
}
const chatCall = (id: string, name = 'look', text = '{"q":1}') => {
  return { id, type: 'function', function: { name, arguments: text } }
}
const user = (text: string) => ({ role: 'user', content: [{ type: 'input_text', text }] })
const assistant = (text: string) => {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] }
}
const tool = (id: string, content = `r-${id}`) => ({ role: 'tool', tool_call_id: id, content })
const asks = (...calls: object[]) => ({ role: 'assistant', content: null, tool_calls: calls })
const hi = { role: 'user', content: 'hi' }

test('a string input is one user message', () => {
  assert.deepEqual(toMessages('hi'), [hi])
})

test('items without a type are messages, with parts or a string', () => {
  assert.deepEqual(toMessages([user('hi'), { role: 'assistant', content: 'yes' }]), [
    hi,
    { role: 'assistant', content: 'yes' },
  ])
})

test('instructions and leading developer items are one system message at the front', () => {
  const developer = (text: string) => ({ type: 'message', role: 'developer', content: text })
  const input = [developer('B'), { role: 'system', content: 'C' }, user('hi'), developer('later')]
  assert.deepEqual(toChat({ instructions: 'A', input }).messages, [
    { role: 'system', content: 'A\n\nB\n\nC' },
    hi,
    { role: 'system', content: 'later' },
  ])
})

test('consecutive items of the model are one assistant message', () => {
  const reasoning = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }
  const input = [user('hi'), reasoning, assistant('pre'), call('c1'), call('c2'), output('c1')]
  const turn = { role: 'assistant', content: 'pre', tool_calls: [chatCall('c1'), chatCall('c2')] }
  const answers = [tool('c1'), tool('c2', 'The tool call was interrupted: there is no result.')]
  assert.deepEqual(toMessages(input), [hi, turn, ...answers])
  assert.deepEqual(toMessages(input, { reasoning_field: 'reasoning_content' }), [
    hi,
    { ...turn, reasoning_content: 'hm' },
    ...answers,
  ])
})

test('parallel calls share a message, sequential calls do not', () => {
  assert.deepEqual(toMessages([user('hi'), call('1'), call('2'), output('2'), output('1')]), [
    hi,
    asks(chatCall('1'), chatCall('2')),
    tool('2'),
    tool('1'),
  ])
  assert.deepEqual(toMessages([user('hi'), call('1'), output('1'), call('2'), output('2')]), [
    hi,
    asks(chatCall('1')),
    tool('1'),
    asks(chatCall('2')),
    tool('2'),
  ])
})

test('empty arguments become an empty object', () => {
  const input = [call('1', 'look', { arguments: '' }), output('1')]
  assert.deepEqual(toMessages(input)[0], asks(chatCall('1', 'look', '{}')))
})

test('a call is identified by call_id, not by id', () => {
  assert.deepEqual(toMessages([call('call_9'), output('call_9')])[0], asks(chatCall('call_9')))
})

test('arguments that are an object are written as JSON text', () => {
  const input = [call('1', 'look', { arguments: { a: 1 } }), output('1')]
  assert.deepEqual(toMessages(input)[0], asks(chatCall('1', 'look', '{"a":1}')))
})

test('a call without output is answered, and an output without a call becomes text', () => {
  assert.deepEqual(toMessages([call('1'), user('hi'), assistant('ok')]), [
    asks(chatCall('1')),
    tool('1', 'The tool call was interrupted: there is no result.'),
    hi,
    { role: 'assistant', content: 'ok' },
  ])
  assert.deepEqual(toMessages([output('9'), user('hi')]), [
    { role: 'user', content: 'Tool result: r-9' },
    hi,
  ])
})

test('a message between a call and its output moves behind the output', () => {
  const note = { type: 'message', role: 'developer', content: 'note' }
  assert.deepEqual(toMessages([call('1'), user('hi'), note, output('1')]), [
    asks(chatCall('1')),
    tool('1'),
    hi,
    { role: 'system', content: 'note' },
  ])
})

test('reasoning that is only encrypted is dropped and not sent as text', () => {
  const reasoning = { type: 'reasoning', summary: [], encrypted_content: 'gAAAsecret' }
  const messages = toMessages([user('hi'), reasoning, assistant('a')], {
    reasoning_field: 'reasoning',
  })
  assert.deepEqual(messages, [hi, { role: 'assistant', content: 'a' }])
})

test('the text of a reasoning item wins over its summary', () => {
  const content = [{ type: 'reasoning_text', text: 'long' }]
  const reasoning = { type: 'reasoning', content, summary: [{ type: 'summary_text', text: 's' }] }
  const [message] = toMessages([reasoning, assistant('a')], { reasoning_field: 'reasoning' })
  assert.equal(message?.reasoning, 'long')
})

test('a custom call in the history is a function call of one string', () => {
  const input = [
    { type: 'custom_tool_call', call_id: '1', name: 'apply_patch', input: '*** "x"' },
    { type: 'custom_tool_call_output', call_id: '1', output: 'done' },
  ]
  assert.deepEqual(toMessages(input), [
    asks(chatCall('1', 'apply_patch', '{"input":"*** \\"x\\""}')),
    tool('1', 'done'),
  ])
})

test('a tool search in the history is a call with its output, and its tools are offered', () => {
  const found = { type: 'function', name: 'found', parameters: { type: 'object', properties: {} } }
  const chat = toChat({
    tools: [{ type: 'tool_search', execution: 'client', description: 'd', parameters: {} }],
    input: [
      { type: 'tool_search_call', call_id: '1', execution: 'client', arguments: { query: 'x' } },
      { type: 'tool_search_output', call_id: '1', execution: 'client', tools: [found] },
    ],
  })
  assert.deepEqual(chat.messages, [
    asks(chatCall('1', 'tool_search', '{"query":"x"}')),
    tool('1', 'These tools are available now: found'),
  ])
  const names = JSON.stringify(chat.tools).match(/"name":"\w+"/g)
  assert.deepEqual(names, ['"name":"tool_search"', '"name":"found"'])
})

test('a search that the vendor ran is dropped, and its tools are offered', () => {
  const tools = [{ type: 'function', name: 'found' }]
  const input = [
    user('hi'),
    { type: 'tool_search_call', call_id: null, execution: 'server', arguments: {} },
    { type: 'tool_search_output', call_id: null, execution: 'server', tools },
  ]
  assert.deepEqual(toMessages(input), [hi])
})

test('outputs may be lists of parts: texts stay, images follow the tool messages', () => {
  const url = 'data:image/png;base64,AAAA'
  const image = { type: 'input_image', image_url: url, detail: 'high' }
  const input = [call('1'), call('2'), output('1', [image]), output('2', [{ text: 'ok' }])]
  assert.deepEqual(toMessages(input).slice(1), [
    tool('1', '[the result is in the next message]'),
    tool('2', 'ok'),
    { role: 'user', content: [{ type: 'image_url', image_url: { url, detail: 'high' } }] },
  ])
  const [, first] = toMessages(input, { image_parts: false })
  assert.equal(first?.content, '[an image was left out: this model cannot take it]')
})

test('images and files of a user, and what cannot be taken, keep their order', () => {
  const content = [
    { type: 'input_text', text: 'a' },
    { type: 'input_image', image_url: 'https://x.example/a.png' },
    { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA' },
    { type: 'input_image', detail: 'auto' },
    { type: 'input_hologram', x: 1 },
  ]
  const left = (what: string) => `[${what} was left out: this model cannot take it]`
  assert.deepEqual(toMessages([{ role: 'user', content }], { file_parts: true })[0]?.content, [
    { type: 'text', text: 'a' },
    { type: 'image_url', image_url: { url: 'https://x.example/a.png' } },
    { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA' } },
    { type: 'text', text: left('an image that is not in the request') },
    { type: 'text', text: left('content of type input_hologram') },
  ])
  const file = [{ role: 'user', content: content.slice(2, 3) }]
  assert.deepEqual(toMessages(file)[0]?.content, [
    { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA' } },
  ])
  assert.equal(toMessages(file, { file_parts: false })[0]?.content, left('a.pdf'))
  const data = `data:text/markdown;base64,${Buffer.from('# Zürich').toString('base64')}`
  const text = [{ type: 'input_file', filename: 'a.md', file_data: data }]
  const written = toMessages([{ role: 'user', content: text }], { file_parts: false })
  assert.equal(written[0]?.content, 'a.md\n# Zürich')
})

test('what the request names only by an id of a vendor, or what has no form, is refused', () => {
  const refused = (part: object) => refusal({ input: [{ role: 'user', content: [part] }] })
  assert.equal(refused({ type: 'input_image', file_id: 'f' }), 'input[0].content[0].file_id')
  assert.equal(refused({ type: 'input_file', file_id: 'f' }), 'input[0].content[0].file_id')
  assert.equal(refused({ type: 'input_audio', data: 'x' }), 'input[0].content[0].type')
  assert.equal(refusal({ input: [user('hi'), { type: 'hologram' }] }), 'input[1].type')
  assert.equal(refusal({ input: [user('hi'), { type: 'compaction_trigger' }] }), 'input[1].type')
  assert.equal(refusal({ input: 'hi', instructions: [user('a')] }), 'instructions')
})

test('files without a media type, and text in other types', () => {
  const contentOf = (part: object, quirks = {}) => {
    return toMessages([{ role: 'user', content: [{ type: 'input_file', ...part }] }], quirks)[0]
      ?.content
  }
  const pdf = 'JVBERi0xLjQK'
  assert.deepEqual(contentOf({ filename: 'a.pdf', file_data: pdf }), [
    { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
  ])
  const json = `data:application/json;base64,${Buffer.from('{"a":1}').toString('base64')}`
  assert.equal(contentOf({ filename: 'a.json', file_data: json }), 'a.json\n{"a":1}')
  const file_url = 'https://x.example/a.pdf'
  assert.equal(contentOf({ file_url }), `[file at ${file_url}]`)
  assert.deepEqual(contentOf({ file_url }, { beforeMessages: true, file_parts: true }), [
    { type: 'file', file: { filename: 'document.pdf', file_data: file_url } },
  ])
})

test('calls that a vendor ran are calls with their results, as far as they state any', () => {
  const resultOf = (item: object) => {
    const messages = toMessages([user('hi'), { id: 'x', ...item }, assistant('a')])
    return messages.filter(({ role }) => role === 'tool').map(({ content }) => content)[0]
  }
  const mcp = { type: 'mcp_call', name: 'look', arguments: '{"q":1}' }
  assert.equal(resultOf({ ...mcp, output: 'found' }), 'found')
  assert.equal(resultOf({ ...mcp, error: 'gone' }), 'Error: gone')
  const outputs = [{ type: 'logs', logs: '1' }]
  assert.equal(resultOf({ type: 'code_interpreter_call', code: 'print(1)', outputs }), '1')
  const results = [{ filename: 'a.txt', text: 'passage' }]
  assert.equal(resultOf({ type: 'file_search_call', queries: ['q'], results }), 'a.txt\npassage')
  assert.equal(resultOf({ type: 'web_search_call', status: 'completed' }), undefined)
  const drawn = toMessages([{ id: 'x', type: 'image_generation_call', result: '/9j/4A' }])
  assert.deepEqual(drawn.at(-1)?.content, [
    { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,/9j/4A' } },
  ])
})

test('ids of calls that are too long for a chat are shortened, with their results', () => {
  const call_id = 'call_'.repeat(13)
  const called = { type: 'function_call', call_id, name: 'f', arguments: '{}' }
  const output = { type: 'function_call_output', call_id, output: 'r' }
  const [, calling, result] = toMessages([user('hi'), called, output])
  const [{ id = '' } = {}] = (calling?.tool_calls ?? []) as { id?: string }[]
  assert.match(id, /^[\w-]{40}$/)
  assert.equal(result?.tool_call_id, id)
})

test('lone surrogates become readable text', () => {
  assert.deepEqual(toMessages('a\ud83d')[0]?.content, 'a\ufffd')
})

test('calls of tools that the caller runs keep their result', () => {
  const shell = { type: 'shell_call', call_id: '1', action: { commands: ['ls'] } }
  const listed = { stdout: 'a.txt', stderr: '', outcome: { type: 'exit', exit_code: 0 } }
  const screen = { type: 'computer_call', call_id: '2', action: { type: 'screenshot' } }
  const url = 'data:image/png;base64,AAAA'
  const input = [
    shell,
    screen,
    { type: 'shell_call_output', call_id: '1', output: [listed] },
    {
      type: 'computer_call_output',
      call_id: '2',
      output: { type: 'computer_screenshot', image_url: url },
    },
  ]
  const [calls, ...results] = toMessages(input)
  assert.deepEqual(calls?.tool_calls, [
    { id: '1', type: 'function', function: { name: 'shell', arguments: '{"commands":["ls"]}' } },
    {
      id: '2',
      type: 'function',
      function: { name: 'computer', arguments: '{"type":"screenshot"}' },
    },
  ])
  assert.deepEqual(results, [
    tool('1', JSON.stringify(listed)),
    tool('2', '[the result is in the next message]'),
    { role: 'user', content: [{ type: 'image_url', image_url: { url } }] },
  ])
})

const REFUSED: readonly [string, unknown, string][] = [
  ['a compaction of another vendor', [{ type: 'compaction', encrypted_content: 'x' }], 'input[0]'],
  ['no input', undefined, 'input'],
  ['a number', 5, 'input'],
  ['an empty input', [], 'input'],
  ['an empty text', '', 'input'],
  ['an item that is no object', ['x'], 'input[0]'],
  ['an unknown role', [{ role: 'tool', content: 'x' }], 'input[0].role'],
  ['content of another type', [{ role: 'user', content: 7 }], 'input[0].content'],
  ['a part that is no object', [{ role: 'user', content: ['x'] }], 'input[0].content[0]'],
  ['a call without id', [{ type: 'function_call', name: 'x' }], 'input[0].call_id'],
  ['a call without name', [{ type: 'function_call', call_id: '1' }], 'input[0].name'],
  ['an output without id', [{ type: 'function_call_output', output: '' }], 'input[0].call_id'],
  ['an item reference', [{ type: 'item_reference', id: 'msg_1' }], 'input[0]'],
]

for (const [name, input, param] of REFUSED) {
  test(`refused, naming the field: ${name}`, () => {
    assert.equal(refusal({ input }), param)
  })
}
