/** The one way to the database, for the gateway and for commands alike. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { connect } from './client.ts'
import { type EmbeddedServer, startEmbedded } from './embedded.ts'
import type { Place } from './open-client.ts'
import { DatabaseProblem } from './problem.ts'
import { claimOwnership, ping, readClockSkew, readServer } from './store.ts'

export interface OpenOptions {
  readonly databaseUrl?: string | undefined
  readonly dataDir: string
  /** The gateway owns an embedded database; a command joins it, or owns it while none runs. */
  readonly owner: boolean
  readonly onProgress?: (message: string) => void
  readonly onTrouble?: (error: unknown, message: string) => void
}

export interface OpenedDatabase {
  readonly sql: Sql
  readonly place: Place
  readonly kind: 'embedded' | 'external'
  /** Resolves with the clock difference; rejects when the database does not answer in 2 s. */
  readonly probe: () => Promise<{ readonly skewMs: number }>
  readonly stop: () => Promise<void>
}

const VERSION_MIN = 140_000
const PROBE_MS = 2_000
const CLAIM_MS = 4_000
const WATCH_MS = 500

/** Throws DatabaseProblem, in one line that says what to do. */
export async function openDatabase(options: OpenOptions): Promise<OpenedDatabase> {
  if (options.databaseUrl) return openExternal({ url: options.databaseUrl })
  const server = await startEmbedded(options)
  const claim = connect(server.place, { connections: 1, name: 'tributary owner' })
  const owns = await claimWithPatience(claim, options.owner || !server.adopted)
  if (options.owner && !owns) {
    await claim.end({ timeout: 1 })
    throw new DatabaseProblem(
      `another gateway already runs on ${options.dataDir}: stop it, or set DATA_DIR to another ` +
        'folder. Several gateways can share one PostgreSQL through DATABASE_URL',
    )
  }
  const sql = connect(server.place)
  const unwatch = owns ? watch(server, claim, options) : () => undefined
  try {
    await refuseUnsafe(sql)
  } catch (error) {
    unwatch()
    throw error
  }
  return {
    sql,
    place: server.place,
    kind: 'embedded',
    probe: () => probe(sql),
    async stop() {
      unwatch()
      await Promise.all([sql.end({ timeout: 2 }), claim.end({ timeout: 1 })])
      if (owns) await server.stop()
    },
  }
}

async function openExternal(place: Place): Promise<OpenedDatabase> {
  const sql = connect(place)
  try {
    await refuseUnsafe(sql)
  } catch (cause) {
    await sql.end({ timeout: 1 })
    if (cause instanceof DatabaseProblem) throw cause
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new DatabaseProblem(`cannot reach the database of DATABASE_URL: ${why}`, cause)
  }
  const stop = () => sql.end({ timeout: 2 })
  return { sql, place, kind: 'external', probe: () => probe(sql), stop }
}

/** Settings that lose acknowledged commits are refused: no cent may depend on luck. */
async function refuseUnsafe(sql: Sql): Promise<void> {
  const server = await readServer(sql)
  if (!server || server.version < VERSION_MIN) {
    throw new DatabaseProblem('PostgreSQL 14 or newer is needed')
  }
  const { fsync, commit, pages } = server
  if (process.env.TRIBUTARY_TEST_UNSAFE_DATABASE === '1') return
  if (fsync !== 'on' || pages !== 'on' || commit === 'off') {
    throw new DatabaseProblem(
      `this PostgreSQL can lose committed money (fsync ${fsync}, full_page_writes ${pages}, ` +
        `synchronous_commit ${commit}): switch them on`,
    )
  }
}

/** A killed gateway's connection takes a moment to be noticed. */
async function claimWithPatience(claim: Sql, wanted: boolean): Promise<boolean> {
  if (!wanted) return false
  const deadline = performance.now() + CLAIM_MS
  for (;;) {
    if (await claimOwnership(claim)) return true
    if (performance.now() > deadline) return false
    await sleep(100)
  }
}

/** Brings a server that died back to life and claims it again. */
function watch(server: EmbeddedServer, claim: Sql, options: OpenOptions): () => void {
  let busy = false
  const timer = setInterval(async () => {
    if (busy) return
    busy = true
    try {
      if (await server.revive()) {
        options.onTrouble?.(undefined, 'the embedded PostgreSQL had died and was started again')
        await claimWithPatience(claim, true)
      }
    } catch (error) {
      options.onTrouble?.(error, 'the embedded PostgreSQL could not be started again')
    } finally {
      busy = false
    }
  }, WATCH_MS)
  timer.unref()
  return () => clearInterval(timer)
}

async function probe(sql: Sql): Promise<{ skewMs: number }> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), PROBE_MS)
  })
  try {
    await Promise.race([ping(sql), late])
    return { skewMs: await Promise.race([readClockSkew(sql), late]) }
  } finally {
    clearTimeout(timer)
  }
}
