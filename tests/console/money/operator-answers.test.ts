/** What operators ask about money: what is on hold and why, who changed a price, what is stale. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../../support/browser.ts'
import { expectAccessible, expectFits, expectUncut, PHONE } from '../support/browser.ts'
import { leave, proveUntil } from '../support/journey.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'

const OPERATOR = { operator: true } as const

describe('an operator’s questions', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('what is on hold and why, and whether the backup is fresh', async () => {
    // Of later, or the gateway would release it as one of a process that has ended.
    await stage.sql`
      insert into hold
        (id, request_id, account_id, key_id, task_id, endpoint, model, amount, created_at)
      select 'hold_test', 'req_test', ${stage.account.id}, 'key_test', null, 'chat.completions',
        'sim-chat', 0, now() + interval '1 day'`
    await stage.sql`
      insert into command_run (command, place, finished_at, outcome, version, succeeded_at)
      values ('backup', '/backups', now(), 'succeeded', '1', now() - interval '3 days')`
    const watched = await stage.signedIn('/operator/proof', OPERATOR)
    const { page } = watched
    const holds = page.getByRole('table', { name: 'The oldest open holds' })
    const row = holds.getByRole('row').filter({ hasText: 'sim-chat' })
    await row.getByText('the end of the call').waitFor()
    await row.getByRole('link').first().waitFor()
    const fact = (label: string) => page.locator('dl > div, dl').filter({ hasText: label }).last()
    await fact('Backup: tributary backup').getByText('3 days ago').waitFor()
    await fact('Audit: tributary audit').getByText('Never').waitFor()
    assert.equal(await page.getByText('`').count(), 0)
    await expectAccessible(page)
    await leave(watched)
    const phone = await stage.signedIn('/operator/proof', OPERATOR, { ...PHONE, locale: 'zh-CN' })
    await phone.page.getByText('最早的未结冻结').waitFor()
    await expectFits(phone.page)
    await expectUncut(phone.page)
    await leave(phone)
    await stage.sql`delete from hold where id = 'hold_test'`
  })

  test('credits and unbilled costs that could not be loaded are not shown as none', async () => {
    const { page } = await stage.signedIn('/sign-in', OPERATOR)
    const refusal = { status: 403, json: { error: 'not today', type: 'permission_error' } }
    await page.route(/\/(?:credits|uncharged-costs)(?:\?|$)/, (route) => route.fulfill(refusal))
    for (const path of ['/operator/proof', `/operator/accounts?id=${stage.account.id}`]) {
      await page.goto(`${stage.console}${path}`)
      await page.getByRole('alert').getByText('not today').waitFor()
      assert.equal(await page.getByText(/^(?:Every submission has|Nothing yet)/).count(), 0)
    }
    await page.context().close()
  })

  test('a price with a condition needs no JSON, and tells who changed it', async () => {
    const watched = await stage.signedIn('/operator/models?id=sim-chat', OPERATOR)
    const { page } = watched
    const drawer = page.getByRole('dialog', { name: 'sim-chat', exact: true })
    await drawer.getByRole('button', { name: 'Edit', exact: true }).click()
    // The first price, of input tokens, becomes one of short calls.
    await drawer.getByRole('button', { name: 'Only when …' }).first().click()
    await drawer.getByLabel('Only when', { exact: true }).fill('input_tokens')
    await drawer.getByRole('textbox', { name: 'Below' }).fill('x')
    const save = drawer.getByRole('button', { name: 'Save', exact: true })
    const dialog = page.getByRole('dialog', { name: 'Save sim-chat with these changes?' })
    const send = async () => {
      await save.click()
      await dialog.getByRole('button', { name: 'Save', exact: true }).click()
    }
    await send()
    await drawer.locator('[aria-invalid=true]').first().waitFor()
    await expectAccessible(page)
    await drawer.getByRole('textbox', { name: 'Below' }).fill('1000')
    await drawer.getByText(/· up to 999 input tokens$/).waitFor()
    await send()
    const who = drawer.getByRole('link', { name: 'Who changed it' })
    await proveUntil(page, who)
    const [stored] = await stage.sql`
      select p.prices from model m join price p on p.version = m.price_version
      where m.id = 'sim-chat'`
    assert.deepEqual(stored?.prices[0].when, { input_tokens: { below: 1000 } })
    await who.click()
    const change = page.getByRole('row').filter({ hasText: 'sim-chat' })
    await change
      .getByText(/^person\d+@example\.com$/)
      .first()
      .waitFor()
    assert.equal(await change.count(), 1)
    await expectAccessible(page)
    await leave(watched)
  })

  test('the calls of all accounts fit, with the accounts’ names', async () => {
    const watched = await stage.signedIn('/operator/calls', OPERATOR)
    const { page } = watched
    await page.getByRole('heading', { level: 1, name: 'Calls' }).waitFor()
    await proveUntil(page, page.getByRole('heading', { level: 1 }))
    await expectUncut(page)
    await leave(watched)
  })
})
