/**
 * The leverage of open calls: however many an account begins at once, what they may owe beyond its
 * balance is what one call may cost. The vendor bills the whole window for each.
 */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { startTestGateway, type Tenant, type TestGateway } from '../../support/in-process.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'
import { until } from '../../support/until.ts'

const CHAT = '/v1/chat/completions'
const RESPONSES = '/v1/responses'
const WINDOW = 128_000
const NANOS = 1_000_000_000n
/** What the vendor bills for each call: its window at 0.001 a token. */
const BILL = 128n * NANOS

let gateway: TestGateway
let vendor: LocalServer
/** Calls that wait for their answers; undefined: all are answered at once. */
let waiting: ServerResponse[] | undefined

const usage = { prompt_tokens: WINDOW, completion_tokens: 0, total_tokens: WINDOW }
const choice = { index: 0, message: { content: 'a' }, finish_reason: 'stop' }

function answer(response: ServerResponse): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ choices: [choice], usage }))
}

before(async () => {
  vendor = await startServer((request, response) => {
    request.resume().on('end', () => {
      if (waiting) waiting.push(response)
      else answer(response)
    })
  })
  gateway = await startTestGateway()
  const settings = { base_url: `${vendor.url}/v1`, api_key: 'a-key', stored_ids: 'any' }
  const prices = [
    { unit: 'input_token', per: 1, amount: '0.001' },
    { unit: 'output_token', per: 1, amount: '0' },
  ]
  await gateway.apply({
    channels: [{ id: 'one', upstream: 'openai-compatible', settings }],
    models: [
      {
        id: 'm',
        type: 'chat',
        prices,
        limits: { max_input_tokens: WINDOW },
        routes: [{ channel: 'one', upstream_model: 'm' }],
      },
      {
        id: 'searching',
        type: 'chat',
        prices: [
          { unit: 'input_token', per: 1, amount: '0' },
          { unit: 'output_token', per: 1, amount: '0' },
          { unit: 'web_search_call', per: 1, amount: '1' },
        ],
        routes: [{ channel: 'one', upstream_model: 'm' }],
      },
    ],
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

const document = { type: 'file', file: { file_id: 'file-1' } }
const openCall = { model: 'm', messages: [{ role: 'user', content: [document] }] }

/** Begins calls at once, answers them once the others are refused, and counts the answers. */
async function burst({ key }: Tenant, calls: number, body: object = openCall, path = CHAT) {
  waiting = []
  const answers = Array.from({ length: calls }, () => gateway.post(path, key, body))
  const refused: unknown[] = []
  for (const one of answers) {
    void one.then((reply) => reply.status === 200 || refused.push(reply))
  }
  await until('all to be sent or refused', () => {
    return (waiting ?? []).length + refused.length === calls || undefined
  })
  const begun = waiting
  waiting = undefined
  for (const response of begun) answer(response)
  const replies = await Promise.all(answers)
  const served = replies.filter(({ status }) => status === 200)
  const others = replies.filter(({ status }) => status !== 200)
  return { served: served.length, others }
}

test('40 calls at once on a small balance: one is served, the others may come again', async () => {
  const tenant = await gateway.tenant({ balance: '2' })
  const { served, others } = await burst(tenant, 40)
  assert.equal(served, 1)
  for (const reply of others) {
    assert.equal(reply.status, 429, reply.text)
    assert.equal(reply.json.error.code, 'input_not_covered')
    assert.equal(reply.headers.get('retry-after'), '1')
  }
  const { available, debt, held } = await gateway.balance(tenant.accountId)
  assert.deepEqual({ available, debt, held }, { available: 0n, debt: BILL - 2n * NANOS, held: 0n })
})

test('as many at once as the balance covers are served, to the last', async () => {
  const tenant = await gateway.tenant({ balance: '1000' })
  const { served } = await burst(tenant, 20)
  assert.equal(served, 7, '7 windows of 128 fit into 1,000')
  const { available, debt } = await gateway.balance(tenant.accountId)
  assert.deepEqual({ available, debt }, { available: 1_000n * NANOS - 7n * BILL, debt: 0n })
})

test('one after the other, and beside calls whose input is all in the body', async () => {
  const tenant = await gateway.tenant({ balance: '500' })
  for (let turn = 0; turn < 3; turn += 1) {
    assert.equal((await gateway.post(CHAT, tenant.key, openCall)).status, 200)
  }
  const plain = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
  const poor = await gateway.tenant({ balance: '2' })
  waiting = []
  const running = gateway.post(CHAT, poor.key, openCall)
  await until('the first to be sent', () => waiting?.length === 1 || undefined)
  const beside = [1, 2, 3].map(() => gateway.post(CHAT, poor.key, plain))
  await until('all to be sent', () => waiting?.length === 4 || undefined)
  const begun = waiting
  waiting = undefined
  for (const response of begun) answer(response)
  for (const reply of await Promise.all([running, ...beside])) assert.equal(reply.status, 200)
})

test('searches without a limit are covered as far as a vendor may go, others as held', async () => {
  const search = { type: 'web_search' }
  const messages = [{ role: 'user', content: 'hi' }]
  for (const [tool, expected] of [
    [search, 1],
    [{ ...search, max_uses: 3 }, 10],
  ] as const) {
    const tenant = await gateway.tenant({ balance: '50' })
    const body = { model: 'searching', messages, tools: [tool] }
    const { served, others } = await burst(tenant, 10, body)
    assert.equal(served, expected, JSON.stringify(others[0]?.json))
    for (const { json } of others) assert.equal(json.error.code, 'input_not_covered')
  }
})

test('background responses are bounded with the calls', async () => {
  const tenant = await gateway.tenant({ balance: '2' })
  waiting = []
  const running = gateway.post(CHAT, tenant.key, openCall)
  await until('the call to be sent', () => waiting?.length === 1 || undefined)
  const content = [{ type: 'input_file', file_id: 'file-1' }]
  const task = { model: 'm', background: true, input: [{ role: 'user', content }] }
  const reply = await gateway.post(RESPONSES, tenant.key, task)
  assert.equal(reply.status, 429, reply.text)
  assert.equal(reply.json.error.code, 'input_not_covered')
  const begun = waiting
  waiting = undefined
  for (const response of begun) answer(response)
  await running
})
