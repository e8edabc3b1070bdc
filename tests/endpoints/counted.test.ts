/** Every operation that a key can send counts towards its requests per minute. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { WebSocket } from 'ws'
import type { Endpoint, Example } from '../../server/api/endpoints/endpoint.ts'
import { ENDPOINTS } from '../../server/api/endpoints/index.ts'
import { toTemplate } from '../../server/api/endpoints/serving.ts'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { until } from '../support/until.ts'
import { makeWav } from '../support/wav.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'counted-'))
let gateway: TestGateway
/** A model of each canonical path. */
const models = new Map<string, string>()

before(async () => {
  gateway = await startTestGateway({ DATA_DIR: dataDir, ALLOW_PRIVATE_TARGETS: 'true' })
  const { key } = await gateway.tenant()
  const { json } = await gateway.get('/v1/models', key)
  for (const { id, endpoints } of json.data) {
    for (const path of endpoints) if (!models.has(path)) models.set(path, id)
  }
})
after(async () => {
  await gateway.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Returns a key that may send one request a minute. */
async function limitedKey(): Promise<string> {
  return (await gateway.tenant({ key: { limits: { requests_per_minute: 1 } } })).key
}

/** Its example is refused before its limits: it names a task that has to be there. */
const NAMES_A_TASK = new Set(['/v1/videos/erase-subtitle'])

function exampleOf({ paths, documentation }: Endpoint): Example {
  return documentation.example?.(models.get(paths[0]) ?? 'none') ?? {}
}

function bodyOf({ body, form }: Example): {
  body?: string | FormData
  headers: Record<string, string>
} {
  if (body !== undefined) {
    return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  }
  if (!form) return { headers: {} }
  const sent = new FormData()
  for (const [name, value] of Object.entries(form)) {
    if (value.startsWith('@'))
      sent.append(name, new Blob([Uint8Array.from(makeWav(1_000))]), 'a.wav')
    else sent.append(name, value)
  }
  return { body: sent, headers: {} }
}

/** Returns a path with its parameters, of which one may be a model before a method. */
function fill(path: string, { paths }: Endpoint): string {
  const [place = '', method] = path.split('::')
  const model = models.get(toTemplate(paths[0])) ?? 'none'
  const value = method === undefined ? 'none' : model
  const filled = place.replaceAll(/:\w+(?:\([^)]*\))?/g, value)
  return method === undefined ? filled : `${filled}:${method}`
}

async function send(endpoint: Endpoint, path: string, key: string): Promise<Response> {
  const example = exampleOf(endpoint)
  const { body, headers } = bodyOf(example)
  const [, query = ''] = example.path?.split('?') ?? []
  return gateway.fetch(`${fill(path, endpoint)}${query ? `?${query}` : ''}`, {
    method: endpoint.method,
    key,
    headers: { ...example.headers, ...headers },
    ...(body === undefined ? {} : { body }),
  })
}

/** A few at a time: each of them has an account and a key of its own. */
async function checkEach<T>(all: readonly T[], check: (one: T) => Promise<void>): Promise<void> {
  const rest = [...all]
  const work = async () => {
    for (let one = rest.pop(); one; one = rest.pop()) await check(one)
  }
  await Promise.all([work(), work(), work(), work()])
}

const WITH_KEY = ENDPOINTS.filter(({ kind }) => kind !== 'plain')

test('beyond the limit every endpoint with a key refuses, on each of its paths', async () => {
  const all = WITH_KEY.flatMap((endpoint) => endpoint.paths.map((path) => ({ endpoint, path })))
  const check = async ({ endpoint, path }: (typeof all)[number]) => {
    const key = await limitedKey()
    assert.equal((await gateway.get('/v1/balance', key)).status, 200)
    const answer = await send(endpoint, path, key)
    assert.equal(answer.status, 429, `${endpoint.method} ${path}: ${await answer.text()}`)
    assert.ok(Number(answer.headers.get('retry-after')) > 0, path)
  }
  await checkEach(
    all.filter(({ path }) => !NAMES_A_TASK.has(path)),
    check,
  )
})

test('a request to every endpoint with a key uses up a limit of one', async () => {
  const check = async (endpoint: Endpoint) => {
    const [path] = endpoint.paths
    if (NAMES_A_TASK.has(path)) return
    const key = await limitedKey()
    // The database of a busy machine may be late; then nothing is counted.
    const answer = await until('an answer', async () => {
      const answer = await send(endpoint, path, key)
      return answer.status !== 503 && answer
    })
    const text = await answer.text()
    // A call that its vendor fails has been counted as well.
    const isRefused = answer.status >= 400 && answer.status < 500
    assert.ok(endpoint.kind === 'account' || !isRefused, `${path}: ${text}`)
    assert.equal((await gateway.get('/v1/balance', key)).status, 429, `${endpoint.method} ${path}`)
  }
  await checkEach(WITH_KEY, check)
})

test('every message of a WebSocket counts, whatever becomes of it', async () => {
  const create = { type: 'response.create', model: 'sim-chat', input: 'hello' }
  for (const message of [
    create,
    { ...create, generate: false },
    { ...create, background: true },
    { type: 'nonsense' },
    {},
  ]) {
    const { key } = await gateway.tenant({ key: { limits: { requests_per_minute: 2 } } })
    const headers = { authorization: `Bearer ${key}` }
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/responses`, { headers })
    const events: { type: string; status?: number; headers?: object }[] = []
    socket.on('message', (data) => events.push(JSON.parse(`${data}`)))
    await until('the connection', () => socket.readyState === WebSocket.OPEN)
    socket.send(JSON.stringify(message))
    const last = /error|completed/
    await until('an answer', () => events.some(({ type }) => last.test(type)))
    assert.notEqual(events.at(-1)?.status, 429, JSON.stringify(message))
    events.length = 0
    socket.send(JSON.stringify(message))
    const refused = await until('the refusal', () => events[0])
    assert.deepEqual([refused.type, refused.status], ['error', 429], JSON.stringify(message))
    assert.match(JSON.stringify(refused.headers), /"retry-after":"\d+"/)
    socket.terminate()
  }
})

/** The headers of what is left, without those of times. */
function leftIn({ headers }: { readonly headers: Headers }): Record<string, string> {
  const names = [...headers].filter(([name]) => name.includes('ratelimit'))
  return Object.fromEntries(names.filter(([name]) => !name.includes('reset')))
}

const says = (content: string, more: object = {}) => ({
  model: 'sim-chat',
  messages: [{ role: 'user', content }],
  max_tokens: 100,
  ...more,
})

test('headers tell what is left of the nearest limit, on a 429 too', async () => {
  const { key } = await gateway.tenant({
    limits: { requests_per_minute: 3, tokens_per_minute: 50_000 },
    key: { limits: { requests_per_minute: 10, tokens_per_minute: 9_000, concurrent_calls: 4 } },
  })
  const requests = (remaining: number) => ({
    'x-ratelimit-limit-requests': '3',
    'x-ratelimit-remaining-requests': String(remaining),
  })
  const free = await gateway.get('/v1/balance', key)
  assert.deepEqual(leftIn(free), requests(2), 'a free request counts as a request alone')
  const whole = await gateway.post('/v1/chat/completions', key, says('hello'))
  const { 'x-ratelimit-remaining-tokens': tokens, ...others } = leftIn(whole)
  assert.deepEqual(others, { ...requests(1), 'x-ratelimit-limit-tokens': '9000' })
  assert.ok(Number(tokens) > 8_500 && Number(tokens) < 9_000, 'the most that the call may use')
  assert.match(whole.headers.get('x-ratelimit-reset-requests') ?? '', /^(\d\d\.?\d*s|1m0s)$/)

  const version = { 'anthropic-version': '2023-06-01' }
  const streamed = await gateway.post('/v1/messages', key, says('hello', { stream: true }), version)
  assert.equal(streamed.headers.get('anthropic-ratelimit-requests-remaining'), '0')
  assert.equal(streamed.headers.get('anthropic-ratelimit-input-tokens-limit'), '9000')
  const resetAt = Date.parse(streamed.headers.get('anthropic-ratelimit-tokens-reset') ?? '')
  assert.ok(resetAt > Date.now() && resetAt < Date.now() + 62_000)

  const refused = await gateway.post('/v1/chat/completions', key, says('hello'))
  assert.equal(refused.status, 429)
  assert.equal(leftIn(refused)['x-ratelimit-remaining-requests'], '0')
  const native = await gateway.post('/api/v3/chat/completions', key, says('hello'))
  assert.deepEqual([native.status, leftIn(native)], [429, {}])
})

test('a key without rates has no such headers, whatever the vendor sends', async () => {
  const { key } = await gateway.tenant({ key: { limits: { concurrent_calls: 4 } } })
  for (const content of ['hello', '[[fault:status=429]]']) {
    const answer = await gateway.post('/v1/chat/completions', key, says(content))
    assert.deepEqual(leftIn(answer), {}, String(answer.status))
  }
})
