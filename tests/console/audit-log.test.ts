/** The audit log in the browser: sentences for every kind of actor, and changed values. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { messages as acts } from '../../console/src/features/operator-audit-log/act-messages.ts'
import { ADMIN_CONTRACT } from '../../server/api/admin/contract.ts'
import type { Contract } from '../../server/api/admin/route.ts'
import { noBrowser } from '../support/browser.ts'
import { expectAccessible, expectFits, PHONE } from './support/browser.ts'
import { type ConsoleStage, startConsoleStage } from './support/stage.ts'

test('each change that the audit log names has its sentence', () => {
  const contract: Contract = ADMIN_CONTRACT
  const audited = Object.entries(contract)
    .filter(([key, { isRead, role }]) => !key.startsWith('GET ') && !isRead && role !== 'public')
    .map(([key]) => key)
  assert.ok(audited.length > 40)
  assert.deepEqual(
    audited.filter((key) => !Object.hasOwn(acts.en, key)),
    [],
  )
})

describe('the audit log', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('says who did what, from the console and the command line, and what it was before', async () => {
    const { page, context, complaints } = await stage.signedIn('/operator/audit-log', {
      operator: true,
    })
    const { id } = stage.account
    const answer = await context.request.patch(`${stage.url}/admin/v1/operator/accounts/${id}`, {
      headers: { 'x-tributary-console': '1' },
      data: { name: 'Riverside' },
    })
    assert.equal(answer.status(), 200, await answer.text())
    await stage.sql`update api_key set name = 'nightly' where id = ${stage.key.id}`
    await stage.sql`
      insert into audit_log (actor, action, target, account_id, ip, details)
      values ('cli:root', 'POST /operator/accounts/:account_id/suspend', ${id}, ${id}, '', '{}'),
        ('cli:root', 'POST /operator/accounts/:account_id/credits', ${id}, ${id}, '',
          '{"amount": "1250.5", "currency": "USD", "reason": "invoice 7"}'),
        ('cli:root', 'PATCH /accounts/:account_id/keys/:key_id',
          ${`${id} ${stage.key.id}`}, ${id}, '',
          '{"expires_at": "2027-01-31T09:30:00.000Z", "spend_limit": "20",
            "before": {"expires_at": null, "spend_limit": "12.5"}}')`
    await page.reload()
    const name = `Riverside …${id.slice(-4)}`
    await page.getByText(`root on the command line suspended the account ${name}`).waitFor()
    await page.getByText(`posted $1,250.50 to the account ${name}: invoice 7`).waitFor()
    await page
      .getByText(/^person\d+@example\.com signed in$/)
      .first()
      .waitFor()
    const row = page.getByRole('row').filter({ hasText: `changed the account ${name}` })
    await expectAccessible(page)
    await row.getByRole('button').first().click()
    const changes = page.getByRole('dialog').getByRole('table', { name: 'Changes' })
    assert.deepEqual(await changes.locator('td').allInnerTexts(), ['name', 'test', 'Riverside'])
    await page.keyboard.press('Escape')
    await page
      .getByRole('row')
      .filter({ hasText: `changed a key: nightly (${name})` })
      .getByRole('button')
      .first()
      .click()
    await changes.getByText('Jan 31, 2027, 09:30:00 UTC').waitFor()
    const cells = await changes.locator('td').allInnerTexts()
    assert.deepEqual(cells.slice(-3), ['spend_limit', '¥12.50', '¥20.00'])
    assert.deepEqual(complaints, [])
    await context.close()
    const phone = await stage.signedIn('/operator/audit-log', { operator: true }, PHONE)
    await phone.page.getByText('Riverside').or(phone.page.getByText('suspended')).first().waitFor()
    await expectFits(phone.page)
    await phone.page.context().close()
  })
})
