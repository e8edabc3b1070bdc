/** The browser's language is used until a person chooses another one. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../support/browser.ts'
import { openPage } from './support/browser.ts'
import { type ConsoleStage, PASSWORD, startConsoleStage } from './support/stage.ts'

describe('the language', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('of a Chinese browser is kept, whatever the profile says', async () => {
    const { email } = await stage.createPerson()
    const { page, context } = await openPage(stage.browser, { locale: 'zh-CN' })
    await page.goto(`${stage.console}/sign-in`)
    await page.getByLabel('邮箱').fill(email)
    await page.getByLabel('密码', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: '登录' }).click()
    await page.getByRole('heading', { level: 1, name: '概览' }).waitFor()
    await page.getByRole('link', { name: '用量' }).click()
    await page.getByRole('heading', { level: 1, name: '用量' }).waitFor()
    assert.equal(await page.locator('html').getAttribute('lang'), 'zh-CN')
    await context.close()
  })
})
