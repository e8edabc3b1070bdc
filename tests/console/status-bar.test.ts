/** What stands above every page: outages, new builds, a customer's account, the demo. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../support/browser.ts'
import { startGateway } from '../support/gateway.ts'
import { startBareStage } from './support/bare.ts'
import { expectAccessible, expectFits, openPage, PHONE } from './support/browser.ts'
import { startDemoStage } from './support/demo.ts'
import { goTo } from './support/journey.ts'
import { type ConsoleStage, PASSWORD, startConsoleStage } from './support/stage.ts'

describe('the status bar', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('operators have two workspaces, customers one', async () => {
    const { page } = await stage.signedIn('/', { operator: true, role: 'owner' })
    await page.getByRole('navigation').getByRole('link', { name: 'Playground' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Channels' }).count(), 0)
    await page.getByRole('group', { name: 'Workspace' }).getByText('Operator').click()
    await page.getByRole('navigation').getByRole('link', { name: 'Channels' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'Playground' }).count(), 0)
    await page.context().close()
    const customer = await stage.signedIn('/')
    await customer.page.getByRole('link', { name: 'Playground' }).waitFor()
    assert.equal(await customer.page.getByRole('group', { name: 'Workspace' }).count(), 0)
    await customer.page.context().close()
  })

  test('a long name of a customer widens neither the notice nor the audit log', async (t) => {
    const { id } = stage.account
    const [before] = await stage.sql<{ name: string }[]>`select name from account where id = ${id}`
    t.after(() => stage.sql`update account set name = ${before?.name ?? ''} where id = ${id}`)
    await stage.sql`update account set name = ${'W'.repeat(150)} where id = ${id}`
    await stage.sql`
      insert into audit_log (actor, action, target, account_id, ip, details)
      values ('cli:root', 'POST /operator/accounts/:account_id/suspend', ${id}, ${id}, '', '{}')`
    const { page } = await stage.signedIn(`/keys?account=${id}`, { operator: true })
    await page.getByText(/acting as an operator in the account W{150}/).waitFor()
    await expectFits(page)
    await page.goto(`${stage.url}/console/operator/audit-log`)
    const sentence = page.getByText(/suspended the account W{150}/).first()
    await sentence.waitFor()
    const table = page.getByRole('table').filter({ has: sentence })
    const [cut, shown] = await table.evaluate((one) => {
      return [one.scrollWidth, one.parentElement?.clientWidth ?? 0]
    })
    assert.ok((cut ?? 0) <= (shown ?? 0), `${cut} of ${shown} pixels`)
    await page.context().close()
  })

  test('an operator in a customer’s account sees a notice, and can leave', async () => {
    const { page, complaints } = await stage.signedIn('/operator/accounts', { operator: true })
    await page.getByRole('button', { name: 'test' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'View as owner' }).click()
    const bar = page.getByText('You are acting as an operator in the account test …')
    await bar.waitFor()
    await goTo(page, '/keys', 'API keys')
    await bar.waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.waitForURL(/\/operator\/accounts/)
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await page.getByRole('group', { name: 'Workspace' }).getByText('Account').click()
    await page.getByRole('heading', { name: 'No account' }).waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('a newer build reloads the tab once, but not while the user types', async () => {
    const { page } = await stage.signedIn('/playground')
    await page.getByLabel('Message', { exact: true }).fill('half a thought')
    await page.route(`${stage.console}/`, async (route) => {
      const answer = await route.fetch()
      const html = (await answer.text()).replace(/assets\/first-/, 'assets/first-newer-')
      await route.fulfill({ response: answer, body: html })
    })
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await page.getByText('A new version of the console is available.').waitFor()
    assert.equal(await page.getByLabel('Message', { exact: true }).inputValue(), 'half a thought')
    await page.context().close()

    const idle = await stage.signedIn('/keys')
    await idle.page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
    await idle.page.route(`${stage.console}/`, async (route) => {
      const answer = await route.fetch()
      const html = (await answer.text()).replace(/assets\/first-/, 'assets/first-newer-')
      await route.fulfill({ response: answer, body: html })
    })
    await Promise.all([
      idle.page.waitForEvent('load'),
      idle.page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`),
    ])
    await idle.page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
    await idle.page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await idle.page.getByText('A new version of the console is available.').waitFor()
    await idle.page.context().close()
  })

  test('a page is loaded again while its files are of another build', async () => {
    const { page } = await stage.signedIn('/keys')
    const lacking = async (file: RegExp, times: number) =>
      await page.route(file, (route) => route.fulfill({ status: 404 }), { times })
    await lacking(/assets\/first-[^/]*\.js$/, 1)
    await lacking(/assets\/first-[^/]*\.css$/, 1)
    // Of the parts that are loaded later, several are missing at once.
    await lacking(/assets\/(?:page|shared)[^/]*\.js$/, 8)
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor()
    await page.context().close()
  })
})

test('a stopped gateway breaks no page, and the page recovers', { skip: noBrowser }, async () => {
  const stage = await startBareStage({ OPERATOR_SECOND_FACTOR: 'optional' })
  const { page, context } = await openPage(stage.browser)
  await page.goto(stage.setUpLink)
  await page.getByLabel('E-mail').fill('root@example.com')
  await page.getByLabel('Your name').fill('Root')
  await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Create operator' }).click()
  await page
    .getByRole('heading', { level: 1, name: 'Settings' })
    .or(page.getByText('No account'))
    .first()
    .waitFor()
  await page.goto(`${stage.gateway.url}/console/operator/accounts`)
  await page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor()
  const { port } = stage.gateway
  await stage.gateway.stop(5_000)
  await page.getByRole('navigation').getByRole('link', { name: 'Redeem codes' }).click()
  const bar = page.getByText('The gateway does not answer.')
  await bar.waitFor()
  await page.getByRole('button', { name: 'Try now' }).waitFor()
  assert.equal(await page.getByText('This page failed').count(), 0)
  const again = await startGateway({ ...stage.place, port })
  await page.getByRole('heading', { level: 1, name: 'Redeem codes' }).waitFor()
  await bar.waitFor({ state: 'hidden' })
  await context.close()
  await again.stop(5_000)
  await stage.stop()
})

test('the demo is entered with one button, and says that it is one', {
  skip: noBrowser,
}, async () => {
  const stage = await startDemoStage()
  const { page, context, complaints } = await openPage(stage.browser, PHONE)
  const refused: string[] = []
  page.on('response', (one) => one.status() >= 400 && refused.push(`${one.status()} ${one.url()}`))
  await page.goto(`${stage.gateway.url}/console/`)
  await page.getByText('one address and one key for many vendors').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Enter the demo' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await page.getByText('Demo: the vendors are simulated').waitFor()
  assert.deepEqual(refused, [])
  assert.deepEqual(complaints, [])
  await context.close()
  await stage.stop()
})
