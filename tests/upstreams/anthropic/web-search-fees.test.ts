/** Searches of a messages vendor for callers of chat and responses: sold, or left out by name. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { readBody, startServer } from '../../support/servers/local-server.ts'

const CHAT = '/v1/chat/completions'
const RESPONSES = '/v1/responses'
const IGNORED = 'x-tributary-ignored'
const SEARCH = { type: 'web_search' }
let gateway: TestGateway
let searches = 0
const sent: { tools?: unknown }[] = []

const vendor = await startServer(async (request, response) => {
  const body = await readBody(request)
  sent.push(JSON.parse(body))
  const usage = {
    input_tokens: 10,
    output_tokens: 10,
    server_tool_use: { web_search_requests: searches },
  }
  const content = [{ type: 'text', text: 'ok' }]
  const message = { type: 'message', role: 'assistant', content, stop_reason: 'end_turn', usage }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(message))
})

before(async () => {
  gateway = await startTestGateway()
  const price = (unit: string, amount: string) => ({ unit, per: 1, amount })
  const tokens = [price('input_token', '0'), price('output_token', '0')]
  const model = (id: string, prices: object[]) => {
    const routes = [{ channel: 'searcher', upstream_model: 'claude' }]
    return { id, type: 'chat', prices, routes, limits: { max_output_tokens: 100 } }
  }
  await gateway.apply({
    channels: [
      {
        id: 'searcher',
        upstream: 'anthropic',
        settings: { base_url: vendor.url, api_key: 'k' },
      },
    ],
    models: [
      model('searching', [...tokens, price('web_search_call', '0.01')]),
      model('silent', tokens),
    ],
  })
})
after(async () => {
  await vendor.stop()
  await gateway.stop()
})
beforeEach(() => {
  sent.length = 0
  searches = 0
})

const toolTypes = () =>
  sent.flatMap(({ tools }) => (Array.isArray(tools) ? tools.map(({ type }) => type) : []))

test('each search is held for and charged, by the vendor’s count', async () => {
  const { key } = await gateway.tenant()
  const messages = [{ role: 'user', content: 'hi' }]
  for (const [path, body, held] of [
    [RESPONSES, { input: 'hi', tools: [SEARCH] }, '0.05'],
    [RESPONSES, { input: 'hi', tools: [SEARCH], max_tool_calls: 7 }, '0.07'],
    [CHAT, { messages, web_search_options: {} }, '0.05'],
    [CHAT, { messages, web_search_options: { max_uses: 3 } }, '0.03'],
  ] as const) {
    searches = 2
    const answer = await gateway.post(path, key, { model: 'searching', ...body })
    assert.equal(answer.status, 200, answer.text)
    const record = await gateway.record(answer, key)
    assert.deepEqual([record.held, record.charged], [held, '0.02'])
    assert.equal(answer.headers.get(IGNORED), null)
  }
  assert.deepEqual(toolTypes(), Array(4).fill('web_search_20250305'))
})

test('a model without a price for it gets no search: left out by name', async () => {
  const { key } = await gateway.tenant()
  const tools = [SEARCH]
  const answer = await gateway.post(RESPONSES, key, { model: 'silent', input: 'hi', tools })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers.get(IGNORED), 'tools[0]=web_search')
  assert.equal((await gateway.record(answer, key)).charged, '0')
  const asked = { messages: [{ role: 'user', content: 'hi' }], web_search_options: {} }
  const chat = await gateway.post(CHAT, key, { model: 'silent', ...asked })
  assert.deepEqual([chat.status, chat.headers.get(IGNORED)], [200, 'web_search_options'])
  assert.deepEqual([sent.length, toolTypes()], [2, []])
})

test('an account that cannot pay for the searches does not get one', async () => {
  const poor = await gateway.tenant({ balance: '0.045' })
  const body = { model: 'searching', input: 'hi', tools: [SEARCH] }
  assert.equal((await gateway.post(RESPONSES, poor.key, body)).status, 402)
  for (const other of [{ Tools: [SEARCH] }, { tools: [{ ...SEARCH, Max_Uses: 1 }] }]) {
    const answer = await gateway.post(RESPONSES, poor.key, { ...body, ...other })
    assert.equal(answer.status, 400, answer.text)
  }
  assert.deepEqual(sent, [])
})
