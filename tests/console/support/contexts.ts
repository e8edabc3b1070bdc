/**
 * Browser contexts that tests have one after another. A page in a new one takes twice the processor
 * time: its process starts, and loads and compiles the console once more.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core'

const PATIENCE_MS = 180_000
/** A light page, which keeps the process of a context that has no other page. */
const PARKED = '/healthz'
/** What nobody could take back: pages have the same. */
const LASTING = ['addInitScript', 'exposeBinding', 'exposeFunction', 'route'] as const

/** Runs in a page. Playwright keeps a clock that was set under this name. */
const IS_REAL_CLOCK = `!('__pwClock' in globalThis)`

/** By the language of their pages. */
type Idle = Map<string, BrowserContext[]>
const idleOf = new WeakMap<Browser, Idle>()

/** Returns an empty context. Its `close` gives it back. */
export async function borrowContext(browser: Browser, locale: string): Promise<BrowserContext> {
  const idle: Idle = idleOf.get(browser) ?? new Map()
  idleOf.set(browser, idle)
  const same = idle.get(locale) ?? []
  idle.set(locale, same)
  const context = same.pop() ?? (await browser.newContext(optionsOf(locale)))
  const close = context.close
  context.setDefaultTimeout(PATIENCE_MS)
  for (const name of LASTING) {
    context[name] = () =>
      Promise.reject(new Error(`contexts are used again: call ${name} of a page`))
  }
  context.close = async () => {
    context.close = close
    if (await empty(context).catch(() => false)) same.push(context)
    else await context.close()
  }
  return context
}

function optionsOf(locale: string) {
  return {
    viewport: { width: 1280, height: 800 },
    locale,
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  } as const
}

/** Resolves to whether nothing is left of whoever had it. */
async function empty(context: BrowserContext): Promise<boolean> {
  const [parked, ...others] = context.pages()
  await Promise.all(others.map((page) => page.close()))
  if (!parked || !(await park(parked))) return false
  const devTools = await context.newCDPSession(parked)
  await devTools.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' })
  await devTools.detach()
  await context.clearCookies()
  await context.clearPermissions()
  // A clock that a page has set is that of all pages of the context, for good.
  return await parked.evaluate(IS_REAL_CLOCK)
}

/** Resolves to whether the page's gateway still answers. */
async function park(page: Page): Promise<boolean> {
  const { origin, pathname } = new URL(page.url())
  if (pathname === PARKED) return true
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  return await page.goto(origin + PARKED).then(
    () => true,
    () => false,
  )
}
