// Builds the console when its sources or its packages have changed since the last build. The build
// is written beside the old one and replaces it at the end: a running gateway always serves a
// complete one. Runs on the machine's own Node as well, so it uses nothing newer than Node 20.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = join(root, 'console')
const output = join(folder, 'dist')
const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
const STAMP = 'stamp.txt'
/** The server's tables that the console reads. */
const TABLES = [
  'server/money/catalog/model-types.ts',
  'server/base/lib/task-kinds.ts',
  'server/base/lib/units.ts',
]

/** Returns true if there is no build, or if it was made from other sources. */
export function isConsoleStale() {
  const stamp = join(output, STAMP)
  return !existsSync(stamp) || readFileSync(stamp, 'utf8') !== stampOfSources()
}

/** Returns a hash of everything that the build depends on: sources, configuration, lockfile. */
export function stampOfSources() {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')))
  const tables = TABLES.map((path) => join(root, path))
  for (const path of [...listSources(folder), ...tables]) {
    // The same in every folder: a release is built in one and started in another.
    hash.update(relative(folder, path)).update(readFileSync(path))
  }
  return hash.digest('hex')
}

function listSources(where) {
  return readdirSync(where, { withFileTypes: true })
    .filter(({ name }) => name !== 'dist' && !name.startsWith('.') && name !== 'README.md')
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(where, entry.name)
      return entry.isDirectory() ? listSources(path) : [path]
    })
}

/**
 * Builds with the given Node. Resolves with false on failure: the gateway runs without a console.
 * The event loop stays free, for the lock that keeps other starts waiting is renewed meanwhile.
 */
export async function buildConsole(node) {
  console.error('Building the console …')
  const stamp = stampOfSources()
  const fresh = join(folder, `.dist-${process.pid}`)
  const build = spawn(node, [vite, 'build', folder, '--outDir', fresh, '--logLevel', 'warn'], {
    cwd: root,
    // Standard output is for the path of the pinned Node alone.
    stdio: ['ignore', process.stderr, 'inherit'],
  })
  const [code] = await once(build, 'close').catch(() => [1])
  if (code !== 0) {
    rmSync(fresh, { recursive: true, force: true })
    console.error('The console could not be built: see above, then try `npm run build`.')
    return false
  }
  writeFileSync(join(fresh, STAMP), stamp)
  replace(fresh)
  return true
}

function replace(fresh) {
  const old = join(folder, `.dist-${process.pid}-old`)
  if (existsSync(output)) renameSync(output, old)
  renameSync(fresh, output)
  rmSync(old, { recursive: true, force: true })
}

// As a command: builds when needed, or always with --force.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const isWanted = process.argv.includes('--force') || isConsoleStale()
  if (isWanted && !(await buildConsole(process.execPath))) process.exit(1)
}
