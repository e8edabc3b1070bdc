/** Pages of the console in a browser, and the checks that each must pass. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { until } from '../../support/until.ts'
import { borrowPage } from './contexts.ts'

const PATIENCE_MS = 180_000
/** How long the console shows a toast: of what was done, and of what has failed. */
const TOAST_MS = [4_000, 8_000]

export interface Look {
  readonly width?: number
  readonly height?: number
  readonly colorScheme?: 'light' | 'dark'
  readonly locale?: 'en-US' | 'zh-CN'
}

export const PHONE: Look = { width: 360, height: 740 }
export const DARK: Look = { locale: 'zh-CN', colorScheme: 'dark' }
/** Each width, appearance and language once: none of them depends on another. */
export const LOOKS = [PHONE, DARK]

export interface WatchedPage {
  readonly page: Page
  readonly context: BrowserContext
  /** Everything that the browser blocked or logged; tests expect none. */
  readonly complaints: string[]
  /** Resolves once the page is told of what happens, which it is not of what came before. */
  readonly listening: Promise<unknown>
}

/**
 * Opens a page in a browser context that nobody else has meanwhile, isolated from other tests. A
 * context that is closed is emptied and used again, with its page.
 */
export async function openPage(browser: Browser, look: Look = {}): Promise<WatchedPage> {
  const { width = 1280, height = 800, colorScheme = 'light', locale = 'en-US' } = look
  const page = await borrowPage(browser, { locale, colorScheme })
  const context = page.context()
  await page.setViewportSize({ width, height })
  const listening = new Promise<void>((resolve) => {
    page.on('response', (answer) => answer.url().endsWith('/events') && resolve())
  })
  const complaints: string[] = []
  page.on('console', (message) => {
    const isGrave = message.type() === 'error' || message.type() === 'warning'
    // Chromium reports each answer of 4xx; the pages speak of those themselves.
    const isAnswer = message.text().startsWith('Failed to load resource')
    if (isGrave && !isAnswer) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  return { page, context, complaints, listening }
}

/**
 * Goes to a page of another heading without loading the console again, as a link does, and waits
 * for that heading.
 */
export async function goInside(page: Page, href: string): Promise<void> {
  const before = await page.locator('h1').allTextContents()
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(href)})`)
  await until(`another heading at ${href}`, async () => {
    const [heading] = await page.locator('h1').allTextContents()
    return heading !== undefined && heading !== before[0]
  })
}

/** Waits until a page has a heading and all of its parts. */
export async function expectLoaded(page: Page, path: string): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  const busy = page.locator('[aria-busy=true]')
  await until(`all of ${path}`, async () => (await busy.count()) === 0 || undefined)
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const IS_STILL = `!document.querySelector('[data-stale]') &&
  !document.getAnimations().some((one) => one instanceof CSSTransition)`

/** Whatever breaks one of these counts as minor or moderate, so it is looked for with `all` alone. */
const MINOR_RULES = `Object.fromEntries(axe._audit.rules
  .filter(({ impact }) => impact === 'minor' || impact === 'moderate')
  .map(({ id }) => [id, { enabled: false }]))`

/** Rows of a long table are all made alike. */
const ALIKE = 'tbody tr:nth-child(n + 13)'

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/**
 * Throws for serious violations of WCAG 2.2 AA that axe-core finds; with `all`, for minor ones. Rows
 * that wait for newer ones are faded out on purpose, and no colour is final in a transition.
 */
export async function expectAccessible(page: Page, { all = false } = {}): Promise<void> {
  await until('the end of fading', () => page.evaluate<boolean>(IS_STILL))
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(AXE)
  const violations = await page.evaluate<Violation[]>(`
    axe.run({ exclude: '${ALIKE}' }, {
      resultTypes: ['violations'],
      selectors: false,
      preload: { assets: ['media'] },
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      rules: ${all ? '{}' : MINOR_RULES},
    }).then(({ violations }) => violations)
  `)
  const grave = violations.filter(({ impact }) => all || /serious|critical/.test(impact))
  const descriptions = grave.flatMap(({ id, nodes }) =>
    nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  )
  assert.deepEqual(descriptions, [])
}

/** Keeps the toasts of this page from now on: a busy test may look later than they go. */
export async function keepToasts(page: Page): Promise<void> {
  await page.evaluate(`{
    const { setTimeout } = window
    window.setTimeout = (work, ms, ...more) =>
      setTimeout(work, [${TOAST_MS}].includes(ms) ? ${PATIENCE_MS} : ms, ...more)
  }`)
}

/** Throws if the page scrolls sideways. */
export async function expectFits(page: Page): Promise<void> {
  const [reach, width] = await page.evaluate<[number, number]>(
    '[document.documentElement.scrollWidth, innerWidth]',
  )
  assert.ok(reach <= width, `the page is ${reach} wide in a window of ${width}`)
}

/** Throws if a table is wider than its place: on a phone rows are cards, and nothing is cut off. */
export async function expectUncut(page: Page): Promise<void> {
  const cut = await page.evaluate<string[]>(`
    [...document.querySelectorAll('.mantine-ScrollArea-viewport')]
      .filter((one) => one.scrollWidth > one.clientWidth)
      .map((one) => one.getAttribute('aria-label') ?? one.innerText.slice(0, 60))
  `)
  assert.deepEqual(cut, [])
}
