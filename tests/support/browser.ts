/** The headless browser of the tests. */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'

/** The shell takes two thirds of the processor time of the browser with a user interface. */
const PROGRAMS = ['chromium-headless-shell', 'chromium']
const folders = (process.env.PATH ?? '').split(delimiter)
const found = PROGRAMS.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) =>
  existsSync(path),
)

/** For `describe(name, { skip: noBrowser })`. */
export const noBrowser = found === undefined && 'no Chromium is installed'

let running: Promise<Browser> | undefined
let users = 0

/**
 * Starts the browser, or joins the one that runs in this process already. `close` closes the pages
 * of its caller alone, and the browser with its last user.
 */
export async function launchBrowser(): Promise<Browser> {
  running ??= start()
  const browser = await running
  users += 1
  /** With what closes them, which a caller may have replaced by what uses them again. */
  const contexts = new Map<BrowserContext, () => Promise<void>>()
  let isClosed = false
  const keep = async (opening: Promise<BrowserContext>) => {
    const context = await opening
    contexts.set(context, context.close.bind(context))
    context.once('close', () => contexts.delete(context))
    return context
  }
  const own: Pick<Browser, 'newContext' | 'newPage' | 'close'> = {
    newContext: (options) => keep(browser.newContext(options)),
    newPage: async (options) => {
      const page = await browser.newPage(options)
      await keep(Promise.resolve(page.context()))
      return page
    },
    async close() {
      if (isClosed) return
      isClosed = true
      await Promise.all([...contexts.values()].map((close) => close()))
      users -= 1
      if (users > 0) return
      running = undefined
      await browser.close()
    },
  }
  return Object.assign(Object.create(browser), own)
}

function start(): Promise<Browser> {
  return chromium.launch({
    executablePath: found ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-sync',
      // A fake microphone with a beep every second.
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      // A page lives for seconds: to optimise its code costs a sixth of the browser's processor
      // time, and saves less.
      '--js-flags=--no-opt,--no-maglev',
    ],
  })
}
