// What is built from sources that this repository has: the console and the site of the
// documentation. A build is written beside the old one and replaces it at the end, so that a
// running gateway always serves a complete one. Uses nothing newer than Node 20.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const STAMP = 'stamp.txt'

/**
 * Describes a product. `folder` is where `dist` is, `listSources` returns the paths of what it is
 * built from, and `argumentsOf` those of the Node program that builds it into a folder.
 */
export function defineProduct({ name, folder, listSources, argumentsOf }) {
  const output = join(folder, 'dist')

  /** Returns a hash of everything that the build depends on: sources and lockfile. */
  function stampOfSources() {
    const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')))
    for (const path of listSources()) {
      // The same in every folder: a release is built in one and started in another.
      hash.update(relative(root, path)).update(readFileSync(path))
    }
    return hash.digest('hex')
  }

  /** Returns true if there is no build, or if it was made from other sources. */
  function isStale() {
    const stamp = join(output, STAMP)
    return !existsSync(stamp) || readFileSync(stamp, 'utf8') !== stampOfSources()
  }

  /**
   * Builds with the given Node. Resolves with false on failure: the gateway runs without it.
   * The event loop stays free, for the lock that keeps other starts waiting is renewed meanwhile.
   */
  async function build(node) {
    console.error(`Building the ${name} …`)
    const stamp = stampOfSources()
    const fresh = join(folder, `.dist-${process.pid}`)
    // Standard output is for the path of the pinned Node alone.
    const stdio = ['ignore', process.stderr, 'inherit']
    const program = spawn(node, argumentsOf(fresh), { cwd: root, stdio })
    const [code] = await once(program, 'close').catch(() => [1])
    if (code !== 0) {
      rmSync(fresh, { recursive: true, force: true })
      console.error(`The ${name} could not be built: see above, then try \`npm run build\`.`)
      return false
    }
    writeFileSync(join(fresh, STAMP), stamp)
    const old = join(folder, `.dist-${process.pid}-old`)
    if (existsSync(output)) renameSync(output, old)
    renameSync(fresh, output)
    rmSync(old, { recursive: true, force: true })
    return true
  }

  return { name, stampOfSources, isStale, build }
}

/** Returns the files below a folder in the same order everywhere; none if it is absent. */
export function listFiles(where, isWanted = () => true) {
  if (!existsSync(where)) return []
  return readdirSync(where, { withFileTypes: true })
    .filter(({ name }) => name !== 'dist' && !name.startsWith('.') && isWanted(name))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(where, entry.name)
      return entry.isDirectory() ? listFiles(path, isWanted) : [path]
    })
}

/** As a command: builds what is stale, or everything with --force. */
export async function buildAsCommand(url, products) {
  if (!process.argv[1] || url !== pathToFileURL(process.argv[1]).href) return
  const pinned = join(root, 'node_modules', '.bin', 'node')
  const node = existsSync(pinned) ? pinned : process.execPath
  for (const product of products) {
    const isWanted = process.argv.includes('--force') || product.isStale()
    if (isWanted && !(await product.build(node))) process.exit(1)
  }
}
