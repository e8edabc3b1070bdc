/**
 * Several accounts share a vendor's account: each may name what this gateway gave to it, and
 * nothing else. The vendor of this test stores what it answers, and notes what reaches it.
 */
import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { after, before, test } from 'node:test'
import { startTestGateway, type Tenant, type TestGateway } from '../../../support/in-process.ts'
import { type LocalServer, startServer } from '../../../support/servers/local-server.ts'
import { until } from '../../../support/until.ts'

const RESPONSES = '/v1/responses'
const CHAT = '/v1/chat/completions'
const MESSAGES = '/v1/messages'
const COMPACT = '/v1/responses/compact'
/** The window of each model, and what the vendor states of each answer. */
const WINDOW = 500_000
const INPUT = 90_000
const OUTPUT = 40_000

let gateway: TestGateway
let vendor: LocalServer
let owner: Tenant
let stranger: Tenant
let answered = 0
/** The bodies that reached the vendor, with the port's channel. */
const arrived: { readonly channel: string; readonly body: string }[] = []

const usage = { input_tokens: INPUT, output_tokens: OUTPUT, total_tokens: INPUT + OUTPUT }

function responseOf(number: number, status = 'completed') {
  const output = [
    { type: 'reasoning', id: `rs_${number}`, summary: [] },
    { type: 'code_interpreter_call', id: `ci_${number}`, container_id: `cntr_${number}`, code: '' },
    {
      type: 'message',
      id: `msg_${number}`,
      role: 'assistant',
      content: [{ type: 'output_text', text: 'a' }],
    },
  ]
  return { id: `resp_${number}`, object: 'response', status, output, usage }
}

function chatOf(number: number) {
  const message = { role: 'assistant', content: 'a', audio: { id: `audio_${number}` } }
  const tokens = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  return { choices: [{ index: 0, message, finish_reason: 'stop' }], usage: tokens }
}

function messageOf(number: number) {
  const content = [{ type: 'text', text: 'a' }]
  const container = { id: `container_${number}` }
  return { type: 'message', role: 'assistant', content, usage, container }
}

function eventsOf(number: number): string {
  const { output, ...begun } = responseOf(number, 'in_progress')
  const events = [
    { type: 'response.created', response: { ...begun, output: [] } },
    ...output.map((item) => ({ type: 'response.output_item.added', item: { ...item } })),
    { type: 'response.output_text.delta', delta: 'a' },
    ...output.map((item) => ({ type: 'response.output_item.done', item })),
    // As one that is too large to be held: its output is not read.
    { type: 'response.completed', response: { ...responseOf(number), output: [] } },
  ]
  return events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join('')
}

async function readAll(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}

before(async () => {
  vendor = await startServer(async (request, response) => {
    const [, channel = '', ...rest] = (request.url ?? '').split('/')
    const path = `/${rest.join('/')}`
    const text = await readAll(request)
    const polled = /\/responses\/resp_(\d+)/.exec(path)?.[1]
    const body = text === '' ? {} : JSON.parse(text)
    if (polled === undefined) {
      arrived.push({ channel, body: text })
      answered += 1
    }
    response.setHeader('content-type', body.stream ? 'text/event-stream' : 'application/json')
    if (polled !== undefined) response.end(JSON.stringify(responseOf(Number(polled))))
    else if (path.endsWith('/messages')) response.end(JSON.stringify(messageOf(answered)))
    else if (path.endsWith('/completions')) response.end(JSON.stringify(chatOf(answered)))
    else if (body.background) response.end(JSON.stringify(responseOf(answered, 'queued')))
    else response.end(body.stream ? eventsOf(answered) : JSON.stringify(responseOf(answered)))
  })
  gateway = await startTestGateway({ TASK_POLL_MS: '20' })
  const channel = (id: string, upstream = 'openai-compatible', more = {}) => ({
    id,
    upstream,
    settings: { base_url: `${vendor.url}/${id}/v1`, api_key: 'a-key', ...more },
  })
  const units = ['input_token', 'output_token', 'container_minute', 'file_search_call']
  const model = (id: string, channels: readonly string[]) => ({
    id,
    type: 'chat',
    prices: units.map((unit) => ({ unit, per: 1, amount: '0.000000001' })),
    limits: { max_input_tokens: WINDOW },
    routes: channels.map((name) => ({ channel: name, upstream_model: id })),
  })
  await gateway.apply({
    channels: [
      channel('one'),
      channel('two'),
      channel('claude', 'anthropic'),
      channel('open', 'openai-compatible', { stored_ids: 'any' }),
    ],
    models: [
      model('gpt', ['one']),
      model('both', ['two', 'one']),
      model('claude', ['claude']),
      model('shared', ['open']),
      model('half', ['one', 'open']),
    ],
  })
  owner = await gateway.tenant()
  stranger = await gateway.tenant()
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

const VERSION = { 'anthropic-version': '2023-06-01' }
const post = (path: string, { key }: Tenant, body: object) => {
  return gateway.post(path, key, body, VERSION)
}
const user = { role: 'user', content: 'hi' }
const search = { type: 'file_search', vector_store_ids: ['vs_1'] }
const code = (container: unknown) => ({ type: 'code_interpreter', container })

/** Creates an answer of the owner's, and returns its number at the vendor. */
async function create(body: object = {}, path = RESPONSES): Promise<number> {
  const reply = await post(path, owner, { model: 'gpt', input: 'hi', ...body })
  assert.equal(reply.status, 200, reply.text)
  return answered
}

const ask = (items: readonly object[], more: object = {}) => ({
  model: 'gpt',
  input: [...items, user],
  ...more,
})

test('what another account has is a 400 that names the field, and nothing is sent', async () => {
  const number = await create()
  const cases: readonly (readonly [string, object, string])[] = [
    [RESPONSES, ask([{ type: 'item_reference', id: `msg_${number}` }]), 'input[0].id'],
    [RESPONSES, ask([{ id: `msg_${number}` }]), 'input[0].id'],
    [RESPONSES, ask([{ type: null, id: `rs_${number}` }]), 'input[0].id'],
    [RESPONSES, ask([{ type: 'reasoning', id: `rs_${number}`, summary: [] }]), 'input[0].id'],
    [RESPONSES, ask([{ type: 'message', id: `msg_${number}` }], { store: false }), 'input[0].id'],
    [COMPACT, ask([{ type: 'item_reference', id: `msg_${number}` }]), 'input[0].id'],
    [RESPONSES, ask([], { conversation: 'conv_1' }), 'conversation'],
    [RESPONSES, ask([], { prompt: { id: 'pmpt_1' } }), 'prompt.id'],
    [RESPONSES, ask([], { tools: [search] }), 'tools[0].vector_store_ids[0]'],
    [RESPONSES, ask([], { tools: [code(`cntr_${number}`)] }), 'tools[0].container'],
    [
      RESPONSES,
      ask([{ ...user, content: [{ type: 'input_file', file_id: 'file-1' }] }]),
      'input[0].content[0].file_id',
    ],
    [
      CHAT,
      {
        model: 'gpt',
        messages: [{ ...user, content: [{ type: 'file', file: { file_id: 'file-1' } }] }],
      },
      'messages[0].content[0].file.file_id',
    ],
    [
      CHAT,
      { model: 'gpt', messages: [{ role: 'assistant', audio: { id: 'audio_1' } }, user] },
      'messages[0].audio.id',
    ],
    [MESSAGES, { model: 'claude', max_tokens: 9, messages: [user], container: 'c' }, 'container'],
  ]
  const before = arrived.length
  for (const [path, body, field] of cases) {
    for (const stream of path === COMPACT ? [undefined] : [undefined, true]) {
      const reply = await post(path, stranger, { ...body, ...(stream ? { stream } : {}) })
      assert.equal(reply.status, 400, `${path} ${field}: ${reply.text}`)
      assert.match(reply.json.error.message, /not stored for this account/)
      assert.ok(reply.json.error.message.startsWith(`${field}: `), reply.text)
      if (path !== MESSAGES) assert.equal(reply.json.error.param, field)
    }
  }
  const inBackground = ask([{ type: 'item_reference', id: `msg_${number}` }], { background: true })
  assert.equal((await post(RESPONSES, stranger, inBackground)).status, 400)
  assert.equal(arrived.length, before, 'the vendor was not asked')
  const { data } = (await gateway.get('/v1/usage', stranger.key)).json
  assert.deepEqual(data, [])
})

for (const how of ['whole', 'stream', 'background'] as const) {
  test(`items, reasoning and containers of an own answer can be named: ${how}`, async () => {
    const number = await create({ [how]: how !== 'whole', stream: how === 'stream' })
    const names = [`msg_${number}`, `rs_${number}`, `ci_${number}`, `cntr_${number}`]
    await until('the answer to be remembered', async () => {
      const rows = await gateway.sql`select id from stored_item where id = any (${names})`
      return rows.length === names.length || undefined
    })
    const items = [
      { type: 'reasoning', id: `rs_${number}`, summary: [] },
      { type: 'item_reference', id: `ci_${number}` },
      { id: `msg_${number}` },
    ]
    const body = ask(items, { tools: [code(`cntr_${number}`)], model: 'both' })
    const reply = await post(RESPONSES, owner, body)
    assert.equal(reply.status, 200, reply.text)
    assert.equal(arrived.at(-1)?.channel, 'one', 'where they are stored')
    assert.deepEqual(JSON.parse(arrived.at(-1)?.body ?? '').input, body.input)
    assert.equal((await post(RESPONSES, stranger, body)).status, 400)
  })
}

test('the hold covers what is named once for each answer, and the charge is as stated', async () => {
  const numbers = [await create(), await create()]
  const items = numbers.flatMap((number) => [
    { type: 'reasoning', id: `rs_${number}`, summary: [] },
    { type: 'item_reference', id: `msg_${number}` },
  ])
  const reply = await post(RESPONSES, owner, ask(items, { max_output_tokens: 16 }))
  const record = await gateway.record(reply, owner.key)
  const quantity = (unit: string) => record.lines.find((line) => line.unit === unit)?.quantity
  assert.equal(quantity('input_token'), INPUT)
  assert.equal(quantity('output_token'), OUTPUT)
  assert.equal(record.review, false)
  const [row] = await gateway.sql<{ estimate: Record<string, number> }[]>`
    select estimate from hold where request_id = ${record.request_id}`
  const held = row?.estimate.input_token ?? 0
  assert.ok(held >= 2 * OUTPUT && held < 2 * OUTPUT + 200, `held for ${held} tokens`)
})

test('an item in the body whole goes without an id that its account does not have', async () => {
  const number = await create()
  const own = { type: 'message', role: 'assistant', id: `msg_${number}`, content: 'a' }
  const sealed = { type: 'reasoning', id: 'rs_other', summary: [], encrypted_content: 'gA "x"' }
  const call = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}' }
  const output = { type: 'function_call_output', call_id: 'c', output: '' }
  const sent = async (tenant: Tenant, more: object) => {
    const reply = await post(RESPONSES, tenant, ask([own, sealed, call, output], more))
    assert.equal(reply.status, 200, reply.text)
    return JSON.parse(arrived.at(-1)?.body ?? '').input
  }
  const bare = (item: object) =>
    Object.fromEntries(Object.entries(item).filter(([n]) => n !== 'id'))
  const none = [bare(own), bare(sealed), bare(call), output, user]
  assert.deepEqual(await sent(stranger, {}), none)
  assert.deepEqual(await sent(stranger, { store: false }), none)
  assert.deepEqual(await sent(owner, {}), [own, bare(sealed), bare(call), output, user])
  assert.deepEqual(await sent(owner, { store: false }), [
    own,
    bare(sealed),
    bare(call),
    output,
    user,
  ])
  assert.deepEqual(await sent(stranger, { model: 'shared' }), [own, sealed, call, output, user])
  const odd = [7, { a: 1 }, [], true].map((id) => ({ ...own, id }))
  assert.equal((await post(RESPONSES, owner, ask(odd))).status, 200)
  const { input } = JSON.parse(arrived.at(-1)?.body ?? '')
  assert.ok(input.every((item: object) => !('id' in item)))
})

test('what an account was given goes back as it is, also where the vendor stores nothing', async () => {
  const number = await create({ store: false })
  const items = [
    { type: 'reasoning', id: `rs_${number}`, summary: [], encrypted_content: 'gA "x"' },
    { type: 'message', role: 'assistant', id: `msg_${number}`, content: 'a' },
  ]
  const text = `{"model": "gpt", "store":false,\n "input" : ${JSON.stringify([...items, user])} }`
  const headers = { 'content-type': 'application/json' }
  const sent = { method: 'POST', key: owner.key, headers, body: text }
  const reply = await gateway.fetch(RESPONSES, sent)
  assert.equal(reply.status, 200)
  await reply.text()
  assert.equal(arrived.at(-1)?.body, text, 'every byte')
})

test('a spoken answer and a container can be named again by their account alone', async () => {
  const spoken = await create({ messages: [user], input: undefined }, CHAT)
  const again = [{ role: 'assistant', audio: { id: `audio_${spoken}` } }, user]
  assert.equal((await post(CHAT, owner, { model: 'gpt', messages: again })).status, 200)
  assert.equal((await post(CHAT, stranger, { model: 'gpt', messages: again })).status, 400)
  const request = { model: 'claude', max_tokens: 9, messages: [user] }
  const used = await create({ ...request, input: undefined }, MESSAGES)
  const body = { ...request, container: `container_${used}` }
  assert.equal((await post(MESSAGES, owner, body)).status, 200)
  assert.equal((await post(MESSAGES, stranger, body)).status, 400)
})

test('a channel whose content all callers share takes any id, alone among several', async () => {
  const named = ask([{ type: 'item_reference', id: 'msg_of_anybody' }], { conversation: 'conv_1' })
  for (const model of ['shared', 'half']) {
    const reply = await post(RESPONSES, stranger, { ...named, model })
    assert.equal(reply.status, 200, reply.text)
    assert.equal(arrived.at(-1)?.channel, 'open')
  }
  const continued = { model: 'shared', input: 'hi', previous_response_id: 'resp_of_anybody' }
  assert.equal((await post(RESPONSES, stranger, continued)).status, 200)
  assert.equal((await post(RESPONSES, stranger, { ...continued, model: 'gpt' })).status, 400)
})

test('what is named of two channels is at neither', async () => {
  const one = await create()
  const [row] = await gateway.sql`
    update stored_item set channel_id = 'two' where id = ${`rs_${one}`} returning id`
  assert.ok(row)
  const items = [{ type: 'reasoning', id: `rs_${one}` }, { id: `msg_${one}` }]
  const reply = await post(RESPONSES, owner, ask(items, { model: 'both' }))
  assert.equal(reply.status, 400, reply.text)
})
