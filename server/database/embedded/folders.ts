/** Where an embedded database keeps its data, its socket and its password. */
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
/** A Unix socket's path has at most 104 bytes on macOS and 108 on Linux, one of them a zero. */
const SOCKET_PATH_BYTES_MAX = 103
const PASSWORD_BYTES = 24

/** The real path of a folder that can be written to, closed to others; made when not there. */
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
 * `dataDir` is a real path. The socket's folder is the one a running server says it uses, or it
 * is made; one that is somebody else's is refused.
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

/** Below the temporary folder, because the path of DATA_DIR may be too long for a socket. */
function chooseSocketFolder(dataDir: string): string {
  const name = `tributary-${createHash('sha256').update(dataDir).digest('hex').slice(0, 12)}`
  const folder = join(tmpdir(), name)
  const isShort = Buffer.byteLength(`${folder}/.s.PGSQL.${PORT}.lock`) <= SOCKET_PATH_BYTES_MAX
  return isShort ? folder : join('/tmp', name)
}

/** A folder in a public place: it must be ours and nobody else's. */
function makePrivate(path: string, user: RunAs | undefined): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw explainWriting(path, cause)
  }
  const owner = user?.uid ?? process.getuid?.() ?? 0
  const found = lstatSync(path)
  if (!found.isDirectory()) throw new DatabaseProblem(`${path} is not a folder: remove it`)
  // One that root made is given to the user PostgreSQL runs as.
  if (user && found.uid === 0) chownSync(path, user.uid, user.gid)
  else if (found.uid !== owner) {
    throw new DatabaseProblem(`${path} belongs to another user: remove it`)
  }
  chmodSync(path, 0o700)
}

/** Made once, whole or not at all: two processes may start for the first time together. */
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
