/** Session affinity: the calls of one conversation go to one channel, on every gateway alike. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { drawFor, readAffinity } from '../../server/work/pipeline/request/affinity.ts'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'

const CHANNELS = ['account-1', 'account-2', 'account-3', 'account-4']
const KEYS = ['sim-openai-key', 'sim-openai-key-2', 'sim-openai-key-3', 'sim-openai-key-4']
const MODEL = 'caching'
const PROSE = 'A long beginning that every call of the conversation repeats. '.repeat(40)
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
  const route = { upstream_model: 'sim-caching' }
  await gateway.apply({
    channels: [
      ...CHANNELS.map((id, index) => ({
        id,
        upstream: 'openai-compatible',
        settings: { base_url: `${gateway.simulators.url}/openai/v1`, api_key: KEYS[index] },
      })),
      {
        id: 'away',
        upstream: 'openai-compatible',
        settings: { base_url: 'http://127.0.0.1:9', api_key: 'none' },
      },
    ],
    models: [
      {
        id: MODEL,
        type: 'chat',
        prices: [{ unit: 'output_token', per: 1, amount: '0.001' }],
        routes: CHANNELS.map((channel) => ({ ...route, channel })),
      },
      {
        id: 'half-away',
        type: 'chat',
        prices: [{ unit: 'output_token', per: 1, amount: '0.001' }],
        routes: ['account-1', 'away'].map((channel) => ({ ...route, channel })),
      },
    ],
  })
})
after(() => gateway.stop())

const chat = (turn: number, more: object = {}) => ({
  model: MODEL,
  messages: [{ role: 'user', content: `${PROSE} turn ${turn}` }],
  ...more,
})

async function channelOf(answer: { headers: Headers }, key: string) {
  return (await gateway.record(answer, key)).attempts.at(-1)?.channel
}

interface Named {
  readonly name: string
  readonly path?: string
  readonly body?: object
  readonly headers?: object
}

const CONVERSATIONS: readonly Named[] = [
  { name: 'prompt_cache_key', body: { prompt_cache_key: 'c-1' } },
  { name: 'metadata.user_id', body: { metadata: { user_id: 'user_1_session_1' } } },
  { name: 'a session header', headers: { 'x-session-id': 's-1' } },
  { name: 'the header of agents', headers: { session_id: 's-1' } },
  { name: 'the header of a thread', headers: { 'thread-id': 't-1' } },
  { name: 'the header of opencode', headers: { 'x-opencode-session': 'ses_1' } },
  { name: 'metadata.session_id', body: { metadata: { session_id: 's-1', user_id: '' } } },
  {
    name: 'messages',
    path: '/v1/messages',
    body: { max_tokens: 100, metadata: { user_id: 'user_2' } },
    headers: { 'anthropic-version': '2023-06-01' },
  },
]

for (const { name, path = '/v1/chat/completions', body = {}, headers = {} } of CONVERSATIONS) {
  test(`calls with the same name stay at one channel: ${name}`, async () => {
    const { key } = await gateway.tenant()
    const used = new Set<string | undefined>()
    for (let turn = 0; turn < 10; turn += 1) {
      const answer = await gateway.post(path, key, chat(turn, body), headers)
      assert.equal(answer.status, 200, answer.text)
      used.add(await channelOf(answer, key))
    }
    assert.equal(used.size, 1, [...used].join(', '))
  })
}

test('the repeated beginning is charged as cached', async () => {
  const { key } = await gateway.tenant()
  const cached: number[] = []
  for (let turn = 0; turn < 4; turn += 1) {
    const answer = await gateway.post(
      '/v1/chat/completions',
      key,
      chat(turn, { prompt_cache_key: 'reused' }),
    )
    cached.push(answer.json.usage.prompt_tokens_details.cached_tokens)
  }
  assert.ok(
    cached.slice(1).every((tokens) => tokens > 500),
    cached.join(', '),
  )
})

test('conversations spread over the channels, and so do calls that name none', async () => {
  const { key } = await gateway.tenant()
  for (const named of [true, false]) {
    const used = new Set<string | undefined>()
    for (let index = 0; index < 40; index += 1) {
      const body = chat(index, named ? { prompt_cache_key: `c-${index}` } : {})
      used.add(await channelOf(await gateway.post('/v1/chat/completions', key, body), key))
    }
    assert.equal(used.size, CHANNELS.length, String(named))
  }
})

test('a conversation whose channel fails goes on at another one', async () => {
  const { key } = await gateway.tenant()
  for (let index = 0; index < 12; index += 1) {
    const body = { ...chat(0, { prompt_cache_key: `c-${index}` }), model: 'half-away' }
    const answer = await gateway.post('/v1/chat/completions', key, body)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(await channelOf(answer, key), 'account-1')
  }
})

test('a channel that leaves moves only its own conversations, and weights are respected', () => {
  const draws = (index: number) => {
    const affinity = { keyId: 'key_1', session: `c-${index}` }
    return CHANNELS.map((channel) => ({ channel, draw: drawFor(affinity, channel) }))
  }
  const best = (some: ReturnType<typeof draws>) => some.sort((a, b) => b.draw - a.draw)[0]?.channel
  const counts = new Map<string | undefined, number>()
  for (let index = 0; index < 2000; index += 1) {
    const all = draws(index)
    const first = best([...all])
    counts.set(first, (counts.get(first) ?? 0) + 1)
    if (first === 'account-4') continue
    assert.equal(best(all.filter(({ channel }) => channel !== 'account-4')), first)
  }
  for (const channel of CHANNELS) {
    const share = (counts.get(channel) ?? 0) / 2000
    assert.ok(share > 0.2 && share < 0.3, `${channel}: ${share}`)
  }
})

test('the name is read where clients put it, and belongs to one key', () => {
  const read = (value: object, headers = {}) => readAffinity('key_1', { ...value }, headers)
  assert.equal(read({ conversation: 'conv_1' })?.session, 'conv_1')
  assert.equal(read({ conversation: { id: 'conv_2' } })?.session, 'conv_2')
  assert.equal(read({ prompt_cache_key: 'p', metadata: { user_id: 'u' } })?.session, 'p')
  for (const name of ['x-session-affinity', 'session_id', 'x-agent-session-id', 'x-conv-id']) {
    assert.equal(read({}, { [name]: 'a' })?.session, 'a', name)
  }
  assert.equal(read({}, { 'x-obsession-id': 'a', 'x-session-idle': 'b' }), undefined)
  for (const nothing of [{}, { prompt_cache_key: '' }, { metadata: 'x' }, { conversation: [] }]) {
    assert.equal(read(nothing), undefined)
  }
  const long = read({ prompt_cache_key: 'p'.repeat(10_000_000) })
  assert.equal(long?.session.length, 1_024, 'each route hashes it')
  const draw = (keyId: string) => drawFor({ keyId, session: 's' }, 'account-1')
  assert.equal(draw('key_1'), draw('key_1'))
  assert.notEqual(draw('key_1'), draw('key_2'))
})
