/** Deliveries as receivers see them: signed, retried on schedule, four attempts at most. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SENDING_LIMITS } from '../../server/work/webhooks/schedule.ts'
import { getOrCreateSecret, rotateSecret } from '../../server/work/webhooks/secrets.ts'
import { until } from '../support/until.ts'
import {
  box,
  createTestAccountId,
  enqueueTestDelivery,
  expectedSignature,
  handClock,
  openDatabase,
  readAttempts,
  readDelivery,
  sender,
  startReceiver,
} from './support.ts'

const BODY = '{"task_id":"task_1","status":"succeeded","model":"m","text":"水 \\u0041"}'

test('a delivery arrives signed, with exactly its bytes, and is recorded', async (t) => {
  const sql = await openDatabase(t)
  const accountId = await createTestAccountId(sql)
  const { current: secret } = await getOrCreateSecret(sql, box, accountId)
  const receiver = await startReceiver(t, (response) => response.end('thanks'.repeat(1000)))
  sender(sql)
  const id = await enqueueTestDelivery(sql, accountId, `${receiver.url}?a=1`, BODY)
  await until(
    'delivery',
    async () => (await readDelivery(sql, id)).state === 'delivered' || undefined,
  )
  const [request] = receiver.received
  assert.ok(request)
  assert.equal(request.path, '/hook?a=1')
  assert.equal(request.body.toString(), BODY)
  assert.equal(request.headers['content-type'], 'application/json')
  const timestamp = String(request.headers['x-service-timestamp'])
  assert.match(timestamp, /^\d{10}$/)
  assert.ok(Math.abs(Number(timestamp) - Date.now() / 1000) < 60)
  const signature = expectedSignature(secret, timestamp, request.body)
  assert.equal(request.headers['x-service-signature'], signature)
  assert.equal(request.headers['x-service-signature-previous'], undefined)
  const [attempt] = await readAttempts(sql, id)
  assert.deepEqual(
    [attempt?.outcome, attempt?.status, attempt?.error, attempt?.answer?.length],
    ['accepted', 200, null, 1024],
  )
})

test('failures are retried after 5 s, 30 s and 5 min, then the delivery is dropped', async (t) => {
  const sql = await openDatabase(t)
  const accountId = await createTestAccountId(sql)
  const receiver = await startReceiver(t, (response, count) =>
    response.writeHead(count % 2 ? 500 : 302, { location: 'http://127.0.0.1/' }).end('no'),
  )
  const clock = handClock()
  sender(sql, { clock })
  const others = await startReceiver(t)
  /**
   * Attempts so far, read after a claim that would also have taken whatever was due: the second, as
   * the first may have begun before the clock was moved.
   */
  const countAttempts = async () => {
    for (let claims = 0; claims < 2; claims += 1) {
      const other = await enqueueTestDelivery(sql, accountId, others.url)
      await until('a claim', async () => (await readDelivery(sql, other)).attempts > 0)
    }
    return (await readDelivery(sql, id)).attempts
  }
  const id = await enqueueTestDelivery(sql, accountId, receiver.url, BODY)
  for (const [count, delayMs] of [5_000, 30_000, 300_000].entries()) {
    await until('an attempt', async () => {
      const [row] = await sql`
        select 1 from delivery where id = ${id} and attempts = ${count + 1} and lease_until is null`
      return row
    })
    clock.advance(delayMs - 100)
    assert.equal(await countAttempts(), count + 1, 'not before its time')
    clock.advance(100)
  }
  await until('the end', async () => (await readDelivery(sql, id)).state === 'dropped' || undefined)
  clock.advance(10_000_000)
  assert.equal(await countAttempts(), 4)
  assert.equal(receiver.received.length, 4)
  const attempts = await readAttempts(sql, id)
  assert.deepEqual(
    attempts.map(({ number, outcome, status }) => [number, outcome, status]),
    [
      [1, 'refused', 500],
      [2, 'refused', 302],
      [3, 'refused', 500],
      [4, 'refused', 302],
    ],
  )
  assert.match(attempts[1]?.error ?? '', /redirects are not followed/)
  const bodies = new Set(receiver.received.map(({ body }) => body.toString()))
  const times = new Set(receiver.received.map(({ headers }) => headers['x-service-timestamp']))
  assert.deepEqual([bodies.size, times.size], [1, 4])
})

test('after a rotation the previous secret signs as well', async (t) => {
  const sql = await openDatabase(t)
  const accountId = await createTestAccountId(sql)
  const before = await getOrCreateSecret(sql, box, accountId)
  const after = await rotateSecret(sql, box, accountId)
  assert.notEqual(after.current, before.current)
  assert.equal(after.previous, before.current)
  const receiver = await startReceiver(t)
  sender(sql)
  await enqueueTestDelivery(sql, accountId, receiver.url, BODY)
  const { headers, body } = await until('a request', () => receiver.received[0])
  const timestamp = String(headers['x-service-timestamp'])
  assert.deepEqual(
    [headers['x-service-signature'], headers['x-service-signature-previous']],
    [after.current, before.current].map((secret) => expectedSignature(secret, timestamp, body)),
  )
  await sql`update account set webhook_secret_previous_until = now()`
  assert.equal((await getOrCreateSecret(sql, box, accountId)).previous, undefined)
})

test('an unreachable receiver fails the attempt and records the reason', async (t) => {
  const sql = await openDatabase(t)
  const accountId = await createTestAccountId(sql)
  const clock = handClock()
  sender(sql, { clock })
  const refused = await enqueueTestDelivery(sql, accountId, 'http://127.0.0.1:1/')
  const forbidden = await enqueueTestDelivery(sql, accountId, 'http://169.254.169.254/')
  for (const [id, error] of [
    [refused, /refused/],
    [forbidden, /metadata/],
  ] as const) {
    const attempt = await until('the attempt', async () => {
      const [first] = await readAttempts(sql, id)
      return first?.outcome ? first : undefined
    })
    assert.deepEqual([attempt.outcome, attempt.status], ['refused', null])
    assert.match(attempt.error ?? '', error)
    assert.equal((await readDelivery(sql, id)).state, 'pending')
  }
})

test('a receiver that does not answer in ten seconds fails the attempt', async (t) => {
  assert.equal(SENDING_LIMITS.budgetMs, 10_000)
  const sql = await openDatabase(t)
  const accountId = await createTestAccountId(sql)
  const receiver = await startReceiver(t, () => undefined)
  sender(sql, { clock: handClock(), limits: { ...SENDING_LIMITS, budgetMs: 200 } })
  const id = await enqueueTestDelivery(sql, accountId, receiver.url)
  const attempt = await until('the attempt', async () => {
    const [first] = await readAttempts(sql, id)
    return first?.outcome ? first : undefined
  })
  assert.deepEqual(
    [attempt.outcome, attempt.status, attempt.error],
    ['refused', null, 'no response within 0.2 seconds'],
  )
  assert.ok(receiver.received.length <= 1)
})
