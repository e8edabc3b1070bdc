import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { PAGE_HEADERS } from '../../../server/api/endpoints/reference/page/frame.ts'
import {
  listReferencePages,
  renderPage,
} from '../../../server/api/endpoints/reference/page/page.ts'
import { launchBrowser, noBrowser } from '../../support/browser.ts'
import { describeAll } from './support.ts'

describe('the reference page in a browser', { skip: noBrowser }, () => {
  let browser: Browser
  const pages = listReferencePages(describeAll())
  const server = createServer(({ url = '/' }, response) => {
    const slug = url.replace(/^\/(?:docs\/?)?/, '')
    const page = pages.find((one) => one.slug === slug)
    if (page) {
      response.writeHead(200, PAGE_HEADERS).end(renderPage(pages, page, 'http://127.0.0.1:8080'))
    } else {
      // The whole browser asks for an icon; its shell does not.
      response.writeHead(url === '/favicon.ico' ? 204 : 404).end()
    }
  })
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/docs/text`

  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    server.close()
  })

  for (const width of [340, 390, 768, 1000, 1440]) {
    test(`no overflow at ${width} pixels, and no refused or logged resource`, async () => {
      const page = await browser.newPage({ viewport: { width, height: 900 } })
      const complaints: string[] = []
      page.on('console', (message) => complaints.push(message.text()))
      page.on('pageerror', (error) => complaints.push(error.message))
      await page.goto(url())
      const reach = await page.evaluate('document.documentElement.scrollWidth')
      assert.equal(reach, width)
      assert.deepEqual(complaints, [])
      await page.close()
    })
  }

  test('follows the colour scheme, with readable text in both', async () => {
    const papers: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ colorScheme })
      await page.goto(url())
      const [paper = '', ...inks] = await page.evaluate<string[]>(`
        [document.body, ...document.querySelectorAll('p, td.type, figcaption, .method, .required')]
          .map((element, at) => getComputedStyle(element)[at === 0 ? 'backgroundColor' : 'color'])
      `)
      for (const ink of new Set(inks)) assert.ok(contrast(ink, paper) >= 4.5, `${ink} on ${paper}`)
      papers.push(paper)
      await page.close()
    }
    assert.notEqual(papers[0], papers[1])
  })

  test('the contents are collapsed on a phone and visible on a desktop', async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
    await page.goto(url())
    assert.equal(await page.locator('nav').isVisible(), false)
    await page.locator('summary', { hasText: 'Contents' }).click()
    assert.equal(await page.locator('nav').isVisible(), true)
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.reload()
    assert.equal(await page.locator('nav').isVisible(), true)
    await page.close()
  })
})

/** Returns the WCAG contrast ratio of two `rgb(…)` colours. */
function contrast(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((text) => {
    const share = Number(text) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
