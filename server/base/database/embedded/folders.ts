/** Folders and files of an embedded database: data, socket and password. */
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makePrivateFolder } from '../../lib/secrets/private-files.ts'
import { DatabaseProblem } from '../problem.ts'
import type { RunAs } from './binaries.ts'
import { explainWriting } from './explain.ts'
import type { ServerFolder } from './postmaster.ts'

const PORT = 5432
/**
 * A Unix socket's path has at most 104 bytes on macOS and 108 on Linux, including a terminating
 * zero.
 */
const SOCKET_PATH_BYTES_MAX = 103
const PASSWORD_BYTES = 24

/**
 * Creates the folder if needed, readable by its owner only, and checks that it is writable. Returns
 * its real path.
 */
export function prepareDataDir(dataDir: string): string {
  try {
    makePrivateFolder(dataDir)
    const probe = join(dataDir, `.writable-${process.pid}`)
    writeFileSync(probe, '')
    rmSync(probe)
    return realpathSync(dataDir)
  } catch (cause) {
    throw explainWriting(dataDir, cause)
  }
}

/**
 * `dataDir` is a real path. `usedFolder` is the socket folder of a running server; otherwise one is
 * chosen. Creates the socket folder; throws if it belongs to another user.
 */
export function prepareFolders(
  dataDir: string,
  user: RunAs | undefined,
  usedFolder: string | undefined,
): ServerFolder {
  const socketFolder = usedFolder ?? chooseSocketFolder(dataDir)
  makePrivate(socketFolder, user)
  return {
    cluster: join(dataDir, 'postgres'),
    socketFolder,
    logFile: join(dataDir, 'postgres.log'),
    port: PORT,
  }
}

/**
 * Returns a folder below the temporary folder, since DATA_DIR's path may be too long for a socket.
 */
function chooseSocketFolder(dataDir: string): string {
  const name = `tributary-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`
  const folder = join(tmpdir(), name)
  const isShort = Buffer.byteLength(`${folder}/.s.PGSQL.${PORT}.lock`) <= SOCKET_PATH_BYTES_MAX
  return isShort ? folder : join('/tmp', name)
}

/** Creates a private folder in a public place, or throws if it belongs to another user. */
function makePrivate(path: string, user: RunAs | undefined): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw explainWriting(path, cause)
  }
  const owner = user?.uid ?? process.getuid?.() ?? 0
  const found = lstatSync(path)
  if (!found.isDirectory()) throw new DatabaseProblem(`${path} is not a folder: remove it`)
  // A folder created by root is given to the user that runs PostgreSQL.
  if (user && found.uid === 0) chownSync(path, user.uid, user.gid)
  else if (found.uid !== owner) {
    throw new DatabaseProblem(`${path} belongs to another user: remove it`)
  }
  chmodSync(path, 0o700)
}

/**
 * Returns the password, creating it atomically once: two processes may start for the first time
 * together.
 */
export function readPassword(dataDir: string): string {
  const file = join(dataDir, 'postgres.password')
  const own = `${file}.${process.pid}`
  try {
    if (!isPresent(file)) {
      writeFileSync(own, randomBytes(PASSWORD_BYTES).toString('base64url'), { mode: 0o600 })
      linkQuietly(own, file)
      rmSync(own)
    }
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    rmSync(own, { force: true })
    throw explainWriting(dataDir, cause)
  }
}

function isPresent(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined
}

function linkQuietly(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}
