/** Opens the database, for the gateway and for commands. */
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { closeToOthers } from '../lib/secrets/private-files.ts'
import { checkAddress, explainParameter } from './connection/address.ts'
import { checkPooler, explainPooler } from './connection/check-pooler.ts'
import { connect } from './connection/client.ts'
import type { DatabasePlace } from './connection/open-client.ts'
import { explainTls } from './connection/tls-options.ts'
import { type EmbeddedServer, startEmbedded } from './embedded/embedded.ts'
import { takeOwnership } from './embedded/ownership.ts'
import { type OnTrouble, watchServer } from './embedded/watch-server.ts'
import { judgeServer, REPLICA } from './judge-server.ts'
import { type DatabaseState, probeDatabase } from './probe.ts'
import { DatabaseProblem } from './problem.ts'
import { countSessions, ping, readServer } from './store.ts'
import { isUnavailable, READ_ONLY, readErrorCode } from './unavailable.ts'
import { waitForServer } from './wait-for-server.ts'

export interface OpenOptions {
  readonly databaseUrl?: string | undefined
  readonly dataDir: string
  /**
   * The gateway owns an embedded database; a command joins a running one, or starts it temporarily.
   */
  readonly owner: boolean
  /**
   * For commands: statements wait up to 30 s for a server that is busy or starting, as the
   * gateway's start does.
   */
  readonly patient?: boolean
  readonly onProgress?: (message: string) => void
  /**
   * Called with each setting of the server that should be changed but does not prevent the start.
   */
  readonly onWarning?: (message: string) => void
  readonly onTrouble?: OnTrouble
}

export interface OpenedDatabase {
  readonly sql: Sql
  /** A few connections for the console, so that its pages never delay paid calls. */
  readonly pagesSql: Sql
  readonly place: DatabasePlace
  readonly kind: 'embedded' | 'external'
  /** Rejects if the database does not respond within 2 s. */
  readonly probe: () => Promise<DatabaseState>
  readonly stop: () => Promise<void>
}

const PAGE_CONNECTIONS = 4
const CLOSING_POLLS = 20
const CLOSING_POLL_MS = 25

/** Throws DatabaseProblem with a one-line message that says what to do. */
export async function openDatabase(options: OpenOptions): Promise<OpenedDatabase> {
  if (options.databaseUrl) {
    // The folder may contain uploads and media, or a former embedded database.
    if (existsSync(options.dataDir)) closeToOthers(options.dataDir)
    return await openExternal({ url: options.databaseUrl }, options)
  }
  try {
    return await openEmbedded(options)
  } catch (error) {
    if (!isUnavailable(error)) throw error
    // The previous run has stopped the server that was found, so a new one is started.
    return await openEmbedded(options)
  }
}

async function openEmbedded(options: OpenOptions): Promise<OpenedDatabase> {
  const server = await startEmbedded(options)
  return options.owner ? await own(server, options) : await join(server, options)
}

/**
 * Opens the embedded database for the gateway: takes ownership, restarts the server if it dies, and
 * stops it at the end.
 */
async function own(server: EmbeddedServer, options: OpenOptions): Promise<OpenedDatabase> {
  const onTrouble = options.onTrouble ?? (() => undefined)
  const ownership = await takeOwnership(server.place, () =>
    onTrouble(undefined, 'another gateway has taken over the embedded database'),
  )
  if (!ownership) {
    throw new DatabaseProblem(
      `another gateway is already running on ${options.dataDir}: stop it, or set DATA_DIR to ` +
        'another folder. Several gateways can share one PostgreSQL through DATABASE_URL',
    )
  }
  const unwatch = watchServer(server, onTrouble)
  const close = async () => {
    await unwatch()
    await ownership.end(() => server.stop())
  }
  return await openPool({ place: server.place, kind: 'embedded', close }, options)
}

/** Opens the embedded database for a command, which leaves the server running if it was. */
async function join(server: EmbeddedServer, options: OpenOptions): Promise<OpenedDatabase> {
  const close = async () => {
    if (!server.adopted && !(await isInUse(server.place))) await server.stop()
  }
  return await openPool({ place: server.place, kind: 'embedded', close }, options)
}

/**
 * Returns true if other connections use the server, for example a gateway that started meanwhile.
 * This process's own connections take a moment to close.
 */
async function isInUse(place: DatabasePlace): Promise<boolean> {
  const sql = connect(place, { connections: 1, name: 'tributary command' })
  try {
    for (let poll = 0; poll < CLOSING_POLLS; poll += 1) {
      if ((await countSessions(sql)) === 0) return false
      await sleep(CLOSING_POLL_MS)
    }
    return true
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function openExternal(
  place: Extract<DatabasePlace, { readonly url: string }>,
  options: OpenOptions,
): Promise<OpenedDatabase> {
  checkAddress(place.url)
  try {
    const check = () => checkPooler(place)
    return await openPool({ place, kind: 'external', check, close: async () => undefined }, options)
  } catch (cause) {
    if (cause instanceof DatabaseProblem) throw cause
    if (readErrorCode(cause) === READ_ONLY) throw explainReplica(cause)
    const problem = explainPooler(cause) ?? explainTls(cause) ?? explainParameter(cause, place.url)
    if (problem !== undefined) throw new DatabaseProblem(problem, cause)
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new DatabaseProblem(`cannot reach the database of DATABASE_URL: ${why}`, cause)
  }
}

interface FoundServer extends Pick<OpenedDatabase, 'place' | 'kind'> {
  readonly check?: (() => Promise<void>) | undefined
  readonly close: () => Promise<void>
}

/** Opens a pool once the server has been found safe. Otherwise closes it, including `close`. */
async function openPool(
  { place, kind, check, close }: FoundServer,
  { patient = false, onProgress = () => undefined, onWarning = () => undefined }: OpenOptions,
): Promise<OpenedDatabase> {
  const sql = connect(place, { patient })
  const pages = { connections: PAGE_CONNECTIONS, name: 'tributary pages', patient }
  const pagesSql = connect(place, pages)
  const stop = async () => {
    await Promise.all([sql.end({ timeout: 2 }), pagesSql.end({ timeout: 2 })])
    await close()
  }
  const examine = async () => {
    await check?.()
    for (const warning of await refuseUnsafe(sql)) onWarning(warning)
    // Opens a connection of each client now, so that nothing later fails because one is slow to
    // open.
    if (!patient) await ping(pagesSql)
  }
  try {
    await waitForServer(examine, onProgress)
  } catch (error) {
    await stop()
    throw error
  }
  return { sql, pagesSql, place, kind, probe: () => probeDatabase(sql), stop }
}

/**
 * Throws DatabaseProblem if the server is too old, may lose acknowledged commits, or is read-only.
 * Returns the warnings about its settings.
 */
async function refuseUnsafe(sql: Sql): Promise<readonly string[]> {
  const findings = judgeServer(await readServer(sql))
  const refused = findings.find(({ verdict }) => verdict === 'refused')
  if (refused) throw new DatabaseProblem(refused.message)
  return findings.filter(({ verdict }) => verdict === 'warning').map(({ message }) => message)
}

function explainReplica(cause?: unknown): DatabaseProblem {
  return new DatabaseProblem(REPLICA, cause)
}
