// Installs the packages of package-lock.json beside the present ones and swaps them at the end: a
// failed or interrupted installation leaves what was there.
import { spawn } from 'node:child_process'
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const FILES = ['package.json', 'package-lock.json', '.npmrc']
const QUIET = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']
const PROGRESS_MS = 10_000

/** An installation that failed; the message says what to do. */
export class InstallError extends Error {}

/**
 * Replaces `node_modules` of `root`. Rejects with InstallError, and nothing is changed then.
 * Without `isPatient`, a network that is away is not tried again, which takes npm over a minute.
 */
export async function replaceTree(root, { everything, isPatient, say }) {
  const fresh = makeFolder(root)
  try {
    for (const name of FILES) {
      if (existsSync(join(root, name))) cpSync(join(root, name), join(fresh, name))
    }
    const args = ['ci', ...(everything ? [] : ['--omit=dev'])]
    say(`Installing dependencies (npm ${args.join(' ')}), about a minute …`)
    await runNpm(fresh, isPatient ? args : [...args, '--fetch-retries=0'], say)
    if (!everything) removeHeaders(join(fresh, 'node_modules'))
    swap(root, fresh)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

/** Makes a folder to install into, and removes what an interrupted installation has left. */
function makeFolder(root) {
  for (const name of readdirSync(root).filter((one) => one.startsWith('.installing-'))) {
    rmSync(join(root, name), { recursive: true, force: true })
  }
  return mkdtempSync(join(root, '.installing-'))
}

async function runNpm(folder, args, say) {
  const started = Date.now()
  const progress = setInterval(() => {
    const seconds = Math.round((Date.now() - started) / 1_000)
    say(`  ${seconds} s, ${countPackages(join(folder, 'node_modules'))} packages so far …`)
  }, PROGRESS_MS)
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const child = spawn(npm, [...args, ...QUIET], {
    cwd: folder,
    // Standard output is for the path of the pinned Node alone.
    stdio: ['ignore', process.stderr, 'inherit'],
    env: { ...process.env, ...cacheSettings() },
    shell: process.platform === 'win32',
  })
  const outcome = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(code === 0 ? undefined : `${signal ?? code}`))
  })
  clearInterval(progress)
  if (outcome === undefined) return
  throw new InstallError(
    `npm ci failed (${outcome}); what was installed before is unchanged. Check the messages ` +
      'above and the network (npm ping), then try again. Without a network, copy ' +
      'node_modules from a machine of the same kind.',
  )
}

function countPackages(modules) {
  if (!existsSync(modules)) return 0
  const names = readdirSync(modules).filter((name) => !name.startsWith('.'))
  const scoped = names.filter((name) => name.startsWith('@'))
  const inside = scoped.map((name) => readdirSync(join(modules, name)).length)
  return names.length - scoped.length + inside.reduce((sum, count) => sum + count, 0)
}

/** npm needs a cache that it can write; a service's home often cannot be. */
function cacheSettings() {
  const named = process.env.npm_config_cache
  const cache = named ?? join(homedir(), '.npm')
  if (isWritable(cache)) return {}
  const other = join(tmpdir(), `tributary-npm-${process.getuid?.() ?? 'cache'}`)
  mkdirSync(other, { recursive: true, mode: 0o700 })
  return { npm_config_cache: other }
}

/** Returns true if the folder can be written, or made. */
function isWritable(folder) {
  try {
    accessSync(existsSync(folder) ? folder : dirname(folder), constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** The pinned Node's C++ headers are a quarter of an installation, and only compilers need them. */
function removeHeaders(modules) {
  for (const name of readdirSync(modules).filter((one) => /^node-\w+-\w+$/.test(one))) {
    rmSync(join(modules, name, 'include'), { recursive: true, force: true })
  }
}

/** Puts the new packages in the place of the old ones, which a running gateway may still read. */
function swap(root, fresh) {
  const place = join(root, 'node_modules')
  const old = join(fresh, 'old')
  try {
    if (existsSync(place)) renameSync(place, old)
    renameSync(join(fresh, 'node_modules'), place)
  } catch (error) {
    if (existsSync(old) && !existsSync(place)) renameSync(old, place)
    throw new InstallError(
      `${place} cannot be replaced (${error.code}): is it a mount or a link? ` +
        'Run `npm ci` in this folder, then start again.',
    )
  }
}
