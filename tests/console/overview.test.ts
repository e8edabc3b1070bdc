import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../support/browser.ts'
import { expectAccessible, expectFits, expectUncut, LOOKS } from './support/browser.ts'
import { type ConsoleStage, startConsoleStage } from './support/stage.ts'

const CALL = { Type: 'web', Query: 'rivers' }

describe('the overview of an account', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('an account without a call is shown its first steps', async () => {
    const { account } = await stage.createCaller('0')
    const { page } = await stage.signedIn('/', { accountId: account.id })
    await page.getByRole('link', { name: 'Add money to the account' }).waitFor()
    await page.getByText('Create an API key · Done').waitFor()
    await page.context().close()
  })

  test('a call is seen without a reload, and leads to its explanation', async () => {
    const { page, complaints, listening } = await stage.signedIn('/')
    await page.getByRole('link', { name: /^Available/ }).waitFor()
    assert.equal(await page.getByRole('heading', { name: 'Latest calls' }).count(), 0)
    await listening
    const answer = await stage.post('/v1/search', CALL)
    assert.equal(answer.status, 200)
    const recent = page.getByRole('table', { name: 'Latest calls' })
    await recent.getByText('Succeeded').waitFor()
    const target = await recent.getByRole('link').first().getAttribute('href')
    assert.ok(target?.endsWith(`/usage?id=${answer.headers.get('x-request-id')}`), target ?? '')
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('arrow keys move through a chart and show its values', async () => {
    await stage.post('/v1/search', CALL)
    const { page } = await stage.signedIn('/')
    const chart = page.getByRole('slider', { name: 'Calls' })
    await chart.focus()
    const told = page.locator(':focus[aria-valuetext*="Succeeded "]')
    await page.keyboard.press('ArrowLeft')
    // An hour may have begun since the call.
    if ((await told.count()) === 0) await page.keyboard.press('ArrowLeft')
    await told.waitFor()
    // Figures of another period are faded out until their own arrive.
    const release = Promise.withResolvers<void>()
    await page.route('**/usage/summary?*', async (route) => {
      await release.promise
      await route.continue()
    })
    await page.getByRole('button', { name: 'Period: Last 24 hours' }).click()
    await page.getByRole('button', { name: 'Yesterday', exact: true }).click()
    await page.locator('[data-stale]').filter({ has: chart }).waitFor()
    release.resolve()
    await page.locator('[data-stale]').waitFor({ state: 'detached' })
    await page.context().close()
  })

  test('foreign accounts are not shown, whatever the address says', async () => {
    const { account } = await stage.createCaller()
    const { page } = await stage.signedIn(`/?account=${account.id}`)
    await page.getByRole('link', { name: /^Available/ }).waitFor()
    assert.equal(await page.getByText(account.id).count(), 0)
    await page.context().close()
  })

  for (const look of LOOKS) {
    test(`accessible: ${JSON.stringify(look)}`, async () => {
      await stage.post('/v1/search', CALL)
      const { page, complaints } = await stage.signedIn('/', {}, look)
      await page.getByRole('slider').first().waitFor()
      await page.getByRole('link', { name: 'vendor-web-search' }).first().waitFor()
      await expectFits(page)
      await expectUncut(page)
      await expectAccessible(page)
      assert.deepEqual(complaints, [])
      await page.context().close()
    })
  }
})
