/** Creates the data of an embedded database, once. */
import { spawnSync } from 'node:child_process'
import {
  chownSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseProblem } from '../problem.ts'
import { type Binaries, commandAs, type RunAs } from './binaries.ts'
import { explainInitdb, explainWriting, refuseSmallDisk } from './explain.ts'
import { isAlive, type ServerFolder } from './postmaster.ts'

export interface Initialisation {
  readonly binaries: Binaries
  readonly user: RunAs | undefined
  readonly folder: ServerFolder
  readonly superuser: string
  readonly password: string
}

/**
 * Creates the cluster beside its final place and renames it: a crash leaves no partial cluster, and
 * of two concurrent starts one wins.
 */
export function initialise(options: Initialisation): void {
  const { cluster } = options.folder
  removeAbandoned(cluster)
  refuseSmallDisk(dirname(cluster))
  const partial = `${cluster}.new-${process.pid}`
  try {
    rmSync(partial, { recursive: true, force: true })
    mkdirSync(partial, { mode: 0o700 })
    runInitdb(options, partial)
    renameSync(partial, cluster)
    syncFolder(dirname(cluster))
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    if (error instanceof DatabaseProblem) throw error
    if (!isTaken(error)) throw explainWriting(cluster, error)
  }
}

/** Returns true if another process created the cluster first. */
function isTaken(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  return code === 'ENOTEMPTY' || code === 'EEXIST'
}

function runInitdb(options: Initialisation, partial: string): void {
  const { binaries, user, folder, superuser, password } = options
  const passwordFile = join(folder.socketFolder, `password-${process.pid}`)
  try {
    writeFileSync(passwordFile, password, { mode: 0o600 })
    if (user) for (const path of [partial, passwordFile]) chownSync(path, user.uid, user.gid)
    const { command, prefix, as } = commandAs(user, binaries.initdb, [partial, passwordFile])
    const args = ['-D', partial, '-U', superuser, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`]
    const locale = ['-E', 'UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    const plain = ['--locale=C', '--data-checksums', '--no-instructions']
    const result = spawnSync(command, [...prefix, ...args, ...locale, ...plain], {
      encoding: 'utf8',
      cwd: '/',
      ...as,
    })
    if (result.status !== 0) {
      throw explainInitdb(
        folder.cluster,
        `${result.stderr ?? ''}${result.error?.message ?? ''}`.trim(),
      )
    }
  } finally {
    rmSync(passwordFile, { force: true })
  }
}

/** Removes partial clusters of processes that were killed. */
function removeAbandoned(cluster: string): void {
  const prefix = `${basename(cluster)}.new-`
  for (const name of readdirSync(dirname(cluster))) {
    if (!name.startsWith(prefix) || isAlive(Number(name.slice(prefix.length)))) continue
    rmSync(join(dirname(cluster), name), { recursive: true, force: true })
  }
}

/**
 * Makes the rename durable: a power failure could otherwise lose the cluster, and all money in it.
 */
function syncFolder(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
