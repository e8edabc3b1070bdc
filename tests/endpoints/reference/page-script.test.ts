/** The reference's own script, in a real browser under its own policy. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { expectAccessible } from '../../console/support/browser.ts'
import { ensureConsole } from '../../console/support/build.ts'
import { launchBrowser, noBrowser } from '../../support/browser.ts'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'

describe('the script of the reference', { skip: noBrowser }, () => {
  let gateway: TestGateway
  let browser: Browser
  before(async () => {
    await ensureConsole()
    gateway = await startTestGateway()
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    await gateway?.stop()
  })

  test('finds a call, shows it in three languages, and copies it', async () => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await context.newPage()
    await page.goto(`${gateway.url}/docs`)
    await page.getByRole('searchbox').fill('embeddings')
    // What the search finds stands above the contents, as soon as it has read its index.
    const links = page.locator('nav ul[data-group] li:visible a')
    assert.ok((await links.count()) < 5)
    await page.locator('nav ul[data-group] li:visible a[href$="#postEmbeddings"]').click()
    await page.waitForURL(/\/docs\/text#postEmbeddings/)
    const section = page.locator('#postEmbeddings')
    await section.getByRole('button', { name: 'Python' }).click()
    await section.getByText('requests.request').waitFor()
    assert.equal(await section.getByText('curl http').isVisible(), false)
    await section.locator('[data-language=Python]').getByRole('button', { name: 'Copy' }).click()
    await section.getByRole('button', { name: 'Copied' }).waitFor()
    assert.match(await page.evaluate<string>('navigator.clipboard.readText()'), /requests\.request/)
    await context.close()
  })

  test('a link to a call on the former single page leads to it', async () => {
    const page = await browser.newPage()
    await page.goto(`${gateway.url}/docs#postChatCompletions`)
    await page.waitForURL(/\/docs\/text#postChatCompletions/)
    await page.close()
  })

  test('one search leads to guides and calls, at every width and in both themes', async () => {
    await searchAtEveryWidth(browser, gateway.url)
  })

  test('the admin API has pages of its own', async () => {
    const page = await browser.newPage({ bypassCSP: true })
    await page.goto(`${gateway.url}/docs`)
    await page.getByRole('link', { name: 'Admin API' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Admin API' }).waitFor()
    await expectAccessible(page)
    await page.locator('main').getByRole('link', { name: 'Operators: channels' }).click()
    await page.getByRole('heading', { level: 1, name: 'Operators: channels' }).waitFor()
    assert.equal(await page.locator('nav').getByText('Create a chat completion').count(), 0)
    await page.close()
  })
})

async function searchAtEveryWidth(browser: Browser, url: string): Promise<void> {
  for (const [width, colorScheme] of [
    [390, 'dark'],
    [1280, 'light'],
  ] as const) {
    const viewport = { width, height: 844 }
    const page = await browser.newPage({ viewport, colorScheme, bypassCSP: true })
    await page.goto(`${url}/docs/guides/budgets`)
    if (width < 800) await page.getByText('Contents and search').click()
    await page.getByRole('searchbox').fill('archive month')
    const found = page.getByRole('list', { name: 'Found' })
    await found.getByRole('link', { name: 'Operating a gateway › Archives' }).click()
    await page.waitForURL(/\/docs\/guides\/operate#archives$/)
    await page.getByRole('heading', { level: 2, name: 'Archives' }).waitFor()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width)
    await expectAccessible(page)
    if (width < 800) await page.getByText('Contents and search').click()
    await page.getByRole('searchbox').fill('embeddings')
    const call = found.getByRole('link', { name: 'API reference › POST /v1/embeddings' })
    assert.equal(await call.getAttribute('href'), '/docs/text#postEmbeddings')
    await page.close()
  }
}
