import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectAccessible, expectFits, noBrowser, openPage, PHONE } from './support/browser.ts'
import { type ConsoleStage, PASSWORD, startConsoleStage } from './support/stage.ts'

describe('the pages before the sign-in', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('whoever is not signed in is asked to, and comes to what was asked for', async () => {
    const { email } = await stage.createPerson()
    const { page, complaints } = await openPage(stage.browser)
    await page.goto(`${stage.console}/keys?id=key_1`)
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password', { exact: true }).fill('a wrong one')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page
      .getByRole('alert')
      .getByText(/password/)
      .waitFor()
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    assert.equal(new URL(page.url()).search, '?id=key_1')
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('a link to another site is not followed after the sign-in', async () => {
    const { email } = await stage.createPerson()
    for (const next of ['//evil.example/', 'https://evil.example/', '/\\evil.example']) {
      const { page } = await openPage(stage.browser)
      await page.goto(`${stage.console}/sign-in?next=${encodeURIComponent(next)}`)
      await page.getByLabel('E-mail').fill(email)
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      assert.equal(new URL(page.url()).origin, stage.url, next)
      await page.context().close()
    }
  })

  test('signing out leaves nothing behind', async () => {
    const { page } = await stage.signedIn('/keys')
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await page.getByRole('button', { name: 'Your menu' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goto(`${stage.console}/keys`)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.context().close()
  })

  for (const path of ['sign-in', 'setup#token=abc', 'reset#token=abc', 'invite#token=abc', 'no']) {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`/${path} can be read by all, on a phone, ${colorScheme}`, async () => {
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

  test('speaks the browser’s language, and the other one when asked', async () => {
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
