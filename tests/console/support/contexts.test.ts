/** A context that is used again has nothing of whoever had it before. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser, noBrowser } from '../../support/browser.ts'
import { until } from '../../support/until.ts'
import { openPage } from './browser.ts'

/** Runs in a page: all that it finds stored for its origin. */
const READ = `(async () => JSON.stringify([
  { ...localStorage }, { ...sessionStorage }, document.cookie,
  (await indexedDB.databases()).map(({ name }) => name), await caches.keys(),
  (await navigator.permissions.query({ name: 'clipboard-read' })).state,
]))()`
const WRITE = `(async () => {
  localStorage.a = '1'
  sessionStorage.a = '1'
  document.cookie = 'a=1; max-age=3600'
  await new Promise((done) => { indexedDB.open('a').onsuccess = done })
  await caches.open('a')
})()`

const server = createServer((_, response) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>A page</h1>'),
)

/** The server's addresses: two origins. */
function addresses(): string[] {
  const { port } = server.address() as AddressInfo
  return ['127.0.0.1', 'localhost'].map((host) => `http://${host}:${port}/`)
}

describe('a context that is used again', { skip: noBrowser }, () => {
  let browser: Browser
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    server.closeAllConnections()
    server.close()
  })

  const read = async (page: Page) => {
    const found: string[] = []
    for (const address of addresses()) {
      await page.goto(address)
      found.push(await page.evaluate<string>(READ))
    }
    return found
  }

  test('has nothing of the one before', async () => {
    const first = await openPage(browser)
    const fresh = await read(first.page)
    for (const address of addresses()) {
      await first.page.goto(address)
      await first.page.evaluate(WRITE)
    }
    await first.context.grantPermissions(['clipboard-read'])
    const written = await read(first.page)
    assert.notDeepEqual(written, fresh)
    await first.context.close()
    const second = await openPage(browser)
    assert.equal(second.context, first.context)
    assert.deepEqual(await read(second.page), fresh)
    const other = await openPage(browser)
    assert.notEqual(other.context, first.context)
  })

  test('has its page, which nobody listens to', async () => {
    const [address = ''] = addresses()
    const first = await openPage(browser)
    await first.page.goto(address)
    const fresh = await first.page.evaluate(READ)
    await first.page.evaluate(WRITE)
    await first.page.route('**', (route) => route.abort())
    await first.context.close()
    const second = await openPage(browser)
    assert.equal(second.page, first.page)
    await second.page.goto(address)
    assert.equal(await second.page.evaluate(READ), fresh)
    await second.page.evaluate('console.error("of the second")')
    await until('a complaint', () => second.complaints.length > 0)
    assert.deepEqual([first.complaints, second.complaints], [[], ['of the second']])
    await second.page.addInitScript('window.isChanged = true')
    await second.context.close()
    const third = await openPage(browser)
    assert.equal(third.context, first.context)
    assert.notEqual(third.page, first.page)
  })

  test('is not one whose clock was set', async () => {
    const first = await openPage(browser)
    await first.page.clock.setFixedTime('2026-01-01')
    await first.page.goto(addresses()[0] ?? '')
    await first.context.close()
    const second = await openPage(browser)
    assert.notEqual(second.context, first.context)
  })
})
