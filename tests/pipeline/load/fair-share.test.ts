/** One account cannot take the gateway from the others: slow calls, slow bodies, slow uploads. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { WebSocket } from 'ws'
import { createKey } from '../../../server/money/accounts/manage-keys.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../../support/in-process.ts'
import { startServer } from '../../support/servers/local-server.ts'
import { until } from '../../support/until.ts'

const CHAT = '/v1/chat/completions'
const SLOTS = 80
const UPLOADS = 24
/** Of an account; half of them of one key. The bucket leaks: few are refused before it has. */
const REFUSALS = 80
const ANSWER = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  model: 'free',
  choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})
let gateway: TestGateway

/** A vendor that answers `slow` calls once they are released, and all others at once. */
const waiting: ServerResponse[] = []
const vendor = await startServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    if (body.includes('slow')) waiting.push(response)
    else response.end(ANSWER)
  })
})

before(async () => {
  gateway = await startTestGateway({
    CALLS_MAX: `${SLOTS}`,
    UPLOADS_MAX: `${UPLOADS}`,
    REFUSALS_PER_MINUTE: `${REFUSALS}`,
  })
  const settings = { base_url: `${vendor.url}/v1`, api_key: 'x' }
  const routes = [{ channel: 'own', upstream_model: 'free' }]
  await gateway.apply({
    channels: [{ id: 'own', upstream: 'openai-compatible', settings }],
    models: [{ id: 'free', type: 'chat', free: true, prices: [], routes }],
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

const chat = (content: string) => ({ model: 'free', messages: [{ role: 'user', content }] })

/** A request whose body does not end, and what has come back. */
interface Begun {
  answer: string
  readonly close: () => void
}

function begin(key: string, path: string, type: string, start: string): Begun {
  const socket = connect(gateway.gateway.port, '127.0.0.1')
  const begun = { answer: '', close: () => void socket.destroy() }
  socket.on('error', () => undefined)
  socket.on('data', (data) => {
    begun.answer += data
  })
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n`
  socket.write(`${head}content-type: ${type}\r\ncontent-length: 100000\r\n\r\n${start}`)
  return begun
}

/** Returns requests of which some are refused, with what the last refusal says. */
async function beginAll(count: number, begin: () => Begun) {
  const begun = Array.from({ length: count }, begin)
  const answer = await until('a refusal', () => begun.map((one) => one.answer).find(Boolean))
  return {
    answer,
    close() {
      for (const one of begun) one.close()
    },
  }
}

test('slow calls of one account leave room for the others, and for itself once they end', async () => {
  const [busy, other] = [await gateway.tenant({ balance: '0' }), await gateway.tenant()]
  const calls = Array.from({ length: SLOTS }, () => gateway.post(CHAT, busy.key, chat('slow')))
  const refused = await Promise.any(
    calls.map(async (call) => {
      const answer = await call
      return answer.status === 503 ? answer : Promise.reject(new Error(answer.text))
    }),
  )
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal(refused.headers.get('x-should-retry'), 'true')
  assert.match(refused.json.error.message, /^\d+ calls of this account are running/)
  for (let call = 0; call < 5; call += 1) {
    const answer = await gateway.post(CHAT, other.key, chat('hello'))
    assert.equal(answer.status, 200, answer.text)
  }
  // The rest of an account that has its share is refused as well, and no other's.
  assert.equal((await gateway.get('/v1/balance', busy.key)).status, 503)
  assert.equal((await gateway.get('/v1/balance', other.key)).status, 200)
  await until('the calls that were let in', () => waiting.length > SLOTS * 0.7)
  for (const response of waiting.splice(0)) response.end(ANSWER)
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  assert.ok(statuses.filter((status) => status === 200).length >= SLOTS * 0.7, statuses.join())
  assert.equal((await gateway.post(CHAT, busy.key, chat('hello'))).status, 200)
})

test('calls of an account with few wait while others fill the gateway', async () => {
  const honest = await gateway.tenant()
  const crowd = await Promise.all(Array.from({ length: 3 }, () => gateway.tenant({ balance: '0' })))
  const slow = crowd.flatMap(({ key }) =>
    Array.from({ length: SLOTS / 2 }, () => gateway.post(CHAT, key, chat('slow'))),
  )
  await until('a full gateway', () => waiting.length > SLOTS * 0.8)
  const calls = Array.from({ length: 10 }, () => gateway.post(CHAT, honest.key, chat('slow')))
  let ended = 0
  for (const call of [...calls, ...slow]) void call.finally(() => (ended += 1))
  await until('the ends of all calls', () => {
    for (const response of waiting.splice(0)) response.end(ANSWER)
    return ended === calls.length + slow.length || undefined
  })
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  assert.deepEqual(statuses, Array(10).fill(200))
})

test('bodies that do not end take slots, and are refused by their heads', async () => {
  const [busy, other] = [await gateway.tenant({ balance: '0' }), await gateway.tenant()]
  const { answer, close } = await beginAll(SLOTS, () => {
    return begin(busy.key, CHAT, 'application/json', '{')
  })
  assert.match(answer, /^HTTP\/1.1 503 .*calls of this account are running/s)
  assert.equal((await gateway.post(CHAT, other.key, chat('hello'))).status, 200)
  close()
  await until('the freed slots', async () => {
    return (await gateway.post(CHAT, busy.key, chat('hello'))).status === 200
  })
})

test('slow uploads of two accounts leave slots to a third', async () => {
  const other = await gateway.tenant()
  const part = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nabc'
  const slow = await Promise.all(
    ['first', 'second'].map(async () => {
      const { key } = await gateway.tenant({ balance: '0' })
      return beginAll(UPLOADS, () =>
        begin(key, '/v1/files', 'multipart/form-data; boundary=x', part),
      )
    }),
  )
  const body = new FormData()
  body.append('file', new Blob(['hello']), 'a.txt')
  const uploaded = await gateway.fetch('/v1/files', { method: 'POST', key: other.key, body })
  assert.equal(uploaded.status, 200, await uploaded.text())
  for (const { answer, close } of slow) {
    assert.match(answer, /^HTTP\/1.1 503 .*uploads of this account are running/s)
    close()
  }
})

/** Sends the request again and again until it gets 429. Returns how often it did not, and that. */
async function repeatUntilRefused(send: () => Promise<TestAnswer>) {
  for (let count = 0; count <= REFUSALS; count += 1) {
    const answer = await send()
    if (answer.status === 429) return { count, answer }
  }
  throw new Error('never refused')
}

test('what is refused counts, for the key and for all keys of its account', async () => {
  const [poor, honest] = [await gateway.tenant({ balance: '0' }), await gateway.tenant()]
  const other = await createKey(gateway.sql, { accountId: poor.accountId, name: 'other' })
  const paid = { ...chat('hi'), model: 'sim-chat' }
  const first = await repeatUntilRefused(() => gateway.post(CHAT, poor.key, paid))
  // The bucket leaks while it is filled.
  assert.ok(first.count >= REFUSALS / 2 && first.count < REFUSALS, `${first.count}`)
  assert.match(first.answer.text, /of this key were refused/)
  assert.ok(Number(first.answer.headers.get('retry-after')) >= 1)
  const second = await repeatUntilRefused(() => gateway.post(CHAT, other.key, { wrong: 1 }))
  assert.ok(second.count < REFUSALS, `${second.count}`)
  assert.match(second.answer.text, /were refused/)
  assert.equal((await gateway.post(CHAT, honest.key, chat('hi'))).status, 200)
})

test('refused messages of a WebSocket count as refused requests', async () => {
  const [poor, honest] = [await gateway.tenant({ balance: '0' }), await gateway.tenant()]
  const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${poor.key}` },
  })
  await once(socket, 'open')
  const events: { status: number; error: { message: string } }[] = []
  socket.on('message', (data) => events.push(JSON.parse(String(data))))
  // Of an unknown type, while another runs, or refused by the endpoint itself.
  const messages = [{ type: 'other' }, { type: 'response.create', model: 'sim-chat', input: 'x' }]
  let sent = 0
  const refused = await until('a refusal', () => {
    // More of them while all are answered: the bucket leaks.
    for (; sent < events.length + REFUSALS; sent += 1) {
      socket.send(JSON.stringify(messages[sent % messages.length]))
    }
    return events.find(({ status }) => status === 429)
  })
  assert.match(refused.error.message, /of this key were refused/)
  assert.ok(events.indexOf(refused) >= REFUSALS / 4, `${events.indexOf(refused)}`)
  assert.equal((await gateway.post(CHAT, poor.key, chat('hi'))).status, 429)
  assert.equal((await gateway.post(CHAT, honest.key, chat('hi'))).status, 200)
  socket.terminate()
})

test('a refused body counts by what it is decoded to, and what is accepted counts nothing', async () => {
  const [poor, honest] = [await gateway.tenant({ balance: '0' }), await gateway.tenant()]
  const body = JSON.stringify({ ...chat(' '.repeat(3 * 1024 ** 2)), model: 'sim-chat' })
  const packed = gzipSync(body)
  const send = (key: string, content: Buffer) =>
    gateway.fetch(CHAT, {
      method: 'POST',
      key,
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: content,
    })
  const statuses = await Promise.all(
    Array.from({ length: 40 }, async () => (await send(poor.key, packed)).status),
  )
  const read = statuses.filter((status) => status === 402).length
  assert.ok(read > 0 && read <= 15, `${read} of 40 were read`)
  assert.ok(
    statuses.every((status) => status === 402 || status === 429),
    statuses.join(),
  )
  const free = gzipSync(body.replace('sim-chat', 'free'))
  for (let call = 0; call < 12; call += 1) {
    const answer = await send(honest.key, free)
    await answer.arrayBuffer()
    assert.equal(answer.status, 200)
  }
})
