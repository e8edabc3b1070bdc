/** Measures in the browser when a page is open, from the start of its navigation. */
import type { BrowserContext, CDPSession, Page } from 'playwright-core'

/**
 * Runs in every page before its own scripts. A page is open when its heading is shown, nothing
 * loads and no API request is in progress; `opened` is the time of the last change before that, in
 * milliseconds from the navigation. It counts after 300 ms without another change.
 */
const WATCH = `(() => {
  const QUIET_MS = 300
  const LOADS = '[aria-busy=true], .mantine-Loader-root, .mantine-Skeleton-root'
  let asked = 0
  let changedAt = 0
  const ask = window.fetch
  window.fetch = async (...parts) => {
    asked += 1
    try {
      return await ask(...parts)
    } finally {
      asked -= 1
      changedAt = performance.now()
    }
  }
  const isThere = () => {
    const main = document.querySelector('main')
    return asked === 0 && main?.querySelector('h1') && !main.querySelector(LOADS)
  }
  window.opened = new Promise((resolve) => {
    new MutationObserver(() => {
      changedAt = performance.now()
    }).observe(document, { subtree: true, childList: true, characterData: true })
    const timer = setInterval(() => {
      if (!isThere() || performance.now() - changedAt < QUIET_MS) return
      clearInterval(timer)
      resolve(changedAt)
    }, 20)
  })
})()`

export async function watchOpenings(context: BrowserContext): Promise<void> {
  await context.addInitScript(WATCH)
}

export interface Opening {
  readonly milliseconds: number
  /** Time of the page's own thread, which does not depend on other load. */
  readonly processorMs: number
  /** Bytes received by the browser, compressed, including headers. */
  readonly bytes: number
}

/** A tab that opens addresses as if typed and returns the measurement of each. */
export interface Opener {
  open(url: string, options?: { readonly withEmptyCache?: boolean }): Promise<Opening>
}

export async function createOpener(page: Page): Promise<Opener> {
  const session = await page.context().newCDPSession(page)
  let bytes = 0
  await session.send('Network.enable')
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  return {
    async open(url, { withEmptyCache = false } = {}) {
      if (withEmptyCache) await session.send('Network.clearBrowserCache')
      await page.goto('about:blank')
      bytes = 0
      const before = await processorSeconds(session)
      await page.goto(url, { waitUntil: 'commit' })
      const milliseconds = await page.evaluate<number>('window.opened')
      const processorMs = 1000 * ((await processorSeconds(session)) - before)
      return { milliseconds, processorMs, bytes }
    },
  }
}

async function processorSeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0
}
