// Installs the pinned dependencies when they are missing or the lockfile has changed. Runs on the
// machine's own Node, before the pinned one is there, so it uses nothing newer than Node 20.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { buildConsole, isConsoleStale } from './build-console.mjs'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/**
 * Makes `node_modules` match package-lock.json. `everything` also installs what only tests and
 * checks need. Returns the path of the pinned Node.
 */
export function install({ everything }) {
  const lock = readFileSync(join(root, 'package-lock.json'))
  const wanted = createHash('sha256').update(lock).digest('hex')
  const marker = join(root, 'node_modules', '.tributary-install.json')
  const have = existsSync(marker) ? JSON.parse(readFileSync(marker, 'utf8')) : {}
  if (have.lock !== wanted || (everything && !have.everything)) {
    const scope = everything || have.everything ? [] : ['--omit=dev']
    console.error(`Installing dependencies (${['npm ci', ...scope].join(' ')}) …`)
    const args = ['ci', ...scope, '--no-audit', '--no-fund', '--loglevel=error']
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
    const result = spawnSync(npm, args, {
      cwd: root,
      // Standard output is for the path of the pinned Node alone.
      stdio: ['inherit', process.stderr, 'inherit'],
    })
    if (result.status !== 0) {
      console.error('npm ci failed. Check the network and the messages above, then try again.')
      process.exit(result.status ?? 1)
    }
    if (scope.length > 0) removeHeaders()
    writeFileSync(marker, JSON.stringify({ lock: wanted, everything: scope.length === 0 }))
  }
  const suffix = process.platform === 'win32' ? 'node.exe' : 'node'
  const pinned = join(root, 'node_modules', '.bin', suffix)
  if (existsSync(pinned)) return pinned
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath
  console.error('No pinned Node for this platform was installed: use Node 24 or newer.')
  return process.exit(1)
}

/** The pinned Node's C++ headers are a quarter of an installation, and only compilers need them. */
function removeHeaders() {
  const modules = join(root, 'node_modules')
  for (const name of readdirSync(modules).filter((one) => /^node-\w+-\w+$/.test(one))) {
    rmSync(join(modules, name, 'include'), { recursive: true, force: true })
  }
}

// As a command: prints the pinned Node's path, for `npm start` to become that process. What only
// development needs is installed as well when the console has to be built with it.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const isForService = process.argv.includes('--production')
  const isStale = isForService && isConsoleStale()
  const node = install({ everything: !isForService || isStale })
  if (isStale) buildConsole(node)
  console.log(node)
}
