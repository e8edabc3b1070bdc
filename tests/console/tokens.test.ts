/** Access tokens in the console: made, seen once, used by a script, revoked by hand. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../support/browser.ts'
import { until } from '../support/until.ts'
import { expectAccessible, expectFits, PHONE } from './support/browser.ts'
import { proveUntil } from './support/journey.ts'
import { type ConsoleStage, startConsoleStage } from './support/stage.ts'

describe('access tokens', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  const ask = async (token: string, path = '/me') => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${stage.url}/admin/v1${path}`, { headers })
    return { status: answer.status, text: await answer.text() }
  }

  test('one is created after a step-up, shown once, works, and is revoked', async () => {
    const { page, complaints } = await stage.signedIn('/settings')
    await page.getByText('Create one to read usage').waitFor()
    await stage.sql`update console_session set stepped_up_until = null`
    await page.getByRole('button', { name: 'Create a token' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create a token' })
    await dialog.getByLabel('Name').fill('deploy')
    await dialog.getByLabel('Scope').click()
    await page.getByRole('option', { name: 'Read and write' }).click()
    await dialog.getByLabel('Expires').click()
    await page.getByRole('option', { name: 'In 30 days' }).click()
    await dialog.getByLabel('Also allow sensitive actions').check()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Create' }).click()
    const shown = page.getByRole('dialog', { name: 'Your access token' })
    await proveUntil(page, shown)
    const token = await shown.locator('pre').first().innerText()
    assert.match(token, /^tra-[0-9A-Za-z]{49}$/)
    assert.ok((await shown.innerText()).includes(`${stage.url}/admin/v1/me`))

    const { status, text } = await ask(token)
    const answer = JSON.parse(text)
    assert.deepEqual(
      [status, answer.token.scope, answer.token.sensitive, answer.memberships.length],
      [200, 'write', true, 1],
    )
    const days = (Date.parse(answer.token.expires_at) - Date.now()) / 86_400_000
    assert.equal(Math.round(days), 30)

    await shown.getByRole('button', { name: 'Done' }).click()
    const revoke = page.getByRole('button', { name: 'Revoke: deploy' })
    await revoke.waitFor()
    assert.ok(!(await page.content()).includes(token))
    await page.getByText(/Read and write, sensitive/).waitFor()
    await revoke.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Revoked', { exact: true }).waitFor()
    assert.equal((await ask(token)).status, 401)
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('an operator sees their owners and actions, and revokes them', async () => {
    const owner = await stage.signedIn('/settings')
    const response = await owner.context.request.fetch(`${stage.url}/admin/v1/profile/tokens`, {
      method: 'POST',
      headers: { 'x-tributary-console': '1' },
      data: { name: 'nightly', scope: 'write' },
    })
    const { token } = (await response.json()) as { token: string }
    await fetch(`${stage.url}/admin/v1/accounts/${stage.account.id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"low_balance_at":"5"}',
    })
    await owner.context.close()

    const { page, complaints } = await stage.signedIn('/operator/audit-log', { operator: true })
    await page.getByText(`by nightly (…${token.slice(-4)})`).waitFor()
    await page.goto(`${stage.console}/operator/users`)
    const row = page.getByRole('row').filter({ hasText: 'nightly' })
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await row.getByText('Revoked').waitFor()
    await until('the token to be refused', async () => (await ask(token)).status === 401)

    await page.getByRole('button', { name: 'Invite an operator' }).click()
    const inviting = page.getByRole('dialog', { name: 'Invite an operator' })
    await inviting.getByLabel('E-mail').fill('new@ops.example')
    await inviting.getByRole('button', { name: 'Invite an operator' }).click()
    await page.getByRole('dialog', { name: 'Link' }).getByRole('button', { name: 'Done' }).click()
    const invited = page.getByRole('row').filter({ hasText: 'new@ops.example' })
    await invited.getByRole('button', { name: 'Withdraw' }).click()
    await invited.waitFor({ state: 'detached' })
    const left = await stage.sql`select from console_link where email = 'new@ops.example'`
    assert.equal(left.length, 0)
    await expectFits(page)
    await expectAccessible(page)
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('in Chinese on a phone', async () => {
    const look = { ...PHONE, locale: 'zh-CN' } as const
    const { page, complaints } = await stage.signedIn('/settings', {}, look)
    await page.getByRole('button', { name: '创建令牌' }).click()
    const dialog = page.getByRole('dialog', { name: '创建令牌' })
    await dialog.getByLabel('名称').fill('部署')
    await expectFits(page)
    await expectAccessible(page)
    await dialog.getByRole('button', { name: '创建', exact: true }).click()
    const shown = page.getByRole('dialog', { name: '访问令牌' })
    await shown.locator('pre').first().waitFor()
    await expectFits(page)
    await shown.getByRole('button', { name: '完成' }).click()
    await page.getByRole('button', { name: '吊销: 部署' }).waitFor()
    await expectFits(page)
    await expectAccessible(page)
    assert.deepEqual(complaints, [])
    await page.context().close()
  })
})
