/** The queue under crashes, lost leases, load and many accounts. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { claimDueDeliveries, recordAttempt } from '../../server/work/webhooks/queue-store.ts'
import { DELAYS_MS, SENDING_LIMITS } from '../../server/work/webhooks/schedule.ts'
import { until } from '../support/until.ts'
import {
  createTestAccountId,
  enqueueTestDelivery,
  openDatabase,
  readAttempts,
  readDelivery,
  sender,
  startReceiver,
} from './support.ts'

/** Ahead of the database's clock, by which deliveries become due, however late the tests run. */
const now = Date.now() + 86_400_000
const at = (seconds: number) => new Date(now + seconds * 1000)
const options = { limits: SENDING_LIMITS, freeSlots: 100, delaysMs: DELAYS_MS }
const claim = async (...input: Parameters<typeof claimDueDeliveries>) =>
  (await claimDueDeliveries(...input)).claimed
const accepted = {
  outcome: 'accepted' as const,
  status: 200,
  error: null,
  latencyMs: 1,
  responseHead: Buffer.from('ok'),
}

test('an attempt whose sender died counts, and four of them are the end', async (t) => {
  const sql = await openDatabase(t)
  const id = await enqueueTestDelivery(sql, 'acct_1', 'http://a.test/')
  let seconds = 1
  for (const number of [1, 2, 3, 4]) {
    const [claimed] = await claim(sql, { ...options, now: at(seconds) })
    assert.equal(claimed?.number, number)
    const during = await claim(sql, { ...options, now: at(seconds + 19) })
    assert.equal(during.length, 0, 'leased')
    const after = await claim(sql, { ...options, now: at(seconds + 21) })
    assert.equal(after.length, 0, 'scheduled again')
    seconds += 21 + (DELAYS_MS[number - 1] ?? 0) / 1000
  }
  assert.equal((await readDelivery(sql, id)).state, 'dropped')
  const outcomes = (await readAttempts(sql, id)).map(({ outcome }) => outcome)
  assert.deepEqual(outcomes, ['lost', 'lost', 'lost', 'lost'])
})

test('a sender that lost its lease records nothing', async (t) => {
  const sql = await openDatabase(t)
  const id = await enqueueTestDelivery(sql, 'acct_1', 'http://a.test/')
  const [zombie] = await claim(sql, { ...options, now: at(1) })
  assert.ok(zombie)
  await claim(sql, { ...options, now: at(22) })
  const [second] = await claim(sql, { ...options, now: at(28) })
  assert.equal(second?.number, 2)
  const late = { ...zombie, ...accepted }
  assert.equal(await recordAttempt(sql, late, { delayMs: 5_000, now: at(29) }), undefined)
  assert.equal((await readDelivery(sql, id)).state, 'pending')
  const good = { ...second, ...accepted }
  assert.equal(await recordAttempt(sql, good, { delayMs: 5_000, now: at(29) }), 'delivered')
  assert.equal(await recordAttempt(sql, good, { delayMs: 5_000, now: at(29) }), undefined)
  assert.equal((await readDelivery(sql, id)).state, 'delivered')
})

test('one host gets four at once, one account its share, and accounts take turns', async (t) => {
  const sql = await openDatabase(t)
  for (let index = 0; index < 40; index += 1) {
    await enqueueTestDelivery(sql, 'acct_greedy', `http://host-${index % 20}.test/`)
    await enqueueTestDelivery(sql, 'acct_one_host', 'http://single.test/')
  }
  await enqueueTestDelivery(sql, 'acct_modest', 'http://modest.test/')
  const few = await claim(sql, { ...options, freeSlots: 3, now: at(1) })
  assert.deepEqual(few.map((row) => row.account_id).sort(), [
    'acct_greedy',
    'acct_modest',
    'acct_one_host',
  ])
  const rest = await claim(sql, { ...options, now: at(1) })
  const count = (accountId: string) =>
    [...few, ...rest].filter((row) => row.account_id === accountId).length
  assert.equal(count('acct_one_host'), SENDING_LIMITS.perHost)
  assert.equal(count('acct_greedy'), SENDING_LIMITS.perAccount)

  for (let index = 0; index < 5; index += 1) {
    await enqueueTestDelivery(sql, 'acct_first', 'http://shared.test/')
  }
  await enqueueTestDelivery(sql, 'acct_second', 'http://shared.test/')
  const shared = await claim(sql, { ...options, freeSlots: 2, now: at(1) })
  assert.deepEqual(shared.map((row) => row.account_id).sort(), ['acct_first', 'acct_second'])
})

test('attempts under way elsewhere cost no turn at a host, unless they reach the limit', async (t) => {
  const sql = await openDatabase(t)
  const enqueue = async (count: number, account: string, url: string) => {
    for (let index = 0; index < count; index += 1) await enqueueTestDelivery(sql, account, url)
  }
  for (let index = 0; index < 6; index += 1) await enqueue(4, 'acct_full', `http://h${index}.test/`)
  await enqueue(4, 'acct_some', 'http://other.test/')
  await enqueue(3, 'acct_backlog', 'http://shared.test/')
  assert.equal((await claim(sql, { ...options, now: at(1) })).length, 31)
  await enqueue(1, 'acct_full', 'http://shared.test/')
  await enqueue(2, 'acct_backlog', 'http://shared.test/')
  await enqueue(1, 'acct_some', 'http://shared.test/')
  const shared = await claim(sql, { ...options, now: at(1) })
  assert.deepEqual(
    shared.map((row) => row.account_id),
    ['acct_some'],
  )
})

test('many senders at once claim everything once', async (t) => {
  const sql = await openDatabase(t)
  const ids: string[] = []
  for (let index = 0; index < 50; index += 1) {
    ids.push(await enqueueTestDelivery(sql, `acct_${index}`, `http://host-${index}.test/`))
  }
  const claims = await Promise.all(
    Array.from({ length: 8 }, () => claim(sql, { ...options, freeSlots: 10, now: at(1) })),
  )
  const claimed = claims.flat().map(({ id }) => id)
  assert.deepEqual(claimed.sort(), ids.sort())
})

test('a dead host with many deliveries delays no other host', async (t) => {
  const sql = await openDatabase(t)
  const accountId = await createTestAccountId(sql)
  const dead = createServer()
  await new Promise<void>((resolve) => dead.listen(0, '127.0.0.1', resolve))
  t.after(() => dead.close())
  const address = dead.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const receiver = await startReceiver(t)
  for (let index = 0; index < 60; index += 1) {
    await enqueueTestDelivery(sql, accountId, `http://127.0.0.1:${port}/`)
  }
  const { size } = sender(sql)
  await until('the dead host to be tried', () => size() === 4 || undefined)
  const ids = await Promise.all(
    Array.from({ length: 20 }, () => enqueueTestDelivery(sql, accountId, receiver.url)),
  )
  await until('all of the others', () => receiver.received.length === ids.length || undefined)
  assert.equal(size() >= 4, true, 'the attempts at the dead host are still running')
})

test('a sender that stops finishes running attempts, or records them as lost', async (t) => {
  const sql = await openDatabase(t)
  const accountId = await createTestAccountId(sql)
  const { promise: requested, resolve: onRequest } = Promise.withResolvers<ServerResponse>()
  const slow = await startReceiver(t, onRequest)
  const silent = await startReceiver(t, () => undefined)
  const first = sender(sql)
  const finished = await enqueueTestDelivery(sql, accountId, slow.url)
  const response = await requested
  const stopped = first.stop()
  response.end()
  await stopped
  assert.equal((await readDelivery(sql, finished)).state, 'delivered')
  const second = sender(sql)
  const cut = await enqueueTestDelivery(sql, accountId, silent.url)
  await until('a request', () => silent.received[0])
  await second.stop(10)
  const { state, attempts, lease_until } = await readDelivery(sql, cut)
  assert.deepEqual([state, attempts, lease_until], ['pending', 1, null])
  assert.equal((await readAttempts(sql, cut))[0]?.outcome, 'lost')
})
