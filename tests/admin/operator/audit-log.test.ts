/** The audit log over HTTP: names for the ids that it mentions, currencies for its amounts. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createAccount } from '../../../server/money/accounts/manage-accounts.ts'
import { type AdminStage, startAdmin } from '../support.ts'

const AS = { as: 'boss' }

describe('the audit log', () => {
  let stage: AdminStage
  before(async () => {
    stage = await startAdmin()
    stage.enterOperator('boss', false)
  })
  after(() => stage.stop())

  const entries = (account: string) =>
    stage.read('GET /operator/audit-log', { ...AS, query: { account } })

  async function write(accountId: string, target: string, details: object): Promise<void> {
    await stage.sql`
      insert into audit_log (actor, action, target, account_id, ip, details)
      values ('cli', 'test', ${target}, ${accountId}, '', ${JSON.stringify(details)}::text::jsonb)`
  }

  test('ids have names where something has that id, and amounts the account’s currency', async () => {
    const { accountId, keyId } = await stage.tenant()
    await stage.sql`update api_key set name = 'nightly' where id = ${keyId}`
    await write(accountId, `${accountId} ${keyId}`, { amount: '1', key_id: 'key_gone' })
    const [entry] = (await entries(accountId)).data
    const [account] = await stage.sql`select name from account where id = ${accountId}`
    assert.deepEqual(entry?.names, { [accountId]: account?.name, [keyId]: 'nightly' })
    assert.equal(entry?.currency, 'CNY')
  })

  test('an entry’s own currency comes first, and one without an account has none', async () => {
    const { id } = await createAccount(stage.sql, { name: 'Acme', currency: 'USD', actor: 'test' })
    await write(id, '', { amount: '1', currency: 'EUR' })
    await write(id, '', { amount: '1' })
    assert.deepEqual(
      (await entries(id)).data.map(({ currency }) => currency),
      ['USD', 'EUR'],
    )
    await stage.sql`
      insert into audit_log (actor, action, target, ip) values ('cli', 'apply', 'x.json', '')`
    const query = { action: 'apply' }
    const [apply] = (await stage.read('GET /operator/audit-log', { ...AS, query })).data
    assert.deepEqual([apply?.currency, apply?.names], [null, {}])
  })

  test('a change has what it was before', async () => {
    const { id } = await createAccount(stage.sql, { name: 'Acme', actor: 'test' })
    const params = { account_id: id }
    const body = { low_balance_at: '5' }
    await stage.read('PATCH /accounts/:account_id', { ...AS, params, body })
    assert.deepEqual(stage.audited.at(-1)?.details, {
      low_balance_at: '5',
      before: { low_balance_at: null },
      outcome: 'done',
    })
  })
})
