/** The key of a channel: absent, in another header, refused in other vendors' words. */
import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { startServer } from '../support/servers/local-server.ts'

const CHAT = '/v1/chat/completions'
let gateway: TestGateway
let seen: IncomingHttpHeaders = {}
let refusal: { readonly status: number; readonly body: string } | undefined

const vendor = await startServer((request, response) => {
  seen = request.headers
  request.resume()
  request.once('end', () => {
    const { status, body } = refusal ?? { status: 200, body: JSON.stringify(ANSWER) }
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
})

const ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

before(async () => {
  gateway = await startTestGateway()
  const channel = (id: string, more: object, upstream = 'openai-compatible') => ({
    id,
    upstream,
    settings: { base_url: `${vendor.url}/v1`, ...more },
  })
  const channels = [
    channel('keyless', {}),
    channel('bearer', { api_key: 'k-1' }),
    channel('own-header', { api_key: 'k-2', auth: 'api-key' }),
    channel('messages-bearer', { api_key: 'k-3', auth: 'bearer' }, 'anthropic'),
    channel('messages-keyless', {}, 'anthropic'),
  ]
  await gateway.apply({
    channels,
    models: channels.map(({ id }) => ({ id, type: 'chat', free: true, routes: [{ channel: id }] })),
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

const ask = (model: string) => ({ model, messages: [{ role: 'user', content: 'hi' }] })

for (const [model, sent] of [
  ['keyless', {}],
  ['bearer', { authorization: 'Bearer k-1' }],
  ['own-header', { 'api-key': 'k-2' }],
  ['messages-bearer', { authorization: 'Bearer k-3' }],
  ['messages-keyless', {}],
] as const) {
  test(`the key of ${model} is sent where its vendor reads it`, async () => {
    const { key } = await gateway.tenant()
    const answer = await gateway.post(CHAT, key, ask(model))
    if (!model.startsWith('messages')) assert.equal(answer.status, 200, answer.text)
    const names = ['authorization', 'x-api-key', 'api-key']
    const found = names.flatMap((name) => (name in seen ? [[name, seen[name]]] : []))
    assert.deepEqual(Object.fromEntries(found), sent)
  })
}

const REFUSALS: readonly (readonly [string, number, object | string, number])[] = [
  ['no money, nested', 429, { error: { type: 'exceeded_current_quota_error', message: 'm' } }, 502],
  ['no money, by number', 429, { error: { code: '1113', message: 'arrears' } }, 502],
  ['no money, at the top', 403, { code: 30001, message: 'balance', data: null }, 502],
  ['no money, in a word', 400, { code: 'Arrearage', message: 'overdue', request_id: 'r' }, 502],
  ['no such model, by number', 400, { code: 20012, message: 'Model does not exist' }, 502],
  ['busy, by number', 400, { error: { code: '1305', message: 'busy' } }, 502],
  ['a mistake, at the top', 422, { object: 'error', message: 'extra inputs', code: '3210' }, 400],
  ['a mistake, as text', 400, { error: 'context too long', code: 'bad' }, 400],
  ['a mistake, as detail', 400, { detail: 'tool_choice is not known' }, 400],
  ['a wrong key, in a list', 400, [{ error: { code: 400, message: 'API key not valid.' } }], 502],
]

for (const [name, status, body, expected] of REFUSALS) {
  test(`a refusal is classified whatever its form: ${name}`, async () => {
    const { key, accountId } = await gateway.tenant()
    refusal = { status, body: JSON.stringify(body) }
    const answer = await gateway.post(CHAT, key, ask('bearer'))
    refusal = undefined
    assert.equal(answer.status, expected, answer.text)
    const words = /extra inputs|context too long|tool_choice is not known/
    if (expected < 500) assert.match(answer.text, words)
    assert.equal((await gateway.balance(accountId)).held, 0n)
  })
}

test('what a validator objects to is named by its place', async () => {
  const { key } = await gateway.tenant()
  const detail = [{ loc: ['body', 'messages', 0], msg: 'extra fields not permitted' }]
  for (const body of [{ detail }, { object: 'error', message: { detail } }]) {
    refusal = { status: 422, body: JSON.stringify(body) }
    const answer = await gateway.post(CHAT, key, ask('bearer'))
    assert.equal(answer.json.error.message, 'messages.0: extra fields not permitted')
  }
})
