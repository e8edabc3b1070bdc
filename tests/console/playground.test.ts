import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectAccessible, expectFits, noBrowser, PHONE } from './support/browser.ts'
import { type ConsoleStage, startConsoleStage } from './support/stage.ts'

describe('the playground', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  for (const [model, shown] of [
    ['sim-chat', 'p'],
    ['vendor-web-search', 'pre'],
    ['seed-tts-2.0', 'audio[src]'],
  ] as const) {
    test(`${model} answers, and its cost is told and explained`, async () => {
      const { page, complaints } = await stage.signedIn(`/playground?model=${model}`)
      await page.getByText('Price', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Send' }).click()
      const answer = page.locator('section').filter({ hasText: 'Answer' }).last()
      await answer.locator(shown).first().waitFor()
      const cost = answer.getByRole('link', { name: /^Cost/ })
      await cost.waitFor()
      assert.match((await cost.getAttribute('href')) ?? '', /\/usage\?id=req_/)
      assert.deepEqual(complaints, [])
      await page.context().close()
    })
  }

  test('an empty balance is refused in the API’s own words', async () => {
    const { account } = await stage.createCaller('0')
    const { page } = await stage.signedIn('/playground', { accountId: account.id })
    await page.getByRole('button', { name: 'Send' }).click()
    await page
      .getByRole('alert')
      .getByText(/insufficient balance/)
      .waitFor()
    await page.context().close()
  })

  test('can be read by all, on a phone', async () => {
    const { page } = await stage.signedIn('/playground', {}, PHONE)
    await page.getByRole('button', { name: 'Send' }).waitFor()
    await expectFits(page)
    await expectAccessible(page)
    await page.context().close()
  })
})
