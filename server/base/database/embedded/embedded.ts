/**
 * The private PostgreSQL server of the embedded default: its data is under DATA_DIR, it listens
 * only on a Unix socket, survives a crash of the gateway and is adopted at the next start.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../connection/client.ts'
import type { DatabasePlace } from '../connection/open-client.ts'
import { createDatabaseIfAbsent } from '../store.ts'
import { readErrorCode } from '../unavailable.ts'
import { chooseUser, findBinaries, letPass } from './binaries.ts'
import { diskBytes, walMegabytes } from './disk.ts'
import { ensureRunning } from './ensure-running.ts'
import { explainWriting } from './explain.ts'
import { prepareDataDir, prepareFolders, readPassword } from './folders.ts'
import { initialise } from './initialise.ts'
import { findRunning, findSocketFolder, stopServer } from './postmaster.ts'

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  shared_buffers: '64MB',
  // The gateway guarantees durability: never trade these settings for speed.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_compression: 'on',
  min_wal_size: '64MB',
  wal_level: 'replica',
  max_wal_senders: '2',
  // Disables processes that an idle server does not need: its few pages are in the system's cache,
  // and no other server subscribes to it.
  io_method: 'sync',
  max_logical_replication_workers: '0',
  jit: 'off',
  log_checkpoints: 'off',
  // After a crash every file is synced before recovery; on Linux one call does it.
  ...(process.platform === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {}),
}

export type EmbeddedPlace = Extract<DatabasePlace, { socketFolder: string }>

export interface EmbeddedServer {
  readonly place: EmbeddedPlace
  /** True if the server was already running. */
  readonly adopted: boolean
  pid(): number | undefined
  /** Starts the server again if it is gone. Resolves to true if it had to. */
  revive(): Promise<boolean>
  stop(): Promise<void>
}

export interface EmbeddedOptions {
  readonly dataDir: string
  /** PostgreSQL settings to override; only for test servers. */
  readonly settings?: Readonly<Record<string, string>>
  /** The longest wait for a server that is stopping; only for tests. */
  readonly stoppingMs?: number
  readonly onProgress?: (message: string) => void
}

const USER = 'tributary'
const DATABASE = 'tributary'
const STOP_MS = 10_000
const CREATE_MS = 60_000
const DISK_FULL = '53100'

/** Starts or adopts the server under `dataDir`. Throws DatabaseProblem with advice. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const binaries = findBinaries()
  const dataDir = prepareDataDir(options.dataDir)
  const cluster = join(dataDir, 'postgres')
  const user = chooseUser(cluster)
  letPass(dataDir, user)
  const folder = prepareFolders(dataDir, user, findSocketFolder(cluster))
  const { socketFolder, port } = folder
  const password = readPassword(dataDir)
  const place = { socketFolder, port, user: USER, password, database: DATABASE }
  const progress = options.onProgress ?? (() => undefined)
  if (!existsSync(join(cluster, 'PG_VERSION'))) {
    progress('creating the embedded database')
    initialise({ binaries, user, folder, superuser: USER, password })
  }
  const settings = chooseSettings(cluster, options.settings ?? {})
  const { stoppingMs } = options
  const starting = { binaries, user, folder, place, settings, progress, stoppingMs }
  const start = () => ensureRunning(starting)
  const adopted = await start()
  await createDatabase(place, cluster)
  return {
    place,
    adopted,
    pid: () => findRunning(folder.cluster),
    async revive() {
      if (findRunning(folder.cluster) !== undefined) return false
      return !(await start())
    },
    async stop() {
      const pid = findRunning(folder.cluster)
      if (pid !== undefined) await stopServer(pid, STOP_MS)
    },
  }
}

async function createDatabase(place: EmbeddedPlace, cluster: string): Promise<void> {
  const admin = connect(place, {
    database: 'postgres',
    connections: 1,
    statementTimeoutMs: CREATE_MS,
    patient: true,
  })
  try {
    await createDatabaseIfAbsent(admin, DATABASE)
  } catch (error) {
    if (readErrorCode(error) === DISK_FULL) throw explainWriting(cluster, { code: 'ENOSPC' })
    throw error
  } finally {
    await admin.end({ timeout: 1 })
  }
}

/** Returns the settings of the server on this cluster, with those that a test server overrides. */
function chooseSettings(
  cluster: string,
  overrides: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return { ...SETTINGS, max_wal_size: `${walMegabytes(diskBytes(cluster))}MB`, ...overrides }
}
