/** A creation waits for the lock of its account as a call does, instead of failing at the first. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'

let gateway: TestGateway
before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

/** Returns how many statements wait for a lock. */
async function countWaiting(): Promise<number> {
  const [row] = await gateway.sql<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  return row?.count ?? 0
}

test('a task is created once the lock of the account is free', async () => {
  const tenant = await gateway.tenant({ balance: '100' })
  const locked = Promise.withResolvers<void>()
  const unlock = Promise.withResolvers<void>()
  const locking = gateway.sql.begin(async (transaction) => {
    await transaction`
      select from balance where account_id = ${tenant.accountId} for update`
    locked.resolve()
    await unlock.promise
  })
  await locked.promise
  const created = gateway.post('/v1/videos/generations', tenant.key, {
    model: 'doubao-seedance-2-0-260128',
    content: [{ type: 'text', text: 'a river' }],
  })
  await until('the wait of the first attempt', async () => (await countWaiting()) > 0)
  await until('its end', async () => (await countWaiting()) === 0)
  unlock.resolve()
  await locking
  const { status, text } = await created
  assert.equal(status, 200, text)
})
