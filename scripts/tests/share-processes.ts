/**
 * Lets test files share processes: loading the gateway's modules costs more than most files' tests.
 * Each file is a suite of its own, so that its hooks are its own, and they run one after another.
 */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

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
    writeFileSync(path, writeModule(part))
    return { path, files: part }
  })
}

function writeModule(files: readonly string[]): string {
  const suites = files.map((file) => {
    const path = JSON.stringify(resolve(file))
    return `describe(${JSON.stringify(file)}, async () => { await import(${path}) })`
  })
  return `import { describe } from 'node:test'\n${suites.join('\n')}\n`
}
