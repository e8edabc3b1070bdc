/** Options without a price at a model are refused with their field, before a hold is taken. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

const CHAT = '/v1/chat/completions'
const RESPONSES = '/v1/responses'
const MESSAGES = '/v1/messages'
const SAY = [{ role: 'user', content: 'hi' }]
const BETA = 'anthropic-beta'

type Case = readonly [path: string, field: string, more: object, headers?: Record<string, string>]

const bodyOf = (path: string, more: object) => {
  if (path === RESPONSES) return { model: 'sim-chat', input: 'hi', ...more }
  const model = path === MESSAGES ? 'sim-claude' : 'sim-chat'
  return { model, max_tokens: 20, messages: SAY, ...more }
}
const headersOf = (path: string, more: Record<string, string> = {}) =>
  path === MESSAGES ? { 'anthropic-version': '2023-06-01', ...more } : more

const block = (control: object) => [
  { role: 'user', content: [{ type: 'text', text: 'hi', cache_control: control }] },
]
const PLACE = 'messages[0].content[0]'
const long = { type: 'ephemeral', ttl: '1h' }

const REFUSED: readonly Case[] = [
  ...[CHAT, RESPONSES, MESSAGES].flatMap((path): Case[] => [
    [path, 'service_tier', { service_tier: 'priority' }],
    [path, 'service_tier', { service_tier: 'flex' }],
    [path, 'service_tier', { service_tier: 'TURBO' }],
    [path, 'service_tier', { service_tier: 7 }],
    [path, 'speed', { speed: 'fast' }],
    [path, 'inference_geo', { inference_geo: 'us' }],
  ]),
  [CHAT, 'tools[0].type', { tools: [{ googleSearch: {} }] }],
  [CHAT, 'plugins[0].id', { plugins: [{ id: 'file-parser' }] }],
  [CHAT, 'models[0]', { models: ['another'] }],
  [CHAT, 'modalities', { modalities: ['text', 'audio'], audio: { voice: 'a', format: 'wav' } }],
  [
    CHAT,
    'messages[0].content[0].type',
    {
      messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA' } }] }],
    },
  ],
  [
    RESPONSES,
    'tools[1].type',
    {
      tools: [{ type: 'web_search' }, { type: 'image_generation' }],
      tool_choice: { type: 'image_generation' },
    },
  ],
  [RESPONSES, 'tools[0].type', { tools: [{ type: 'function', Type: 'web_search', name: 'f' }] }],
  ...[{ Tools: [] }, { tools: {} }, { tools: ['web_search'] }].map((item): Case => {
    const field = `input[0].${Object.keys(item)[0]}${Array.isArray(item.tools) ? '[0]' : ''}`
    return [RESPONSES, field, { input: [{ type: 'additional_tools', ...item }] }]
  }),
  ...[CHAT, RESPONSES, MESSAGES].flatMap((path): Case[] => [
    [path, 'tools', { tools: { type: 'web_search' } }],
    [path, 'tools[0]', { tools: ['web_search'] }],
  ]),
  [RESPONSES, 'prompt_cache_options.ttl', { prompt_cache_options: { ttl: '1h' } }],
  [
    MESSAGES,
    'tools[0].type',
    {
      tools: [{ type: 'code_execution_20250825', name: 'code_execution' }],
      tool_choice: { type: 'any' },
    },
  ],
  [MESSAGES, 'fallbacks[0].model', { fallbacks: [{ model: 'another' }] }],
  [MESSAGES, 'messages[0].content[0].cache_control.ttl', { messages: block(long) }],
  [
    MESSAGES,
    'messages[0].content[0].cache_control.ttl',
    { messages: block({ ...long, ttl: '9h' }) },
  ],
  [MESSAGES, 'cache_control.ttl', { cache_control: long }],
  [
    MESSAGES,
    'system[0].cache_control.ttl',
    { system: [{ type: 'text', text: 'a', cache_control: long }] },
  ],
  [
    MESSAGES,
    'tools[0].cache_control.ttl',
    { tools: [{ name: 'f', input_schema: {}, cache_control: long }] },
  ],
  ...[
    'fast-mode',
    'fast-mode-2026-02-01',
    'advisor-tool-2026-03-01',
    'fallback-credit-2026-06-01',
  ].map((beta): Case => [MESSAGES, BETA, {}, { [BETA]: `effort-2025-11-24, ${beta}` }]),
]

test('400 with the field, and nothing is held or recorded', async () => {
  const { key, accountId } = await gateway.tenant()
  for (const [path, field, more, headers] of REFUSED) {
    const said = `${path} ${JSON.stringify(more)}`
    const answer = await gateway.post(path, key, bodyOf(path, more), headersOf(path, headers))
    assert.equal(answer.status, 400, `${said}: ${answer.text.slice(0, 300)}`)
    assert.equal(answer.json.error.type, 'invalid_request_error', said)
    assert.ok(answer.json.error.message.startsWith(`${field}: `), `${said}: ${answer.text}`)
  }
  const [{ calls } = { calls: -1 }] = await gateway.sql<{ calls: number }[]>`
    select count(*)::int as calls from hold where account_id = ${accountId}`
  assert.equal(calls, 0)
})

const CLAUDE_CODE =
  'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,' +
  'mid-conversation-tool-changes-2026-07-01,thinking-token-count-2026-05-13,' +
  'advanced-tool-use-2025-11-20,effort-2025-11-24,dangerous-tool-use-2026-09-03,' +
  'thinking-display-updates-2026-08-18,afk-mode-2026-01-31'

const TAKEN: readonly Case[] = [
  [CHAT, '', { service_tier: null }],
  [CHAT, '', { service_tier: 'auto' }],
  [CHAT, '', { service_tier: 'default' }],
  [CHAT, '', { tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] }],
  [RESPONSES, '', { tools: [{ type: 'web_search', external_web_access: false }], store: false }],
  [RESPONSES, '', { include: ['reasoning.encrypted_content'], service_tier: null }],
  [MESSAGES, '', { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 8 }] }],
  [MESSAGES, '', { tools: [{ type: 'bash_20250124', name: 'bash' }] }],
  [MESSAGES, '', { messages: block({ type: 'ephemeral' }) }, { [BETA]: CLAUDE_CODE }],
]

test('common requests are accepted', async () => {
  const { key } = await gateway.tenant()
  for (const [path, , more, headers] of TAKEN) {
    const answer = await gateway.post(path, key, bodyOf(path, more), headersOf(path, headers))
    assert.equal(answer.status, 200, `${JSON.stringify(more)}: ${answer.text.slice(0, 300)}`)
  }
})

test('a lifetime of a cache that no vendor gets needs no price, and is named', async () => {
  const routes = ['sim-openai', 'sim-anthropic'].map((channel) => {
    return { channel, upstream_model: channel === 'sim-openai' ? 'sim-chat' : 'sim-claude' }
  })
  const prices = ['input_token', 'output_token'].map((unit) => ({ unit, per: 1, amount: '0.001' }))
  const model = (id: string, count: number) => {
    return { id, type: 'chat', prices, routes: routes.slice(0, count) }
  }
  await gateway.apply({ models: [model('translated', 1), model('either', 2)] }, 'lifetimes')
  const { key } = await gateway.tenant()
  const ask = (id: string) =>
    gateway.post(
      MESSAGES,
      key,
      { model: id, max_tokens: 20, messages: block(long) },
      headersOf(MESSAGES),
    )
  const answer = await ask('translated')
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers.get('x-tributary-ignored'), 'cache_control.ttl')
  const { held, charged, basis, review } = await gateway.record(answer, key)
  assert.ok(Number(held) >= Number(charged) && Number(charged) > 0, `${held} ${charged}`)
  assert.deepEqual([basis, review], ['usage', false])
  const refused = await ask('either')
  assert.deepEqual([refused.status, refused.json.error.param], [400, `${PLACE}.cache_control.ttl`])
})

test('options with a price are held at the highest price and charged as served', async () => {
  const of = (unit: string, amount: string, when?: object) => ({
    unit,
    per: 1,
    amount,
    ...(when ? { when } : {}),
  })
  const fast = { service_tier: 'fast' }
  await gateway.apply(
    {
      models: [
        {
          id: 'tiered',
          type: 'chat',
          prices: [
            of('input_token', '0.00002', fast),
            of('output_token', '0.0002', fast),
            of('input_token', '0.00001'),
            of('output_token', '0.0001'),
          ],
          routes: [{ channel: 'sim-openai', upstream_model: 'sim-chat' }],
        },
      ],
    },
    'tiered',
  )
  const { key } = await gateway.tenant()
  const held = async (more: object) => {
    const body = { model: 'tiered', messages: SAY, max_tokens: 1_000, ...more }
    const answer = await gateway.post(CHAT, key, body)
    assert.equal(answer.status, 200, answer.text)
    return Number((await gateway.record(answer, key)).held)
  }
  const standard = await held({ service_tier: 'auto' })
  assert.ok((await held({ service_tier: 'priority' })) > 1.9 * standard)
  const refused = { model: 'tiered', messages: SAY, service_tier: 'flex' }
  assert.equal((await gateway.post(CHAT, key, refused)).status, 400)
})

test('a free model refuses nothing', async () => {
  const routes = [{ channel: 'sim-openai', upstream_model: 'sim-chat' }]
  await gateway.apply({ models: [{ id: 'gift', type: 'chat', free: true, routes }] }, 'gift')
  const { key } = await gateway.tenant()
  const body = { model: 'gift', messages: SAY, inference_geo: 'us' }
  assert.notEqual((await gateway.post(CHAT, key, body)).json.error?.code, 'not_priced')
})
