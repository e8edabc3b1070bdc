/** When is a page there? Measured where it happens: in the browser, from its own beginning. */
import type { BrowserContext, CDPSession, Page } from 'playwright-core'

/**
 * Runs in every page before its own scripts. A page is open when its heading stands, nothing loads
 * and no question to the API is under way; `opened` is the moment of the last change before that,
 * in milliseconds from the navigation. It is believed after 300 ms without another change.
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

/** Opens an address as by typing it. Answers after how many milliseconds it was there. */
export async function open(page: Page, url: string): Promise<number> {
  await page.goto(url, { waitUntil: 'commit' })
  return page.evaluate<number>('window.opened')
}

/** What the browser received, compressed as it came, heads included. */
export async function countBytes(page: Page): Promise<() => number> {
  const session: CDPSession = await page.context().newCDPSession(page)
  let bytes = 0
  await session.send('Network.enable')
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  return () => bytes
}
