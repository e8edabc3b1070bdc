import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { type Stage, startStage } from '../support/gateway.ts'
import {
  expectAccessible,
  expectFits,
  launchBrowser,
  noBrowser,
  openPage,
  PHONE,
} from './support/browser.ts'
import { ensureConsole } from './support/build.ts'

describe('the pages before the sign-in', { skip: noBrowser }, () => {
  let stage: Stage
  let browser: Browser
  before(async () => {
    await ensureConsole()
    stage = await startStage()
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    await stage?.stop()
  })

  for (const path of ['sign-in', 'setup#token=abc', 'reset#token=abc', 'nothing/of/the/kind']) {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`/${path} can be read by all, on a phone, ${colorScheme}`, async () => {
        const { page, complaints } = await openPage(browser, { ...PHONE, colorScheme })
        await page.goto(`${stage.url}/console/${path}`)
        await page.getByRole('heading').first().waitFor()
        await expectFits(page)
        await expectAccessible(page)
        assert.deepEqual(complaints, [])
        await page.context().close()
      })
    }
  }

  test('speaks the browser’s language, and the other one when asked', async () => {
    const { page } = await openPage(browser, { locale: 'zh-CN' })
    await page.goto(`${stage.url}/console/sign-in`)
    await page.getByRole('heading', { name: '登录' }).waitFor()
    assert.equal(await page.evaluate('document.documentElement.lang'), 'zh-CN')
    await page.getByRole('button', { name: 'English' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.context().close()
  })
})
