/** Tasks, files, results and deliveries are reached with their own account, and with no other. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Sql } from 'postgres'
import { newId, newRequestId } from '../../server/base/lib/ids.ts'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { holdForTask, settleTask } from '../../server/money/ledger/holds/task-holds.ts'
import { claimCopies, renewCopy } from '../../server/work/assets/copies/copy-store.ts'
import {
  deleteAssetRow,
  insertAsset,
  selectAssets,
} from '../../server/work/assets/library/asset-store.ts'
import {
  deleteFile,
  deletePublished,
  findFile,
  insertFile,
  listFiles,
} from '../../server/work/assets/uploads/file-store.ts'
import { claimDueTasks, claimOne } from '../../server/work/tasks/queue-store.ts'
import {
  acceptTask,
  closeTask,
  insertTask,
  markSending,
  readClaimedTask,
  releaseTask,
  renewTask,
  rescheduleTask,
} from '../../server/work/tasks/store.ts'
import { markCancelSent } from '../../server/work/tasks/timeline-store.ts'
import { findTask, hideTask, listTasks } from '../../server/work/tasks/view-store.ts'
import { claimDueDeliveries, recordAttempt } from '../../server/work/webhooks/queue-store.ts'
import { DELAYS_MS, SENDING_LIMITS } from '../../server/work/webhooks/schedule.ts'
import { insertDelivery, selectDeliveries } from '../../server/work/webhooks/store.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

const LEASE_MS = 60_000
const HOLD_NANOS = 100n
const PARTITION = { channel_id: 'channel', kind: 'video' } as const

describe('with its account, and no other', () => {
  let database: TestDatabase
  let sql: Sql
  let own: string
  let other: string
  before(async () => {
    database = await createTestDatabase()
    sql = database.sql
  })
  after(() => database.drop())
  beforeEach(async () => {
    const opening = { name: 'test', openingBalanceNanos: 1_000n, actor: 'test' }
    own = (await createAccount(sql, opening)).id
    other = (await createAccount(sql, opening)).id
  })

  test('a task is submitted, polled, ended and hidden', async () => {
    const id = await createTask(sql, own)
    const foreign = { id, account_id: other }
    assert.equal(await readClaimedTask(sql, foreign), undefined)
    assert.equal(await claimOne(sql, foreign, LEASE_MS, ['submitting']), undefined)
    const [first] = await claimDueTasks(sql, PARTITION, 1, LEASE_MS)
    assert.equal(first?.id, id)
    const stolen = { ...first, account_id: other }
    assert.equal(await renewTask(sql, stolen, LEASE_MS), false)
    assert.equal(await markSending(sql, stolen, LEASE_MS), false)
    assert.equal(await renewTask(sql, first, LEASE_MS), true)
    assert.equal(await markSending(sql, first, LEASE_MS), true)
    const accept = (task: typeof first) =>
      sql.begin((transaction) => acceptTask(transaction, task, `up_${id}`, 0))
    assert.equal(await accept(stolen), false)
    assert.equal(await accept(first), true)

    const claimed = await claimOne(sql, first, LEASE_MS)
    assert.ok(claimed)
    const later = { state: 'processing', dueInMs: 0, failed: false, gone: false } as const
    assert.equal(await rescheduleTask(sql, { ...claimed, account_id: other }, later), false)
    assert.equal(await markCancelSent(sql, { ...claimed, account_id: other }), false)
    assert.equal(await rescheduleTask(sql, claimed, later), true)
    const [last] = await claimDueTasks(sql, PARTITION, 1, LEASE_MS)
    assert.ok(last)
    await releaseTask(sql, { ...last, account_id: other })
    const end = { state: 'succeeded', result: {}, usage: null, code: null, message: null } as const
    const ended = await sql.begin(async (transaction) => {
      const stolen = { ...last, account_id: other }
      assert.equal(await closeTask(transaction, stolen, { ...end, silent: false }), undefined)
      const row = await closeTask(transaction, last, { ...end, silent: false })
      await settleTask(transaction, last, {
        chargeNanos: 60n,
        status: 'succeeded',
        basis: 'params',
        review: false,
        lines: [],
        cost: null,
        attempts: [],
      })
      return row
    })
    assert.equal(ended?.state, 'succeeded')
    assert.equal((await findTask(sql, own, id))?.charge?.charged, '60')
    assert.equal(await findTask(sql, other, id), undefined)
    const list = (accountId: string) => listTasks(sql, { accountId, kind: 'video', limit: 10 })
    assert.deepEqual(
      (await list(own)).rows.map((row) => row.id),
      [id],
    )
    assert.equal((await list(other)).rows.length, 0)
    assert.equal(await hideTask(sql, foreign), false)
    assert.equal(await hideTask(sql, ended), true)
  })

  test('a file is found, listed and deleted', async () => {
    const requestId = newRequestId()
    const id = await createFile(sql, own, { request_id: null, published: false })
    await createFile(sql, own, { request_id: requestId, published: true })
    assert.equal((await findFile(sql, own, id))?.id, id)
    assert.equal(await findFile(sql, other, id), undefined)
    const list = (accountId: string) => listFiles(sql, { accountId, limit: 10, newestFirst: true })
    assert.deepEqual(
      (await list(own)).map((row) => row.id),
      [id],
    )
    assert.equal((await list(other)).length, 0)
    const left = async () => {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from file where account_id = ${own}`
      return row?.count
    }
    for (const [account, count] of [
      [other, 2],
      [own, 1],
    ] as const) {
      const task = { account_id: account, request_id: requestId }
      await sql.begin((transaction) => deletePublished(transaction, task))
      assert.equal(await left(), count)
    }
    const remove = (account: string) =>
      sql.begin((transaction) => deleteFile(transaction, account, id))
    assert.equal(await remove(other), undefined)
    assert.equal((await remove(own))?.id, id)
  })

  test('a result is copied, listed and deleted', async () => {
    const id = newId('asset')
    await sql.begin((transaction) =>
      insertAsset(transaction, {
        id,
        accountId: own,
        kind: 'video',
        taskId: newId('task'),
        position: 0,
        requestId: newRequestId(),
        model: 'm',
        prompt: null,
        originalTaskId: null,
        sourceUrl: 'http://a.test/',
        sourceExpiresAt: new Date(Date.now() + LEASE_MS),
        token: randomBytes(16).toString('hex'),
        width: null,
        height: null,
        seconds: null,
      }),
    )
    const [copy] = await claimCopies(sql, { limit: 1, leaseMs: LEASE_MS, overdueMs: 0 })
    assert.equal(copy?.id, id)
    assert.equal(await renewCopy(sql, { ...copy, account_id: other }, LEASE_MS), false)
    assert.equal(await renewCopy(sql, copy, LEASE_MS), true)
    const list = (accountId: string) =>
      selectAssets(sql, { accountId, kinds: ['video'], limit: 10 })
    assert.deepEqual(
      (await list(own)).map((row) => row.id),
      [id],
    )
    assert.equal((await list(other)).length, 0)
    const remove = (account: string) =>
      sql.begin((transaction) => deleteAssetRow(transaction, account, ['video'], id))
    assert.equal(await remove(other), undefined)
    assert.equal((await remove(own))?.task_id !== undefined, true)
  })

  test('a delivery is sent and listed', async () => {
    const id = newId('whd')
    const delivery = { id, accountId: own, taskId: null, kind: 'test', host: 'a.test:80' }
    await insertDelivery(sql, { ...delivery, url: 'http://a.test/', body: Buffer.from('{}') })
    const options = { limits: SENDING_LIMITS, freeSlots: 10, delaysMs: DELAYS_MS, now: null }
    const { claimed } = await claimDueDeliveries(sql, options)
    const [row] = claimed
    assert.equal(row?.id, id)
    const result = { ...row, outcome: 'accepted', status: 200, error: null } as const
    const sent = { ...result, latencyMs: 1, responseHead: null }
    const timing = { delayMs: null, now: null }
    assert.equal(await recordAttempt(sql, { ...sent, account_id: other }, timing), undefined)
    assert.equal(await recordAttempt(sql, sent, timing), 'delivered')
    const list = (accountId: string) => selectDeliveries(sql, { accountId, limit: 10 })
    assert.deepEqual(
      (await list(own)).map(({ history }) => history.length),
      [1],
    )
    assert.equal((await list(other)).length, 0)
  })
})

async function createTask(sql: Sql, accountId: string): Promise<string> {
  const id = newId('task')
  const caller = { requestId: newRequestId(), accountId, keyId: `key_${accountId}` }
  const call = { ...caller, endpoint: 'test', model: 'm' }
  await sql.begin(async (transaction) => {
    const held = await holdForTask(transaction, id, {
      ...call,
      priceVersion: null,
      amountNanos: HOLD_NANOS,
      estimate: {},
      spendLimitNanos: null,
      idempotency: null,
    })
    assert.ok('holdId' in held)
    const task = { ...call, id, kind: 'video', holdId: held.holdId, request: {} } as const
    const prepared = { quantities: {}, facts: {} }
    const times = { ageMsMax: LEASE_MS, dueInMs: 0 }
    const attempt = { id: newId('att'), taskId: id, number: 1, channelId: PARTITION.channel_id }
    await insertTask(
      transaction,
      { ...task, ...times, prepared, webhookUrl: null, quote: null, state: 'submitting' },
      { ...attempt, channelVersion: 1, upstreamModel: 'm', upstreamCostVersion: null },
    )
  })
  return id
}

async function createFile(
  sql: Sql,
  accountId: string,
  more: { readonly request_id: string | null; readonly published: boolean },
): Promise<string> {
  const id = newId('file')
  await sql.begin((transaction) =>
    insertFile(transaction, {
      ...more,
      id,
      account_id: accountId,
      token: randomBytes(16).toString('hex'),
      storage_key: id,
      filename: 'a.txt',
      purpose: 'user_data',
      content_type: 'text/plain',
      bytes: 1n,
      sha256: randomBytes(32),
      life_seconds: LEASE_MS,
      idempotency_key: null,
    }),
  )
  return id
}
