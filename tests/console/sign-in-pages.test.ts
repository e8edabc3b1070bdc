import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../support/browser.ts'
import { expectAccessible, expectFits, openPage, PHONE } from './support/browser.ts'
import { type ConsoleStage, startConsoleStage } from './support/stage.ts'

/** Types a password behind one link, and waits for an empty form behind the next one. */
async function openTwice(page: Page, address: string): Promise<void> {
  await page.goto(`${address}#token=one`)
  await page.locator('input[name=password]').fill('of the first link')
  await page.goto(`${address}#token=two`)
  await page.waitForFunction(`document.querySelector('input[name=password]')?.value === ''`)
}

describe('the pages before the sign-in', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  for (const path of [
    'sign-in',
    'sign-up',
    'setup#token=abc',
    'reset#token=abc',
    'invite#token=abc',
    'no',
  ]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`/${path} is accessible on a phone, ${colorScheme}`, async () => {
        const { page, complaints } = await openPage(stage.browser, { ...PHONE, colorScheme })
        await page.goto(`${stage.console}/${path}`)
        await page.getByRole('heading').first().waitFor()
        await expectFits(page)
        await expectAccessible(page)
        assert.deepEqual(complaints, [])
        await page.context().close()
      })
    }
  }

  test('a link that is opened in the page of another one shows its own', async () => {
    const owner = await stage.signedIn('/')
    const invite = async (email: string): Promise<string> => {
      const path = `/admin/v1/accounts/${stage.account.id}/invitations`
      const sent = await owner.page.request.post(`${stage.url}${path}`, {
        headers: { 'x-tributary-console': '1' },
        data: { email, role: 'viewer' },
      })
      return (await sent.json()).link
    }
    const { page } = await openPage(stage.browser)
    await page.goto(await invite('ada@acme.example'))
    await page.getByText(/as ada@acme\.example/).waitFor()
    await page.getByLabel('Your name').fill('Ada')
    await page.goto(await invite('grace@acme.example'))
    await page.getByText(/as grace@acme\.example/).waitFor()
    assert.equal(await page.getByLabel('Your name').inputValue(), '')
    await page.context().close()
    await owner.page.context().close()
  })

  test('a second link for a password starts with an empty form', async () => {
    const { page } = await openPage(stage.browser)
    for (const path of ['reset', 'setup']) await openTwice(page, `${stage.console}/${path}`)
    await page.context().close()
  })

  test('shows the browser’s language, and the other one on request', async () => {
    const { page } = await openPage(stage.browser, { locale: 'zh-CN' })
    await page.goto(`${stage.console}/sign-in`)
    await page.getByRole('heading', { name: '登录' }).waitFor()
    assert.equal(await page.evaluate('document.documentElement.lang'), 'zh-CN')
    await page.getByRole('button', { name: 'English' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.context().close()
  })
})
