/** What creates or ends a task waits for the lock of its account, as a call does. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { whenUnlocked } from '../../../server/work/tasks/when-unlocked.ts'
import { lockAccount, untilAskedFor } from '../../support/database/lock-account.ts'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'

const LOCKED = Object.assign(new Error('canceling statement due to lock timeout'), {
  code: '55P03',
})

let gateway: TestGateway
before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

test('a task is created once the lock of the account is free', async () => {
  const tenant = await gateway.tenant({ balance: '100' })
  const unlock = await lockAccount(gateway.sql, tenant.accountId)
  const created = gateway.post('/v1/videos/generations', tenant.key, {
    model: 'doubao-seedance-2-0-260128',
    content: [{ type: 'text', text: 'a river' }],
  })
  await untilAskedFor(gateway.sql, created)
  await unlock()
  const { status, text } = await created
  assert.equal(status, 200, text)
})

test('what found the account locked is done again once it is free', async () => {
  const { accountId } = await gateway.tenant()
  const unlock = await lockAccount(gateway.sql, accountId)
  let tries = 0
  const work = async () => {
    tries += 1
    if (tries === 1) throw LOCKED
    return 'done'
  }
  const done = whenUnlocked(gateway.sql, accountId, 10_000, work)
  await untilAskedFor(gateway.sql, done)
  assert.equal(tries, 1, 'nothing is tried while the account is locked')
  await unlock()
  assert.deepEqual([await done, tries], ['done', 2])
})

test('an account that stays locked is given up, and another error is not tried again', async () => {
  const { accountId } = await gateway.tenant()
  const fail = (error: Error) =>
    whenUnlocked(gateway.sql, accountId, 8, async () => {
      tries += 1
      throw error
    })
  let tries = 0
  const unlock = await lockAccount(gateway.sql, accountId)
  await assert.rejects(fail(LOCKED), LOCKED)
  assert.equal(tries, 1)
  await unlock()
  tries = 0
  await assert.rejects(fail(LOCKED), LOCKED)
  assert.equal(tries, 2)
  tries = 0
  const other = new Error('other')
  await assert.rejects(fail(other), other)
  assert.equal(tries, 1)
})
