/** A session of a container is claimed by one call, in any order of claims and repetitions. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql } from 'postgres'
import { newId } from '../../server/base/lib/ids.ts'
import { deleteOldSessions } from '../../server/money/ledger/holds/container-session-store.ts'
import {
  claimSessions,
  createSessionClaims,
} from '../../server/money/ledger/holds/container-sessions.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
let sql: Sql
before(async () => {
  database = await createTestDatabase()
  sql = database.sql
})
after(() => database.drop())

const uses = (ids: readonly string[], minutes = 20) => ids.map((id) => ({ id, minutes }))

/** Returns the containers whose session another request pays. */
async function claim(ids: readonly string[], requestId: string, channelId = 'main', minutes = 20) {
  const containers = uses(ids, minutes)
  return [...(await claimSessions(sql, { requestId, channelId, containers }))].sort()
}

/** As if this much time had passed since the start of all sessions. */
async function age(minutes: number) {
  await sql`
    update container_session set started_at = started_at - ${minutes} * interval '1 minute'`
}

async function addRecord(requestId: string, lines: readonly object[]) {
  await sql`
    insert into call (request_id, hold_id, account_id, key_id, endpoint, model, status, basis,
      currency, held, charged, returned, created_at, lines)
    values (${requestId}, ${newId('hold')}, 'acc', 'key', 'responses', 'm', 'lost', 'none', 'USD',
      0, 0, 0, now(), ${JSON.stringify(lines)}::text::jsonb)`
}

test('the first claim pays; others within the session do not, after it one pays again', async () => {
  assert.deepEqual(await claim(['a', 'b'], 'first'), [])
  assert.deepEqual(await claim(['a', 'c'], 'second'), ['a'])
  await age(19)
  assert.deepEqual(await claim(['a', 'b', 'c'], 'third'), ['a', 'b', 'c'])
  await age(1)
  assert.deepEqual(await claim(['a'], 'fourth'), [])
  assert.deepEqual(await claim(['a'], 'fifth'), ['a'], 'it is a new session')
})

test('a session is as long as its vendor’s', async () => {
  assert.deepEqual(await claim(['short'], 'first', 'main', 5), [])
  await age(4)
  assert.deepEqual(await claim(['short'], 'second', 'main', 5), ['short'])
  await age(1)
  assert.deepEqual(await claim(['short'], 'third', 'main', 5), [])
})

test('a request that claims again has its sessions again, and their start stays', async () => {
  assert.deepEqual(await claim(['again'], 'first'), [])
  await age(15)
  assert.deepEqual(await claim(['again'], 'first'), [])
  await age(5)
  assert.deepEqual(await claim(['again'], 'second'), [])
  assert.deepEqual(await claim(['again'], 'first'), ['again'])
})

test('channels do not know each other’s containers', async () => {
  assert.deepEqual(await claim(['same'], 'first', 'one'), [])
  assert.deepEqual(await claim(['same'], 'second', 'other'), [])
  assert.deepEqual(await claim(['same'], 'third', 'other'), ['same'])
})

test('fifty claims at once, of several containers in any order: one pays for each', async () => {
  const ids = ['p', 'q', 'r']
  const claims = Array.from({ length: 50 }, (_, index) =>
    claim(index % 2 === 0 ? ids : ids.toReversed(), `at-once-${index}`),
  )
  const paid = await Promise.all(claims)
  for (const id of ids) assert.equal(paid.filter((one) => !one.includes(id)).length, 1)
})

test('a session whose call was not charged for it is paid by the next call', async () => {
  for (const [lines, expected] of [
    [[], []],
    [[{ unit: 'input_token', quantity: 1 }], []],
    [[{ unit: 'container_minute', quantity: 20 }], ['unpaid']],
  ] as const) {
    await sql`delete from container_session`
    await sql`delete from call`
    await claim(['unpaid'], 'lost')
    assert.deepEqual(await claim(['unpaid'], 'during'), ['unpaid'], 'it is not settled yet')
    await addRecord('lost', lines)
    assert.deepEqual(await claim(['unpaid'], 'next'), expected)
  }
})

test('invalid and duplicate ids are paid and do no harm', async () => {
  const odd = ['', 'a b', 'ü', '\0', '\ud800', 'x'.repeat(201), 'x'.repeat(100_000)]
  assert.deepEqual(await claim([...odd, 'fine', 'fine'], 'first'), [])
  assert.deepEqual(await claim([...odd, 'fine', 'fine'], 'second'), ['fine'])
  const many = Array.from({ length: 1_000 }, (_, index) => `many-${index}`)
  assert.deepEqual(await claim(many, 'first'), [])
  assert.equal((await claim(many, 'second')).length, 100)
  assert.deepEqual(await claim([], 'third'), [])
})

test('sessions older than a day are deleted, in pieces', async () => {
  await sql`delete from container_session`
  await claim(['old-1', 'old-2', 'old-3'], 'first')
  await age(24 * 60 + 1)
  await claim(['young'], 'second')
  assert.equal(await deleteOldSessions(sql, 2), 2)
  assert.equal(await deleteOldSessions(sql, 2), 1)
  assert.equal(await deleteOldSessions(sql, 2), 0)
  const left = await sql`select container_id from container_session`
  assert.deepEqual(
    left.map((row) => row.container_id),
    ['young'],
  )
})

test('a claim waits for the database; one that it refuses lets the call pay for all', async () => {
  const log = { warn: () => undefined, error: () => undefined }
  const failures = [new Error('away'), new Error('away')]
  const failing = new Proxy(sql, {
    apply: (target, self, parts) => {
      const failure = failures.pop()
      return failure ? Promise.reject(failure) : Reflect.apply(target, self, parts)
    },
  })
  await claim(['waits'], 'first')
  const request = { requestId: 'second', channelId: 'main', containers: uses(['waits']) }
  for (const [isUnavailable, expected] of [
    [true, ['waits']],
    [false, []],
  ] as const) {
    failures.splice(0, 2, new Error('away'), new Error('away'))
    const claims = createSessionClaims({ sql: failing, log, isUnavailable: () => isUnavailable })
    const settled = claims.add(request, async (paid) => [...paid])
    assert.equal(claims.size(), 1)
    await claims.flushed()
    assert.equal(claims.size(), 0)
    assert.deepEqual(await settled, expected)
  }
})
