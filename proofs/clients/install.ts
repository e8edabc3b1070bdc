/** Installs clients at exact versions, each into a folder of its own outside the repository. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Exact versions by package. */
export type Packages = Readonly<Record<string, string>>

const CLIENTS_FOLDER =
  process.env.CLIENTS_FOLDER ?? join(homedir(), '.cache', 'tributary', 'prove-clients')

/**
 * Returns the folder of a client and keeps it between runs: all of them together take several
 * gigabytes. `--ignore-scripts` would break agents that unpack their binary.
 */
export function installClient(id: string, packages: Packages): string {
  const folder = join(CLIENTS_FOLDER, id)
  const manifest = `${JSON.stringify({ private: true, dependencies: packages })}\n`
  const file = join(folder, 'package.json')
  const isThere = existsSync(join(folder, 'node_modules', '.package-lock.json'))
  if (isThere && readFileSync(file, 'utf8') === manifest) return folder
  console.log(`installing ${id}`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, manifest)
  const npm = ['install', '--prefix', folder, '--no-audit', '--no-fund']
  const { status, stderr } = spawnSync('npm', npm, { encoding: 'utf8' })
  if (status === 0) return folder
  // The next run must not take a half installation for a whole one.
  writeFileSync(file, '{}')
  throw new Error(`npm install of ${id}: ${stderr}`)
}
