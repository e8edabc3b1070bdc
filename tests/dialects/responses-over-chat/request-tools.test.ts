import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusal, toChat, translate } from './translate.ts'

const NOTHING = { type: 'object', properties: {} }
const fn = (name: string, extra = {}) => ({ type: 'function', name, parameters: NOTHING, ...extra })
const chatFn = (name: string, extra = {}) => {
  return { type: 'function', function: { name, parameters: NOTHING, ...extra } }
}
const toTools = (tools: unknown[], more = {}) => toChat({ input: 'hi', tools, ...more })

test('flat functions are nested, without a null strict, with an empty object for no parameters', () => {
  const tools = [
    fn('a', { description: 'd', strict: true }),
    { type: 'function', name: 'b', strict: null },
    fn('c', { strict: false, description: '', parameters: { type: 'object' } }),
  ]
  assert.deepEqual(toTools(tools).tools, [
    chatFn('a', { description: 'd', strict: true }),
    chatFn('b'),
    chatFn('c'),
  ])
})

test('a custom tool is a function of one string, and its call comes back as custom', () => {
  const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' }
  const tools = [{ type: 'custom', name: 'apply_patch', description: 'Edits files.', format }]
  const { body, context } = translate({ input: 'hi', tools })
  const [tool] = JSON.parse(body.toString()).tools
  assert.equal(tool.function.name, 'apply_patch')
  assert.deepEqual(Object.keys(tool.function.parameters.properties), ['input'])
  assert.match(tool.function.description, /^Edits files\.[\s\S]*lark grammar:\nstart: "x"$/)
  assert.deepEqual(context.tools.fromChat('apply_patch'), { kind: 'custom', name: 'apply_patch' })
})

test('tools of a namespace are functions, with aliases where names collide', () => {
  const space = (name: string) => ({ type: 'namespace', name, tools: [fn('close'), fn('open')] })
  const tools = [fn('close'), space('agents'), space('files')]
  const { body, context } = translate({ input: 'hi', tools })
  const names = JSON.parse(body.toString()).tools.map((tool: ReturnType<typeof chatFn>) => {
    return tool.function.name
  })
  assert.deepEqual(names, ['close', 'agents__close', 'open', 'files__close', 'files__open'])
  assert.deepEqual(names.map(context.tools.fromChat), [
    { kind: 'function', name: 'close' },
    { kind: 'function', name: 'close', namespace: 'agents' },
    { kind: 'function', name: 'open', namespace: 'agents' },
    { kind: 'function', name: 'close', namespace: 'files' },
    { kind: 'function', name: 'open', namespace: 'files' },
  ])
})

test('a call in the history keeps the alias of its tool', () => {
  const tools = [fn('close'), { type: 'namespace', name: 'agents', tools: [fn('close')] }]
  const call = { type: 'function_call', call_id: '1', name: 'close', namespace: 'agents' }
  const chat = toChat({ input: [call], tools })
  assert.match(JSON.stringify(chat.messages[0]), /"name":"agents__close"/)
})

test('a name that chat does not accept gets an alias and comes back unchanged', () => {
  const name = `mcp.server/${'x'.repeat(70)}`
  const { body, context } = translate({ input: 'hi', tools: [fn(name)] })
  const alias = JSON.parse(body.toString()).tools[0].function.name
  assert.match(alias, /^[A-Za-z0-9_-]{1,64}$/)
  assert.equal(context.tools.fromChat(alias).name, name)
})

test('tools that the vendor runs are left out and named', () => {
  const hosted = ['web_search', 'web_search_preview_2025_03_11', 'tool_search', 'image_generation']
  const types = [...hosted, 'mcp', 'local_shell', 'code_interpreter', 'file_search']
  const tools = types.map((type) => ({ type, external_web_access: false }))
  assert.deepEqual(toTools([...tools, fn('a')]).tools, [chatFn('a')])
  const { ignored } = translate({ input: 'hi', tools })
  assert.deepEqual(
    ignored,
    types.map((type, position) => `tools[${position}]=${type}`),
  )
  const none = toTools(tools, { tool_choice: 'auto', parallel_tool_calls: true })
  assert.deepEqual(Object.keys(none), ['model', 'messages'])
})

test('a choice that demands a tool that only the vendor runs is refused', () => {
  const tools = [{ type: 'web_search' }]
  for (const tool_choice of ['required', { type: 'web_search_preview' }]) {
    assert.equal(refusal({ input: 'hi', tools, tool_choice }), 'tool_choice')
  }
  const tool_choice = { type: 'web_search_preview' }
  assert.equal(refusal({ input: 'hi', tools: [...tools, fn('a')], tool_choice }), 'tool_choice')
})

test('a name of more than 1,024 characters is refused, for it would be kept with each tool', () => {
  const name = 'n'.repeat(1_025)
  const space = { type: 'namespace', name, tools: [fn('a'), fn('b')] }
  assert.equal(refusal({ input: 'hi', tools: [space] }), 'tools[0].name')
  assert.equal(refusal({ input: 'hi', tools: [fn(name)] }), 'tools[0].name')
  const called = { type: 'function_call', call_id: 'c', name: 'a', arguments: '{}' }
  assert.equal(refusal({ input: [{ ...called, namespace: name }] }), 'input[0].namespace')
  assert.equal(refusal({ input: [{ ...called, name }] }), 'input[0].name')
})

test('a tool of an unknown type is refused by name', () => {
  assert.equal(refusal({ input: 'hi', tools: [fn('a'), { type: 'x' }] }), 'tools[1].type')
})

test('a choice that names no offered tool is refused', () => {
  for (const tool_choice of [{ type: 'function', name: 'b' }, 'perhaps', { type: 'mcp' }]) {
    assert.equal(refusal({ input: 'hi', tools: [fn('a')], tool_choice }), 'tool_choice')
  }
})

test('tools that come in the middle of the conversation are offered', () => {
  const late = { type: 'additional_tools', role: 'developer', tools: [fn('late')] }
  const input = [{ role: 'user', content: 'hi' }, late]
  assert.deepEqual(toChat({ input, tools: [fn('a')] }).tools, [chatFn('a'), chatFn('late')])
})

test('a tool search that the client runs is a function', () => {
  const search = { type: 'tool_search', execution: 'client', description: 'd', parameters: NOTHING }
  const { body, context } = translate({ input: 'hi', tools: [search] })
  const { tools } = JSON.parse(body.toString())
  assert.deepEqual(tools, [chatFn('tool_search', { description: 'd' })])
  assert.equal(context.tools.fromChat('tool_search').kind, 'tool_search')
})

test('each form of tool_choice has its form in chat', () => {
  const tools = [fn('a'), { type: 'custom', name: 'b' }]
  const chosen = (choice: unknown) => toTools(tools, { tool_choice: choice }).tool_choice
  for (const word of ['auto', 'none', 'required']) assert.equal(chosen(word), word)
  const named = (name: string) => ({ type: 'function', function: { name } })
  assert.deepEqual(chosen({ type: 'function', name: 'a' }), named('a'))
  assert.deepEqual(chosen({ type: 'custom', name: 'b' }), named('b'))
  assert.equal(chosen(undefined), undefined)
})

test('allowed_tools leaves only those tools', () => {
  const allowed = [{ type: 'function', name: 'b' }]
  const choice = { type: 'allowed_tools', mode: 'required', tools: allowed }
  const chat = toTools([fn('a'), fn('b')], { tool_choice: choice })
  assert.deepEqual(chat.tools, [chatFn('b')])
  assert.equal(chat.tool_choice, 'required')
  const none = toTools([fn('a')], { tool_choice: { ...choice, mode: 'auto' } })
  assert.deepEqual(Object.keys(none), ['model', 'messages'])
  assert.equal(refusal({ input: 'hi', tools: [fn('a')], tool_choice: choice }), 'tool_choice')
})

test('parallel_tool_calls is sent where the upstream knows it', () => {
  const parallel = { parallel_tool_calls: false }
  assert.equal(toTools([fn('a')], parallel).parallel_tool_calls, false)
  const input = { input: 'hi', tools: [fn('a')], ...parallel }
  assert.equal(toChat(input, { parallel_tool_calls: false }).parallel_tool_calls, undefined)
})

test('a tool that is offered twice goes out once', () => {
  assert.deepEqual(toTools([fn('a'), fn('a', { description: 'd' })]).tools, [
    chatFn('a', { description: 'd' }),
  ])
})

const REFUSED: readonly [string, object, string][] = [
  ['tools that are no list', { tools: {} }, 'tools'],
  ['a tool that is no object', { tools: ['x'] }, 'tools[0]'],
  ['a function without name', { tools: [{ type: 'function' }] }, 'tools[0].name'],
  ['a namespace without tools', { tools: [{ type: 'namespace', name: 'n' }] }, 'tools[0].tools'],
  [
    'a nameless tool in a namespace',
    { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'custom' }] }] },
    'tools[0].tools[0].name',
  ],
  ['allowed_tools without tools', { tool_choice: { type: 'allowed_tools' } }, 'tool_choice.tools'],
]

for (const [name, request, param] of REFUSED) {
  test(`refused, naming the field: ${name}`, () => {
    assert.equal(refusal({ input: 'hi', ...request }), param)
  })
}
