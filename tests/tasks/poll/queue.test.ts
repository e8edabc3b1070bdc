/** The order of claims: by queue partition, the longest due first, or by account turns. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Sql } from 'postgres'
import { connect } from '../../../server/base/database/connection/client.ts'
import {
  claimByAccountTurns,
  claimDueTasks,
  dueQueuePartitions,
  readNextTaskMs,
} from '../../../server/work/tasks/queue-store.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'

const LEASE_MS = 60_000
const IMAGES = { channel_id: 'c', kind: 'image' } as const
const VIDEOS = { channel_id: 'c', kind: 'video' } as const

describe('the queue of tasks', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase()
  })
  beforeEach(() => database.sql`truncate task, task_attempt, hold`)
  after(() => database.drop())

  /** Tasks that became due one after the other, the last one just now. */
  async function add(kind: string, account: string, count: number, dueSeconds = 0) {
    const { sql } = database
    const prefix = `${kind}-${account}-`
    await sql`
      insert into hold (id, request_id, account_id, key_id, endpoint, model, amount, task_id)
      select ${prefix} || n, ${prefix} || n, ${account}, 'k', 'e', 'm', 0, ${prefix} || n
      from generate_series(1, ${count}) n`
    await sql`
      insert into task (id, kind, account_id, key_id, request_id, hold_id, endpoint, model, state,
        request, quantities, facts, attempt_id, channel_id, due_at, expires_at)
      select ${prefix} || n, ${kind}, ${account}, 'k', ${prefix} || n, ${prefix} || n, 'e', 'm',
        'queued', '{}', '{}', '{}', ${prefix} || n, 'c',
        now() + make_interval(secs => ${dueSeconds} - (${count} - n) * 0.001), now()
      from generate_series(1, ${count}) n`
    await sql`
      insert into task_attempt (id, task_id, number, channel_id, channel_version, upstream_model)
      select ${prefix} || n, ${prefix} || n, 1, 'c', 1, 'u' from generate_series(1, ${count}) n`
  }

  const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id).sort()

  test('partitions are separate, and only due tasks are in one', async () => {
    await add('image', 'a', 3)
    await add('video', 'a', 2)
    await add('minutes', 'a', 1, 30)
    const partitions = await dueQueuePartitions(database.sql)
    assert.deepEqual(partitions.map(({ kind }) => kind).sort(), ['image', 'video'])
    assert.deepEqual(ids(await claimDueTasks(database.sql, VIDEOS, 10, LEASE_MS)), [
      'video-a-1',
      'video-a-2',
    ])
    const waitMs = await readNextTaskMs(database.sql)
    assert.ok(waitMs !== null && waitMs > 0 && waitMs <= 30_000, String(waitMs))
  })

  test('the longest due first; what is claimed is claimed once', async () => {
    await add('video', 'a', 4)
    const first = await claimDueTasks(database.sql, VIDEOS, 3, LEASE_MS)
    assert.deepEqual(ids(first), ['video-a-1', 'video-a-2', 'video-a-3'])
    assert.equal(first[0]?.fence, 1n)
    assert.deepEqual(ids(await claimDueTasks(database.sql, VIDEOS, 3, LEASE_MS)), ['video-a-4'])
    assert.deepEqual(ids(await claimDueTasks(database.sql, VIDEOS, 3, LEASE_MS)), [])
  })

  test('by account turns: one account’s backlog does not delay the others', async () => {
    await add('image', 'a', 1_000)
    await add('image', 'b', 2)
    await add('image', 'c', 1)
    const claim = async (limit: number) =>
      ids(await claimByAccountTurns(database.sql, IMAGES, limit, LEASE_MS))
    assert.deepEqual(await claim(4), ['image-a-1', 'image-a-2', 'image-b-1', 'image-c-1'])
    assert.deepEqual(await claim(3), ['image-a-3', 'image-a-4', 'image-b-2'])
    assert.deepEqual(await claim(2), ['image-a-5', 'image-a-6'])
    assert.deepEqual(ids(await claimByAccountTurns(database.sql, VIDEOS, 2, LEASE_MS)), [])
  })

  test('twenty thousand waiting tasks slow down neither claim', async () => {
    const { sql } = database
    await add('image', 'a', 20_000)
    for (let number = 0; number < 50; number += 1) await add('image', `b${number}`, 1)
    await add('video', 'a', 10)
    await sql`analyze task`
    const one = connect(database.place, { connections: 1, patient: true })
    try {
      for (const [partition, claim] of [
        [IMAGES, claimByAccountTurns],
        [VIDEOS, claimDueTasks],
      ] as const) {
        await one`begin`
        const before = await readRows(one)
        assert.equal((await claim(one, partition, 10, LEASE_MS)).length, 10)
        const read = (await readRows(one)) - before
        await one`commit`
        assert.ok(read > 0 && read < 3_000, `${claim.name} read ${read} rows`)
      }
    } finally {
      await one.end()
    }
  })

  /** Rows of tasks that this transaction has read so far, by the database's own count. */
  async function readRows(one: Sql): Promise<number> {
    const [row] = await one<{ read: bigint }[]>`
      select seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables
      where relname = 'task'`
    return Number(row?.read ?? 0)
  }
})
