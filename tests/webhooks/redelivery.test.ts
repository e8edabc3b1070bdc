/** Sending again: each delivery once, whoever asks, however often, and whatever dies meanwhile. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Sql } from 'postgres'
import type { Log } from '../../server/base/lib/log.ts'
import { createGuard } from '../../server/base/outbound/guard.ts'
import { claimDueDeliveries } from '../../server/work/webhooks/queue-store.ts'
import { DELAYS_MS, SENDING_LIMITS } from '../../server/work/webhooks/schedule.ts'
import { getOrCreateSecret, rotateSecret } from '../../server/work/webhooks/secrets.ts'
import { createWebhooks, REDELIVERIES_MAX } from '../../server/work/webhooks/webhooks.ts'
import { until } from '../support/until.ts'
import {
  box,
  createTestAccountId,
  enqueueTestDelivery,
  expectedSignature,
  insertDropped,
  openDatabase,
  readAttempts,
  readDelivery,
  sender,
  startReceiver,
} from './support.ts'

const BODY = '{"task_id":"task_1","text":"水 \\u0041"}'
const HOUR = { from: new Date(Date.now() - 1_800_000), to: new Date(Date.now() + 1_800_000) }

async function countRows(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from delivery`
  return row?.count ?? 0
}

const whenEnded = (sql: Sql, id: string) =>
  until('the end of a delivery', async () => {
    const row = await readDelivery(sql, id)
    return row.state === 'pending' ? undefined : row.state
  })

test('many clicks at once and later ones send a dropped delivery again once', async (t) => {
  const sql = await openDatabase(t)
  const account = await createTestAccountId(sql)
  const receiver = await startReceiver(t)
  const webhooks = createWebhooks(sql, box)
  const id = await insertDropped(sql, account, receiver.url, { body: BODY })
  const clicks = await Promise.all(Array.from({ length: 8 }, () => webhooks.redeliver(account, id)))
  const ids = new Set(clicks.map((row) => row?.id))
  assert.equal(ids.size, 1)
  const [again = ''] = ids
  assert.notEqual(again, id)
  sender(sql)
  assert.equal(await whenEnded(sql, again ?? ''), 'delivered')
  const late = await webhooks.redeliver(account, id)
  assert.deepEqual([late?.id, late?.state, late?.redelivery_of], [again, 'delivered', id])
  assert.deepEqual([receiver.received.length, await countRows(sql)], [1, 2])
  assert.equal(receiver.received[0]?.body.toString(), BODY)
  assert.equal((await webhooks.find(account, id))?.repeated_by, again)
  const third = await webhooks.redeliver(account, again ?? '')
  assert.notEqual(third?.id, again, 'the newest one can be sent again in turn')
  assert.equal(third?.redelivery_of, id, 'always of the first')
})

test('a delivery whose attempts go on is not sent beside them', async (t) => {
  const sql = await openDatabase(t)
  const account = await createTestAccountId(sql)
  const webhooks = createWebhooks(sql, box)
  const id = await enqueueTestDelivery(sql, account, 'http://a.test/')
  await assert.rejects(webhooks.redeliver(account, id), /still pending: its next attempt is at 20/)
  assert.deepEqual(await webhooks.redeliverDropped({ ...HOUR, accountId: account }, false), {
    redelivered: 0,
    remaining: 0,
  })
  assert.equal(await countRows(sql), 1)
})

test('the dropped ones of a time, of one account and one host, are sent again once', async (t) => {
  const sql = await openDatabase(t)
  const [account, other] = [await createTestAccountId(sql), await createTestAccountId(sql)]
  const webhooks = createWebhooks(sql, box)
  const at = (owner: string, url: string, createdAt = new Date()) =>
    insertDropped(sql, owner, url, { createdAt })
  const mine = [await at(account, 'https://a.test/1'), await at(account, 'https://a.test/2')]
  await at(account, 'https://a.test.evil/')
  await at(account, 'https://b.test/')
  await at(other, 'https://a.test/')
  await at(account, 'https://a.test/', new Date(HOUR.from.getTime() - 1))
  await at(account, 'https://a.test/', HOUR.to)
  const filter = { ...HOUR, accountId: account, host: 'A.test' }
  const [dry, ...both] = [
    await webhooks.redeliverDropped(filter, true),
    ...(await Promise.all([
      webhooks.redeliverDropped(filter, false),
      webhooks.redeliverDropped(filter, false),
    ])),
  ]
  assert.deepEqual(dry, { redelivered: 0, remaining: 2 })
  assert.equal(
    both.reduce((sum, { redelivered }) => sum + redelivered, 0),
    2,
  )
  assert.equal((await webhooks.redeliverDropped(filter, false)).redelivered, 0)
  const chain = await sql<{ repeats: string }[]>`
    select repeats from delivery where repeats is not null`
  assert.deepEqual(chain.map(({ repeats }) => repeats).sort(), mine.sort())
  const everyone = { ...HOUR, host: 'a.test:443' }
  assert.equal((await webhooks.redeliverDropped(everyone, false)).redelivered, 1, 'the other’s')
  for (const hours of [0, -1, 24.1]) {
    const to = new Date(HOUR.from.getTime() + hours * 3_600_000)
    await assert.rejects(webhooks.redeliverDropped({ ...HOUR, to }, false), /^GatewayError: to: /)
  }
})

test('one request sends 500 again, an account has no more of them pending', async (t) => {
  const sql = await openDatabase(t)
  const account = await createTestAccountId(sql)
  const webhooks = createWebhooks(sql, box)
  await sql`
    insert into delivery (id, account_id, task_id, kind, url, host, body, state, attempts,
      finished_at)
    select 'whd_' || n, ${account}, 'task_' || n, 'video', 'https://a.test/', 'a.test:443', '',
      'dropped', 4, now()
    from generate_series(1, ${REDELIVERIES_MAX + 3}) n`
  const filter = { ...HOUR, accountId: account }
  assert.deepEqual(await webhooks.redeliverDropped(filter, false), {
    redelivered: REDELIVERIES_MAX,
    remaining: 3,
  })
  await assert.rejects(webhooks.redeliverDropped(filter, false), /too many/)
  assert.equal((await webhooks.test(account, 'https://a.test/')).kind, 'test')
  assert.equal((await webhooks.redeliverDropped(HOUR, false)).redelivered, 3, 'an operator')
})

test('a sender that dies in a redelivery leaves it to the next, with the newest secrets', async (t) => {
  const sql = await openDatabase(t)
  const account = await createTestAccountId(sql)
  const receiver = await startReceiver(t)
  const webhooks = createWebhooks(sql, box)
  const before = await getOrCreateSecret(sql, box, account)
  const id = await insertDropped(sql, account, receiver.url, { body: BODY })
  const again = (await webhooks.redeliver(account, id))?.id ?? ''
  const { claimed } = await claimDueDeliveries(sql, {
    limits: SENDING_LIMITS,
    freeSlots: 1,
    delaysMs: DELAYS_MS,
    now: null,
  })
  assert.equal(claimed[0]?.id, again, 'claimed by a process that dies now')
  const after = await rotateSecret(sql, box, account)
  await sql`update account set status = 'suspended' where id = ${account}`
  await sql`update delivery set lease_until = now() where id = ${again}`
  sender(sql, { delaysMs: [0, 0, 0] })
  assert.equal(await whenEnded(sql, again), 'delivered')
  assert.deepEqual(
    (await readAttempts(sql, again)).map(({ outcome }) => outcome),
    ['lost', 'accepted'],
  )
  assert.equal((await webhooks.redeliver(account, id))?.id, again)
  assert.equal(receiver.received.length, 1)
  const [request] = receiver.received
  assert.ok(request)
  const { headers, body } = request
  const timestamp = String(headers['x-service-timestamp'])
  assert.deepEqual(
    [headers['x-service-signature'], headers['x-service-signature-previous']],
    [after.current, before.current].map((secret) => expectedSignature(secret, timestamp, body)),
  )
})

test('each dropped delivery is a line without its path, and counts as dropped', async (t) => {
  const sql = await openDatabase(t)
  const account = await createTestAccountId(sql)
  const lines: object[] = []
  const outcomes: string[] = []
  const write = (fields: object, message: string) => void lines.push({ ...fields, message })
  const log: Log = { debug: write, info: write, warn: write, error: write }
  const receiver = await startReceiver(t, (response) => response.writeHead(503).end('no'))
  const options = { log, delaysMs: [0, 0, 0], onAttempt: (one: string) => outcomes.push(one) }
  sender(sql, options)
  const url = `${receiver.url}/secret-path?token=secret-token`
  const id = await enqueueTestDelivery(sql, account, url)
  assert.equal(await whenEnded(sql, id), 'dropped')
  await until('the line', () => lines.length > 0)
  const task = (await createWebhooks(sql, box).find(account, id))?.task_id
  assert.deepEqual(lines, [
    {
      delivery_id: id,
      task_id: task,
      account_id: account,
      host: `127.0.0.1:${receiver.port}`,
      status: 503,
      reason: 'the receiver answered 503',
      message: 'a webhook was dropped: its last attempt failed',
    },
  ])
  assert.deepEqual(outcomes, ['refused', 'refused', 'refused', 'dropped'])
})

test('a receiver that has become forbidden, and a sender that died, are dropped aloud', async (t) => {
  const sql = await openDatabase(t)
  const account = await createTestAccountId(sql)
  const reasons: unknown[] = []
  const ignore = () => undefined
  const warn = (fields: { readonly reason?: unknown }) => void reasons.push(fields.reason)
  const log = { debug: ignore, info: ignore, warn, error: ignore }
  const receiver = await startReceiver(t)
  const webhooks = createWebhooks(sql, box)
  const id = await insertDropped(sql, account, receiver.url)
  const again = (await webhooks.redeliver(account, id))?.id ?? ''
  const lost = await enqueueTestDelivery(sql, account, receiver.url)
  await sql`update delivery set attempts = 4, lease_until = now() where id = ${lost}`
  const policy = () => ({ allowance: 'public' as const, ports: new Set([receiver.port]) })
  sender(sql, { log, guard: createGuard({ policy }), delaysMs: [0, 0, 0] })
  assert.equal(await whenEnded(sql, again), 'dropped')
  assert.equal(await whenEnded(sql, lost), 'dropped')
  await until('both lines', () => reasons.length === 2)
  assert.match(reasons.join(), /the gateway ended before the outcome/)
  assert.match(reasons.join(), /loopback|private|public/)
  assert.equal(receiver.received.length, 0)
})
