/**
 * Browser contexts that tests have one after another, each with its page. A new page takes twice
 * the processor time, in a new context or not: its process starts, and compiles the console again.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core'

const PATIENCE_MS = 180_000
/** A light page, for one that nobody has: it keeps its process. */
const PARKED = '/healthz'
/** What nobody could take back: pages have the same. */
const LASTING = ['addInitScript', 'exposeBinding', 'exposeFunction', 'route'] as const

/** Changes of a page that nobody could take back: it is not used again. */
const LASTING_OF_PAGE = [
  'addInitScript',
  'emulateMedia',
  'exposeBinding',
  'exposeFunction',
  'setDefaultNavigationTimeout',
  'setDefaultTimeout',
  'setExtraHTTPHeaders',
] as const
/** All that tests listen to. Playwright itself listens to the end of a page. */
const EVENTS = [
  'console',
  'dialog',
  'download',
  'filechooser',
  'framenavigated',
  'pageerror',
  'popup',
  'request',
  'requestfailed',
  'requestfinished',
  'response',
  'websocket',
]

/** Runs in a page. Playwright keeps a clock that was set under this name. */
const IS_REAL_CLOCK = `!('__pwClock' in globalThis)`

/** By the language of their pages. */
type Idle = Map<string, BrowserContext[]>
const idleOf = new WeakMap<Browser, Idle>()
/** Pages that are not used again. */
const changed = new WeakSet<Page>()

/** Returns a page in a context that is empty. The context's `close` gives both back. */
export async function borrowPage(
  browser: Browser,
  { locale, colorScheme }: { readonly locale: string; readonly colorScheme: 'light' | 'dark' },
): Promise<Page> {
  const idle: Idle = idleOf.get(browser) ?? new Map()
  idleOf.set(browser, idle)
  const same = idle.get(locale) ?? []
  idle.set(locale, same)
  const context = same.pop() ?? (await openContext(browser, locale))
  const page = context.pages()[0] ?? (await openWatched(context))
  const { close, newCDPSession } = context
  context.newCDPSession = (of) => {
    changed.add(of as Page)
    return newCDPSession.call(context, of)
  }
  context.close = async () => {
    Object.assign(context, { close, newCDPSession })
    if (await empty(context).catch(() => false)) same.push(context)
    else await context.close()
  }
  await page.emulateMedia({ colorScheme })
  changed.delete(page)
  // What a page keeps for its own time is emptied for one origin alone.
  const origins = new Set<string>()
  page.on('framenavigated', (frame) => {
    if (frame !== page.mainFrame()) return
    origins.add(new URL(frame.url()).origin)
    if (origins.size > 1) changed.add(page)
  })
  return page
}

async function openContext(browser: Browser, locale: string): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale,
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(PATIENCE_MS)
  for (const name of LASTING) {
    context[name] = () =>
      Promise.reject(new Error(`contexts are used again: call ${name} of a page`))
  }
  return context
}

/** Opens a page that counts as changed once one of the lasting methods is called. */
async function openWatched(context: BrowserContext): Promise<Page> {
  const page = await context.newPage()
  for (const name of LASTING_OF_PAGE) {
    const work = page[name] as (...given: unknown[]) => unknown
    const noted = (...given: unknown[]) => {
      changed.add(page)
      return work.apply(page, given)
    }
    Object.assign(page, { [name]: noted })
  }
  return page
}

/** Resolves to whether nothing is left of whoever had it. */
async function empty(context: BrowserContext): Promise<boolean> {
  const [page, ...others] = context.pages()
  await Promise.all(others.map((other) => other.close()))
  if (!page) return false
  for (const event of EVENTS) page.removeAllListeners(event)
  if (!(await park(page))) return false
  const devTools = await context.newCDPSession(page)
  await devTools.send('Storage.clearDataForOrigin', { origin: '*', storageTypes: 'all' })
  await devTools.detach()
  await context.clearCookies()
  await context.clearPermissions()
  // A clock that a page has set is that of all pages of the context, for good.
  if (!(await page.evaluate<boolean>(IS_REAL_CLOCK))) return false
  if (changed.has(page)) await page.close()
  return true
}

/** Resolves to whether the page's gateway still answers. */
async function park(page: Page): Promise<boolean> {
  const { origin, pathname } = new URL(page.url())
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  if (pathname === PARKED) return true
  const isParked = await page.goto(origin + PARKED).catch(() => null)
  if (!isParked) return false
  // It would hover whatever is there on the next page.
  await page.mouse.move(0, 0)
  return true
}
