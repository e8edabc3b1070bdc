/** Chat in its three dialects, search and embeddings, tried in a browser. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../../support/browser.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'
import { codeOf, costAfter, panel, priceBefore, send } from './support.ts'

describe('text in the playground', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('a conversation continues, and the price shown before equals the hold', async () => {
    const { page, complaints } = await stage.signedIn('/playground?model=sim-chat')
    await page.getByRole('textbox', { name: 'System prompt' }).fill('Be brief.')
    await page.getByRole('textbox', { name: 'Maximum output tokens' }).fill('50')
    await page.getByRole('textbox', { name: 'Message' }).fill('Name one river.')
    const before = await priceBefore(page)
    await send(page)
    const log = page.getByRole('log')
    await log.getByText(/tokens in, \d+ out/).waitFor()
    const { held } = await costAfter(page)
    assert.match(before, new RegExp(`Hold of up to ${held.replaceAll('$', '\\$')}`))
    await page.getByRole('textbox', { name: 'Message' }).fill('And another?')
    await page.getByRole('textbox', { name: 'Message' }).press('Enter')
    await log
      .getByText(/tokens in, \d+ out/)
      .nth(1)
      .waitFor()
    const code = await codeOf(page, 'curl')
    for (const text of ['Be brief.', 'Name one river.', 'assistant', 'And another?']) {
      assert.ok(code.includes(text), `${text} is missing in ${code}`)
    }
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  for (const dialect of ['Messages', 'Responses'] as const) {
    test(`${dialect} answers as well`, async () => {
      const { page, complaints } = await stage.signedIn('/playground?model=sim-chat')
      await page.getByText(dialect, { exact: true }).click()
      await priceBefore(page)
      await send(page)
      await page
        .getByRole('log')
        .getByText(/tokens in, \d+ out/)
        .waitFor()
      await costAfter(page)
      assert.deepEqual(complaints, [])
      await page.context().close()
    })
  }

  for (const [model, host] of [
    ['vendor-web-search', /example\./],
    ['vendor-global-search', /example\.org/],
  ] as const) {
    test(`${model} shows its results as cards that lead somewhere`, async () => {
      const { page, complaints } = await stage.signedIn(`/playground?model=${model}`)
      await page.getByRole('textbox', { name: 'Query' }).fill('rivers')
      await page.getByRole('textbox', { name: 'Results' }).fill('3')
      await priceBefore(page)
      await send(page)
      const cards = panel(page, 'Result').getByRole('listitem')
      await cards.nth(2).waitFor()
      const link = cards.first().getByRole('link')
      assert.match((await link.getAttribute('href')) ?? '', host)
      await costAfter(page)
      assert.deepEqual(complaints, [])
      await page.context().close()
    })
  }

  test('lines become vectors that are compared', async () => {
    const { page, complaints } = await stage.signedIn('/playground?kind=embedding')
    await priceBefore(page)
    await send(page)
    await page.getByRole('table', { name: 'Similarity of the lines' }).waitFor()
    await costAfter(page)
    const refusal = { status: 403, json: { error: 'not today', type: 'permission_error' } }
    await page.route('**/usage/req_*', (route) => route.fulfill(refusal))
    await send(page)
    const alert = page.getByRole('alert').filter({ hasText: 'not today' })
    await alert.getByRole('button', { name: 'Try again' }).waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()
  })
})
