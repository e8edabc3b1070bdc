/**
 * The private PostgreSQL of the embedded default: its data lies under DATA_DIR, it listens on a
 * Unix socket alone, it outlives a crash of the gateway and is adopted by the next start.
 */
import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from './client.ts'
import {
  type Binaries,
  chooseUser,
  commandAs,
  findBinaries,
  type RunAs,
} from './embedded-binaries.ts'
import type { Place } from './open-client.ts'
import {
  explainFailure,
  findRunning,
  isPostgres,
  isStillLeaving,
  markLog,
  type ServerFolder,
  saysReady,
  startServer,
  stopServer,
} from './postmaster.ts'
import { DatabaseProblem } from './problem.ts'
import { createDatabaseIfAbsent, ping } from './store.ts'

export type EmbeddedPlace = Extract<Place, { socketFolder: string }>

export interface EmbeddedServer {
  readonly place: EmbeddedPlace
  /** True when the server had been running already. */
  readonly adopted: boolean
  pid(): number | undefined
  /** Starts the server again if it is gone. Resolves true when it had to. */
  revive(): Promise<boolean>
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  readonly dataDir: string
  /** PostgreSQL settings to override: for the servers of tests only. */
  readonly settings?: Readonly<Record<string, string>>
  readonly onProgress?: (message: string) => void
}

const USER = 'tributary'
const DATABASE = 'tributary'
const PORT = 5432
const START_MS = 60_000
const LEAVING_MS = 15_000
const STOP_MS = 10_000
const LOOK_MS = 10
const LEAVING_LOOK_MS = 100

/** Starts or adopts the server under `dataDir`. Throws DatabaseProblem with what to do. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const binaries = findBinaries()
  const user = chooseUser()
  const folder = prepareFolders(options.dataDir, user)
  const password = readPassword(options.dataDir)
  const place: EmbeddedPlace = {
    socketFolder: folder.socketFolder,
    port: PORT,
    user: USER,
    password,
    database: DATABASE,
  }
  const progress = options.onProgress ?? (() => undefined)
  if (!existsSync(join(folder.cluster, 'PG_VERSION'))) {
    progress('creating the embedded database')
    initialise(binaries, user, folder, password)
  }
  const start = () => ensureRunning(binaries, user, folder, place, options.settings ?? {}, progress)
  const adopted = await start()
  const admin = connect(place, { database: 'postgres', connections: 1 })
  try {
    await createDatabaseIfAbsent(admin, DATABASE)
  } finally {
    await admin.end({ timeout: 1 })
  }
  return {
    place,
    adopted,
    pid: () => findRunning(folder),
    async revive() {
      if (findRunning(folder) !== undefined) return false
      await start()
      return true
    },
    async stop() {
      const pid = findRunning(folder)
      if (pid !== undefined) await stopServer(pid, STOP_MS)
    },
  }
}

function prepareFolders(dataDir: string, user: RunAs | undefined): ServerFolder {
  try {
    mkdirSync(dataDir, { recursive: true })
    writeFileSync(join(dataDir, '.writable'), '')
    rmSync(join(dataDir, '.writable'))
  } catch (cause) {
    const full = cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC'
    throw new DatabaseProblem(
      full
        ? `the disk of ${dataDir} is full: free some space and start again`
        : `${dataDir} is not writable: change its owner, or set DATA_DIR to another folder`,
      cause,
    )
  }
  const real = realpathSync(dataDir)
  // A Unix socket's path may have about 100 bytes: it cannot lie below a deep DATA_DIR.
  const name = createHash('sha256').update(real).digest('hex').slice(0, 12)
  const socketFolder = join(tmpdir(), `tributary-${name}`)
  makePrivate(socketFolder, user)
  return {
    cluster: join(real, 'postgres'),
    socketFolder,
    logFile: join(real, 'postgres.log'),
    port: PORT,
  }
}

/** A folder in a public place: it must be ours and nobody else's. */
function makePrivate(path: string, user: RunAs | undefined): void {
  const owner = user?.uid ?? process.getuid?.() ?? 0
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const found = lstatSync(path)
  if (!found.isDirectory()) throw new DatabaseProblem(`${path} is not a folder: remove it`)
  if (user && found.uid === 0) chownSync(path, user.uid, user.gid)
  else if (found.uid !== owner) {
    throw new DatabaseProblem(`${path} belongs to another user: remove it`)
  }
  chmodSync(path, 0o700)
}

function readPassword(dataDir: string): string {
  const file = join(dataDir, 'postgres.password')
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('base64url'), { mode: 0o600 })
  return readFileSync(file, 'utf8').trim()
}

/** Makes the cluster beside its final place: a crash on the way leaves nothing half made. */
function initialise(
  binaries: Binaries,
  user: RunAs | undefined,
  folder: ServerFolder,
  password: string,
): void {
  const making = `${folder.cluster}.new`
  rmSync(making, { recursive: true, force: true })
  mkdirSync(making, { mode: 0o700 })
  const passwordFile = join(folder.socketFolder, 'password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user) for (const path of [making, passwordFile]) chownSync(path, user.uid, user.gid)
  const { command, prefix, as } = commandAs(user, binaries.initdb, [making])
  const args = ['-D', making, '-U', USER, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`]
  const locale = ['-E', 'UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const plain = ['--locale=C', '--data-checksums', '--no-instructions']
  const made = spawnSync(command, [...prefix, ...args, ...locale, ...plain], {
    encoding: 'utf8',
    cwd: '/',
    ...as,
  })
  rmSync(passwordFile, { force: true })
  if (made.status !== 0) {
    const said = `${made.stderr ?? ''}${made.error?.message ?? ''}`.trim()
    rmSync(making, { recursive: true, force: true })
    if (/No space left/i.test(said)) {
      throw new DatabaseProblem(`the disk of ${folder.cluster} is full: free some space and retry`)
    }
    throw new DatabaseProblem(`initdb failed: ${said.split('\n').slice(-3).join(' ')}`)
  }
  renameSync(making, folder.cluster)
}

/** Resolves true when a running server was found, false when one was started. */
async function ensureRunning(
  binaries: Binaries,
  user: RunAs | undefined,
  folder: ServerFolder,
  place: EmbeddedPlace,
  settings: Readonly<Record<string, string>>,
  progress: (message: string) => void,
): Promise<boolean> {
  const running = findRunning(folder)
  if (running !== undefined) {
    const isUp = () => isPostgres(running)
    try {
      await untilAnswering(place, folder, markLog(folder), isUp, progress)
      return true
    } catch (error) {
      // One that was just dying when it was found is started again.
      if (isUp()) throw error
    }
  }
  const deadline = performance.now() + LEAVING_MS
  for (;;) {
    const since = markLog(folder)
    const child = startServer(binaries, user, folder, settings)
    let exited = false
    child.once('exit', () => {
      exited = true
    })
    child.once('error', () => {
      exited = true
    })
    const up = await untilAnswering(place, folder, since, () => !exited, progress).then(
      () => true,
      (error: unknown) => error,
    )
    if (up === true) return false
    if (!isStillLeaving(folder, since) || performance.now() > deadline) throw up
    await sleep(LEAVING_LOOK_MS)
  }
}

async function untilAnswering(
  place: EmbeddedPlace,
  folder: ServerFolder,
  since: number,
  isUp: () => boolean,
  progress: (message: string) => void,
): Promise<void> {
  const deadline = performance.now() + START_MS
  let told = performance.now() + 2_000
  for (;;) {
    if (!isUp()) throw explainFailure(folder, since)
    if (saysReady(folder) && (await answers(place))) return
    if (performance.now() > deadline) throw explainFailure(folder, since)
    if (performance.now() > told) {
      progress('waiting for PostgreSQL to recover')
      told = performance.now() + 5_000
    }
    await sleep(LOOK_MS)
  }
}

async function answers(place: EmbeddedPlace): Promise<boolean> {
  const sql = connect(place, { database: 'postgres', connections: 1 })
  const answered = await ping(sql).then(
    () => true,
    () => false,
  )
  await sql.end({ timeout: 0 }).catch(() => undefined)
  return answered
}
