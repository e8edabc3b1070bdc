/**
 * A tool that the vendor runs, that the model has no price for and that a request only offers is
 * taken out of it; one that the request demands or has used is refused.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestAnswer, type TestGateway } from '../support/in-process.ts'

const CHAT = '/v1/chat/completions'
const RESPONSES = '/v1/responses'
const MESSAGES = '/v1/messages'
const IGNORED = 'x-tributary-ignored'

let gateway: TestGateway
let key: string

before(async () => {
  gateway = await startTestGateway()
  await gateway.apply(plainCatalog(), 'plain')
  const tenant = await gateway.tenant()
  key = tenant.key
})
after(() => gateway.stop())

/** The plainest models that can be sold, by a vendor of each dialect. */
function plainCatalog() {
  const price = (unit: string, amount: string) => ({ unit, per: 1_000_000, amount })
  const prices = [price('input_token', '0.15'), price('output_token', '0.60')]
  const model = (id: string, channel: string, upstream: string) => {
    const routes = [{ channel, upstream_model: upstream }]
    return { id, type: 'chat', prices, routes }
  }
  return {
    models: [
      model('plain', 'sim-openai', 'sim-chat'),
      model('plain-claude', 'sim-anthropic', 'sim-claude'),
    ],
  }
}

const bodyOf = (path: string, more: object) => {
  if (path === RESPONSES) return { model: 'plain', input: 'hi', ...more }
  const model = path === MESSAGES ? 'plain-claude' : 'plain'
  return { model, max_tokens: 20, messages: [{ role: 'user', content: 'hi' }], ...more }
}

const post = (path: string, more: object) =>
  gateway.post(path, key, bodyOf(path, more), { 'anthropic-version': '2023-06-01' })

/** Returns the last body that a vendor got. */
function lastSent(): Record<string, unknown> {
  const call = gateway.simulators.calls.list().at(-1)
  return JSON.parse(Buffer.from(call?.body_base64 ?? '', 'base64').toString())
}

const isServed = ({ status, text }: TestAnswer, said: string) =>
  assert.equal(status, 200, `${said}: ${text.slice(0, 300)}`)

const f = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }
const g = { type: 'function', function: { name: 'g', parameters: { type: 'object' } } }
const own = { name: 'own', input_schema: { type: 'object' } }
const search = { type: 'web_search', external_web_access: false }
const claudeSearch = { type: 'web_search_20250305', name: 'web_search', max_uses: 8 }
const space = (...tools: object[]) => ({ type: 'namespace', name: 'n', tools })
const more = (...tools: object[]) => ({ type: 'additional_tools', role: 'developer', tools })
const say = { type: 'message', role: 'user', content: 'hi' }

type Case = readonly [path: string, request: object, ignored: string, sent: object]

const TAKEN_OUT: readonly Case[] = [
  [
    RESPONSES,
    { tools: [f, search], tool_choice: 'auto', parallel_tool_calls: true },
    'tools[1]=web_search',
    { tools: [f], tool_choice: 'auto', parallel_tool_calls: true },
  ],
  [
    RESPONSES,
    { tools: [search], tool_choice: 'auto', parallel_tool_calls: true },
    'tools[0]=web_search',
    { tools: undefined, tool_choice: undefined, parallel_tool_calls: undefined },
  ],
  [
    RESPONSES,
    { tools: [f, search], include: ['web_search_call.results', 'reasoning.encrypted_content'] },
    'tools[1]=web_search',
    { tools: [f], include: ['reasoning.encrypted_content'] },
  ],
  [
    RESPONSES,
    { tools: [space(f, { type: 'file_search' }), space({ type: 'image_generation' }), f] },
    'tools[0].tools[1]=file_search, tools[1].tools[0]=image_generation',
    { tools: [space(f), f] },
  ],
  [
    RESPONSES,
    { tools: [space(space(search), f)] },
    'tools[0].tools[0].tools[0]=web_search',
    { tools: [space(f)] },
  ],
  [
    RESPONSES,
    { input: [more(f, search), more(search), say] },
    'input[0].tools[1]=web_search, input[1].tools[0]=web_search',
    { input: [more(f), say] },
  ],
  [RESPONSES, { tools: [f, { type: 'dream_reader' }] }, 'tools[1]=dream_reader', { tools: [f] }],
  [
    RESPONSES,
    {
      tools: [f, search],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'auto',
        tools: [{ type: 'web_search' }, { type: 'function', name: 'f' }],
      },
    },
    'tools[1]=web_search',
    {
      tools: [f],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'auto',
        tools: [{ type: 'function', name: 'f' }],
      },
    },
  ],
  [
    RESPONSES,
    {
      tools: [f, search],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] },
    },
    'tools[1]=web_search',
    { tools: [f], tool_choice: 'none' },
  ],
  [
    RESPONSES,
    { tools: [f, search], tool_choice: 'required' },
    'tools[1]=web_search',
    { tools: [f], tool_choice: 'required' },
  ],
  [
    RESPONSES,
    { tools: [f, search], tool_choice: { type: 'function', name: 'f' } },
    'tools[1]=web_search',
    { tools: [f], tool_choice: { type: 'function', name: 'f' } },
  ],
  [CHAT, { tools: [g, { type: 'web_search' }] }, 'tools[1]=web_search', { tools: [g] }],
  [
    CHAT,
    { tools: [{ type: 'builtin_function', function: { name: '$web_search' } }, g] },
    'tools[0]=$web_search',
    { tools: [g] },
  ],
  [CHAT, { web_search_options: {} }, 'web_search_options', { web_search_options: undefined }],
  [CHAT, { enable_search: true }, 'enable_search', { enable_search: undefined }],
  [
    CHAT,
    { search_parameters: { mode: 'auto' } },
    'search_parameters',
    { search_parameters: undefined },
  ],
  [
    MESSAGES,
    { tools: [own, claudeSearch], tool_choice: { type: 'any' } },
    'tools[1]=web_search_20250305',
    { tools: [own], tool_choice: { type: 'any' } },
  ],
  [
    MESSAGES,
    { tools: [claudeSearch], tool_choice: { type: 'auto' } },
    'tools[0]=web_search_20250305',
    { tools: undefined, tool_choice: undefined },
  ],
  [
    MESSAGES,
    { tools: [{ type: 'advisor_20260301', name: 'a', model: 'sage' }, own] },
    'tools[0]=advisor_20260301',
    { tools: [own] },
  ],
]

test('a tool that is only offered is taken out and named', async () => {
  for (const [path, request, ignored, expected] of TAKEN_OUT) {
    const said = JSON.stringify(request)
    const answer = await post(path, request)
    isServed(answer, said)
    assert.equal(answer.headers.get(IGNORED), ignored, said)
    const sent = lastSent()
    const names = Object.keys(expected)
    const picked = Object.fromEntries(names.map((name) => [name, sent[name]]))
    assert.deepEqual(picked, expected, said)
    const { review, lines } = await gateway.record(answer, key)
    assert.equal(review, false)
    assert.deepEqual(lines.map(({ unit }) => unit).sort(), ['input_token', 'output_token'])
  }
})

test('the other bytes arrive as they were sent', async () => {
  const body =
    '{ "model" : "plain",\n "tools": [ {"type":"web_search"} , {"type":"function","name":"f",' +
    '"parameters":{"type":"object","x":1.50e0}} ],"input":"caf\\u00e9","temperature":1.0 }'
  const answer = await gateway.fetch(RESPONSES, {
    method: 'POST',
    key,
    headers: { 'content-type': 'application/json' },
    body,
  })
  assert.equal(answer.status, 200)
  const call = gateway.simulators.calls.list().at(-1)
  const sent = Buffer.from(call?.body_base64 ?? '', 'base64').toString()
  const expected = body.replace(' {"type":"web_search"} ,', '').replace('"plain"', '"sim-chat"')
  assert.equal(sent, expected)
})

const call = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: {} }
const ran = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
const execution = { type: 'code_execution_20250825', name: 'code_execution' }

const REFUSED: readonly (readonly [path: string, field: string, request: object])[] = [
  [RESPONSES, 'tools[0].type', { tools: [search], tool_choice: 'required' }],
  [RESPONSES, 'tools[1].type', { tools: [f, search], tool_choice: { type: 'web_search' } }],
  [
    RESPONSES,
    'tools[1].type',
    {
      tools: [f, { type: 'web_search_2025_08_26' }],
      tool_choice: { type: 'web_search_preview' },
    },
  ],
  [
    RESPONSES,
    'tools[1].type',
    {
      tools: [f, search],
      tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'web_search' }] },
    },
  ],
  [RESPONSES, 'tools[1].type', { tools: [f, search], input: [say, call] }],
  [RESPONSES, 'input[0].tools[0].type', { input: [more(search), say], tool_choice: 'required' }],
  [
    RESPONSES,
    'tools[0].type',
    { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }], tool_choice: 'required' },
  ],
  [CHAT, 'tools[0].type', { tools: [{ type: 'web_search' }], tool_choice: 'required' }],
  [CHAT, 'search_parameters', { search_parameters: { mode: 'on' } }],
  [CHAT, 'search_parameters', { search_parameters: { mode: 'ON' } }],
  [CHAT, 'enable_search', { enable_search: 'true', search_options: { forced_search: 'true' } }],
  [CHAT, 'enable_search', { enable_search: true, search_options: { forced_search: true } }],
  [
    CHAT,
    'tools[0].type',
    {
      tools: [{ type: 'builtin_function', function: { name: '$web_search' } }],
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { name: '$web_search' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: '{}' },
      ],
    },
  ],
  [MESSAGES, 'tools[0].type', { tools: [claudeSearch], tool_choice: { type: 'any' } }],
  [
    MESSAGES,
    'tools[1].type',
    { tools: [own, claudeSearch], tool_choice: { type: 'tool', name: 'web_search' } },
  ],
  [
    MESSAGES,
    'tools[0].type',
    {
      tools: [claudeSearch],
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [ran] },
        { role: 'user', content: 'go on' },
      ],
    },
  ],
  [
    MESSAGES,
    'tools[1].type',
    { tools: [{ ...own, allowed_callers: ['code_execution_20250825'] }, execution] },
  ],
  [MESSAGES, 'tools[0].type', { tools: [execution], container: { skills: [] } }],
]

test('a tool that is demanded or was used is refused with what the operator can do', async () => {
  for (const [path, field, request] of REFUSED) {
    const said = JSON.stringify(request)
    const answer = await post(path, request)
    assert.equal(answer.status, 400, `${said}: ${answer.text.slice(0, 300)}`)
    const { message, code, param } = answer.json.error
    assert.equal(param, field, `${said}: ${message}`)
    assert.equal(code, 'not_priced', said)
    assert.match(message, /the operator can add one for '\w+'.*demands it or has used it$/, said)
  }
})

test('a model may refuse whatever has no price', async () => {
  const [first] = plainCatalog().models
  const strict = { ...first, id: 'strict', unpriced_tools: 'refuse' }
  await gateway.apply({ models: [strict] }, 'strict')
  const answer = await gateway.post(RESPONSES, key, {
    model: 'strict',
    input: 'hi',
    tools: [f, search],
  })
  assert.deepEqual([answer.status, answer.json.error.param], [400, 'tools[1].type'])
  await gateway.apply({ models: [{ ...strict, unpriced_tools: 'take_out' }] }, 'strict')
  isServed(
    await gateway.post(RESPONSES, key, { model: 'strict', input: 'hi', tools: [search] }),
    '',
  )
})

test('keys that readers take differently are refused where an item brings tools', async () => {
  const item = '"type":"additional_tools","role":"developer"'
  for (const text of [
    `{${item},"tools":[{"type":"web_search"}],"tools":[]}`,
    `{${item},"tools":[{"type":"web_search","type":"function","name":"f"}]}`,
    `{${item},"tools":[{"type":"web_search"}],"type":"message","content":"","tools":null}`,
    `{${item},"\\u0074ools":[{"type":"web_search"}],"tools":[]}`,
  ]) {
    const body = `{"model":"plain","input":[${text},{"role":"user","content":"hi"}]}`
    const headers = { 'content-type': 'application/json' }
    const answer = await gateway.fetch(RESPONSES, { method: 'POST', key, headers, body })
    assert.equal(answer.status, 400, text)
  }
})
