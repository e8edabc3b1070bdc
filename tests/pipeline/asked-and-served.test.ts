/**
 * Options that a vendor never gets, or does not decide by the request, and the price of a call
 * whose answer says nothing about them.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { type LocalServer, startServer } from '../support/servers/local-server.ts'

const CHAT = '/v1/chat/completions'
const MESSAGES = '/v1/messages'
const RESPONSES = '/v1/responses'
const UNITS = ['input_token', 'cached_input_token', 'output_token'] as const

let gateway: TestGateway
let vendor: LocalServer
let key: string
let answer: object
let sent: string

const pricesOf = (amount: string, when?: object) =>
  UNITS.map((unit) => ({ unit, per: 1, amount, ...(when ? { when } : {}) }))
/** The standard price of a token is 0.1. */
const USUAL = pricesOf('0.1')
const THOUGHTS = [...pricesOf('0.2', { thinking: 'on' }), ...pricesOf('0.05', { thinking: 'off' })]

before(async () => {
  vendor = await startServer((request, response) => {
    const body: Buffer[] = []
    request.on('data', (chunk: Buffer) => body.push(chunk))
    request.on('end', () => {
      sent = JSON.stringify(request.headers) + Buffer.concat(body).toString()
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answer))
    })
  })
  gateway = await startTestGateway()
  const settings = { base_url: vendor.url, api_key: 'a-key' }
  const chat = { base_url: `${vendor.url}/v1`, api_key: 'a-key' }
  const model = (id: string, channel: string, special: object[]) => ({
    id,
    type: 'chat',
    prices: [...special, ...USUAL],
    routes: [{ channel, upstream_model: id }],
  })
  const fast = pricesOf('0.2', { speed: 'fast' })
  const tiers = [
    ...pricesOf('0.05', { service_tier: 'flex' }),
    ...pricesOf('0.2', { service_tier: 'fast' }),
  ]
  const europe = pricesOf('0.11', { region: 'eu' })
  const us = pricesOf('0.11', { region: 'us' })
  const modes = [{ ...USUAL[1], amount: '0.01', when: { cache_mode: 'explicit' } }]
  await gateway.apply({
    currency: 'USD',
    channels: [
      { id: 'chat', upstream: 'openai-compatible', settings: chat },
      {
        id: 'translated',
        upstream: 'openai-compatible',
        settings: { ...chat, responses: 'translate' },
      },
      {
        id: 'fast',
        upstream: 'openai-compatible',
        settings: { ...chat, default_service_tier: 'fast' },
      },
      { id: 'chat-eu', upstream: 'openai-compatible', settings: { ...chat, region: 'eu' } },
      { id: 'claude', upstream: 'anthropic', settings },
      { id: 'claude-eu', upstream: 'anthropic', settings: { ...settings, region: 'eu' } },
      { id: 'gemini', upstream: 'gemini', settings },
    ],
    models: [
      model('chat-speed', 'chat', fast),
      model('claude-speed', 'claude', fast),
      model('chat-eu', 'chat-eu', europe),
      model('claude-eu', 'claude-eu', europe),
      model('tiers', 'chat', tiers),
      model('translated', 'translated', tiers),
      model('fast', 'fast', tiers),
      model('gemini-3-flash', 'gemini', tiers),
      model('modes', 'chat', modes),
      ...['chat', 'claude'].map((id) => model(`${id}-us`, id, us)),
      model('chat-us-cheaper', 'chat', pricesOf('0.05', { region: 'us' })),
      ...['chat', 'claude', 'translated'].map((id) => model(`${id}-thinks`, id, THOUGHTS)),
    ],
  })
  const account = await createAccount(gateway.sql, {
    name: 'test',
    currency: 'USD',
    openingBalanceNanos: 1_000_000_000_000_000n,
    actor: 'test',
  })
  key = (await createKey(gateway.sql, { accountId: account.id })).key
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

const completion = (usage: object = {}) => ({
  choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 6, completion_tokens: 4, ...usage },
})
const message = (usage: object = {}) => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'a' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 6, output_tokens: 4, ...usage },
})
const CONTENTS = {
  candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 6, candidatesTokenCount: 4, totalTokenCount: 10 },
}

/** Sends a call of 10 tokens. Returns what it is charged and what was held for it. */
async function call(path: string, model: string, more: object, answered: object) {
  answer = answered
  const input =
    path === RESPONSES
      ? { input: 'hi', max_output_tokens: 100 }
      : { max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }
  const version = { 'anthropic-version': '2023-06-01' }
  const reply = await gateway.post(path, key, { model, ...input, ...more }, version)
  assert.equal(reply.status, 200, reply.text)
  const { charged, held, review } = await gateway.record(reply, key)
  assert.equal(review, false)
  return { charged: Number(charged), held: Number(held) }
}

const FAST = { speed: 'fast' }
const GLOBAL = { inference_geo: 'global' }
const US = { inference_geo: 'us' }
const ENABLED = { thinking: { type: 'enabled', budget_tokens: 1024 } }
const ON = { enable_thinking: true }
const OFF = { enable_thinking: false }
const SILENT_GEO = message({ inference_geo: 'not_available' })
for (const [name, path, model, more, answered, charged, leastHeld] of [
  ['a speed that reaches the vendor', MESSAGES, 'claude-speed', FAST, message(), 2, 20],
  ['speed, chat over messages', CHAT, 'claude-speed', FAST, message(), 1, 10],
  ['speed, responses over messages', RESPONSES, 'claude-speed', FAST, message(), 1, 10],
  ['speed, messages over chat', MESSAGES, 'chat-speed', FAST, completion(), 1, 10],
  ['a speed in a dialect without one', CHAT, 'chat-speed', FAST, completion(), 1, 20],
  ['a region in a dialect without one', CHAT, 'chat-us', US, completion(), 1, 11],
  ['a cheaper one there', CHAT, 'chat-us-cheaper', US, completion(), 1, 10],
  ['a region that the vendor reads', MESSAGES, 'claude-us', US, message(), 1.1, 11],
  ['thinking that the vendor reads', CHAT, 'chat-thinks', ON, completion(), 2, 20],
  ['thinking by a word', CHAT, 'chat-thinks', { enable_thinking: 'True' }, completion(), 2, 20],
  ['thinking by a number', CHAT, 'chat-thinks', { enable_thinking: 1 }, completion(), 2, 20],
  ['no thinking by a number', CHAT, 'chat-thinks', { enable_thinking: 0 }, completion(), 0.5, 5],
  ['thinking by a word that is not sent', MESSAGES, 'chat-thinks', ON, completion(), 1, 20],
  ['thinking, messages over chat', MESSAGES, 'chat-thinks', ENABLED, completion(), 2, 20],
  ['no thinking by a word that is not sent', CHAT, 'claude-thinks', OFF, message(), 1, 10],
  ['thinking, chat over messages', CHAT, 'claude-thinks', ENABLED, message(), 2, 20],
  [
    'no thinking by one word, and thinking by the one that is sent',
    RESPONSES,
    'translated-thinks',
    { ...OFF, reasoning: { effort: 'high' } },
    completion(),
    2,
    20,
  ],
  ['a region at a vendor that reads none', CHAT, 'chat-eu', GLOBAL, completion(), 1.1, 11],
  ['a region, chat over messages', CHAT, 'claude-eu', GLOBAL, SILENT_GEO, 1.1, 11],
  [
    'a region that the answer states',
    MESSAGES,
    'claude-eu',
    GLOBAL,
    message({ inference_geo: 'global' }),
    1,
    11,
  ],
  [
    'the standard tier, left to an account that has another',
    MESSAGES,
    'fast',
    { service_tier: 'standard_only' },
    completion(),
    2,
    20,
  ],
  [
    'the standard tier, named to such an account',
    CHAT,
    'fast',
    { service_tier: 'default' },
    completion(),
    1,
    10,
  ],
] as const) {
  test(`charged as served: ${name}`, async () => {
    const found = await call(path, model, more, answered)
    assert.equal(found.charged, charged)
    assert.ok(found.held >= leastHeld, `held ${found.held}`)
  })
}

for (const [path, model, answered] of [
  [CHAT, 'tiers', completion()],
  [MESSAGES, 'tiers', completion()],
  [RESPONSES, 'translated', completion()],
  [MESSAGES, 'gemini-3-flash', CONTENTS],
  [CHAT, 'gemini-3-flash', CONTENTS],
] as const) {
  test(`a tier that prices a silent answer was asked of the vendor: ${path} ${model}`, async () => {
    for (const tier of path === CHAT ? ['flex'] : ['flex', ' flex']) {
      const { charged } = await call(path, model, { service_tier: tier }, answered)
      assert.equal(charged, 0.5)
      assert.match(sent, /"(?:service_tier|serviceTier)":"flex"/)
    }
  })
}

test('reads from a cache are explicit where the answer says so, not where a mark stands', async () => {
  const reads = (details: object) =>
    completion({ prompt_tokens_details: { cached_tokens: 5, ...details } })
  const charge = async (answered: object) =>
    (await call(CHAT, 'modes', { cache_control: {} }, answered)).charged
  assert.equal(await charge(reads({})), 1)
  assert.equal(await charge(reads({ cache_type: 'ephemeral' })), 0.55)
})
