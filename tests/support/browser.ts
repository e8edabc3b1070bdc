/** The headless browser of the tests. */
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

/** The shell takes two thirds of the processor time of the browser with a user interface. */
const PROGRAMS = ['chromium-headless-shell', 'chromium']
const folders = (process.env.PATH ?? '').split(delimiter)
const found = PROGRAMS.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) =>
  existsSync(path),
)

/** For `describe(name, { skip: noBrowser })`. */
export const noBrowser = found === undefined && 'no Chromium is installed'

export function launchBrowser(): Promise<Browser> {
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
    ],
  })
}
