/** A delivery exists exactly if the transaction that enqueued it was committed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { enqueueDelivery } from '../../server/work/webhooks/enqueue.ts'
import { createTestDatabase } from '../support/postgres.ts'

const delivery = {
  accountId: 'acct_1',
  taskId: 'task_1',
  kind: 'video',
  url: 'https://Example.com/hook?a=1',
  body: '{"task_id":"task_1","text":"水"}',
}

test('a delivery is written with its bytes, and not without its transaction', async (t) => {
  const { sql, drop } = await createTestDatabase()
  t.after(drop)
  await assert.rejects(
    sql.begin(async (transaction) => {
      await enqueueDelivery(transaction, delivery)
      throw new Error('rolled back')
    }),
    /rolled back/,
  )
  assert.equal((await sql`select 1 from delivery`).length, 0)
  const id = await sql.begin((transaction) => enqueueDelivery(transaction, delivery))
  const [row] = await sql`select * from delivery`
  assert.deepEqual(
    [row?.id, row?.host, row?.state, row?.attempts, row?.body.toString()],
    [id, 'example.com:443', 'pending', 0, delivery.body],
  )
})

test('a task has one delivery', async (t) => {
  const { sql, drop } = await createTestDatabase()
  t.after(drop)
  const enqueue = () => sql.begin((transaction) => enqueueDelivery(transaction, delivery))
  await enqueue()
  await assert.rejects(enqueue(), /delivery_by_task/)
  assert.equal((await sql`select 1 from delivery`).length, 1)
})
