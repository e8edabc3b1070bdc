/**
 * Lets test files share processes: loading the gateway's modules costs more than most files' tests.
 * Each file is a suite of its own, so that its hooks are its own, and they run one after another.
 */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The suite around files that share a browser; only its hooks fail by themselves. */
export const BROWSER_SUITE = 'in one browser'

export interface Share {
  /** The module to be run in place of the files. */
  readonly path: string
  readonly files: readonly string[]
}

/** Writes modules into `folder` that run at most `most` of the files each, neighbours together. */
export function shareProcesses(
  folder: string,
  name: string,
  files: readonly string[],
  most: number,
): Share[] {
  const count = Math.ceil(files.length / most)
  return Array.from({ length: count }, (_, index) => {
    const start = Math.round((index * files.length) / count)
    const part = files.slice(start, Math.round(((index + 1) * files.length) / count))
    const path = join(folder, `${name}-${index + 1}.mjs`)
    writeFileSync(path, name === 'browser' ? writeBrowserModule(part) : writeModule(part))
    return { path, files: part }
  })
}

function writeModule(files: readonly string[]): string {
  return `import { describe } from 'node:test'\n${writeSuites(files)}\n`
}

/** The files' browser starts before the first of them and ends after the last. */
function writeBrowserModule(files: readonly string[]): string {
  const browser = JSON.stringify(resolve('tests/support/browser.ts'))
  const paths = JSON.stringify(files.map((file) => resolve(file)))
  return `import { after, before, describe } from 'node:test'
import { launchBrowser, noBrowser } from ${browser}
describe('${BROWSER_SUITE}', async () => {
let browser
before(async () => { if (!noBrowser) browser = await launchBrowser() })
after(() => browser?.close())
${writeSuites(files)}
// All tests are declared before the first of them starts.
await Promise.allSettled(${paths}.map((path) => import(path)))
})
`
}

function writeSuites(files: readonly string[]): string {
  return files
    .map((file) => {
      const path = JSON.stringify(resolve(file))
      return `describe(${JSON.stringify(file)}, async () => { await import(${path}) })`
    })
    .join('\n')
}
