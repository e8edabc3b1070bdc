/**
 * The environment of proofs: a gateway on its own embedded PostgreSQL, durable as in production,
 * and the vendors' simulators in a separate process, whose book survives the gateway.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { watchServer } from '../server/base/database/embedded/watch-server.ts'
import { migrate } from '../server/base/database/migrations/migrate.ts'
import { openDatabase } from '../server/base/database/open.ts'
import { type CreatedKey, createKey } from '../server/money/accounts/manage-keys.ts'
import type { BookEntry } from '../simulators/index.ts'
import {
  type ChosenServer,
  type PostgresChoice,
  startChosen,
} from '../tests/support/database/chosen-postgres.ts'
import { findFreePort } from '../tests/support/free-port.ts'
import {
  applySimulators,
  createTestAccount,
  type GatewayProcess,
  startGateway,
} from '../tests/support/gateway.ts'
import { type RunningProcess, startProcess } from '../tests/support/processes.ts'
import { until } from '../tests/support/until.ts'
import { killPostmaster } from './postmaster.ts'

const ROOT = join(import.meta.dirname, '..')

/** A gateway with its own database and callers, in front of any upstream. */
export interface Place {
  readonly dataDir: string
  /** The DATABASE_URL of a PostgreSQL that is not the gateway's own. */
  readonly databaseUrl: string | undefined
  readonly gatewayUrl: string
  readonly accountIds: readonly string[]
  /** Distributed evenly over the accounts. */
  readonly keys: readonly CreatedKey[]
  /** Starts the gateway: the only one, always on the same port, unless the database is shared. */
  startGateway(env?: Readonly<Record<string, string>>): Promise<GatewayProcess>
  /** Joins the gateway's database; starts it if no gateway runs. */
  withDatabase<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** Removes the folder. Stop the gateway first. */
  close(): Promise<void>
}

/** A place whose upstream is the simulators, in a separate process. */
export interface Laboratory extends Place {
  readonly simulators: SimulatorsProcess
}

export interface PlaceOptions {
  readonly accounts?: number
  readonly keys?: number
  readonly balance?: string
  /** Several gateways on one PostgreSQL, each on its own port. */
  readonly shared?: boolean
  /** The gateway's own embedded one by default. */
  readonly postgres?: PostgresChoice
  /** Settings of a PostgreSQL that is not the gateway's own, besides its defaults. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface LaboratoryOptions extends PlaceOptions {
  readonly simulatorArguments?: readonly string[]
}

export async function openLaboratory(options: LaboratoryOptions = {}): Promise<Laboratory> {
  const simulators = await startSimulatorsProcess(options.simulatorArguments)
  const place = await openPlace(simulators.url, options)
  return {
    ...place,
    simulators,
    async close() {
      await simulators.stop(5_000)
      await place.close()
    },
  }
}

export async function openPlace(upstreamUrl: string, options: PlaceOptions = {}): Promise<Place> {
  const { accounts = 1, keys = 1, balance = '100000' } = options
  const dataDir = mkdtempSync(join(tmpdir(), 'tributary-proof-'))
  process.once('exit', () => killPostmaster(dataDir))
  const port = await findFreePort()
  const { shared } = options
  const server = await startServer(dataDir, options)
  const databaseUrl = server?.url
  const own = databaseUrl === undefined ? { dataDir } : { dataDir, databaseUrl }
  // A service manager starts it again, as the gateway does with its own.
  const unwatch = server && !shared ? watchServer(server, () => undefined) : undefined

  async function withDatabase<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    await server?.revive()
    const database = await openDatabase({ ...own, owner: false, patient: true })
    try {
      return await work(database.sql)
    } finally {
      await database.stop()
    }
  }

  const callers = await withDatabase(async (sql) => {
    await migrate(sql, join(ROOT, 'migrations'))
    await applySimulators(sql, upstreamUrl)
    return await createCallers(sql, { accounts, keys, balance })
  })
  return {
    dataDir,
    databaseUrl,
    gatewayUrl: `http://127.0.0.1:${port}`,
    ...callers,
    withDatabase,
    async startGateway(env = {}) {
      await server?.revive()
      return await startGateway(shared ? { ...own, env } : { ...own, port, env })
    },
    async close() {
      await unwatch?.()
      await server?.stop()
      if (process.env.KEEP_LABORATORY !== undefined) return
      killPostmaster(dataDir)
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** The gateway starts its own, unless several share one or another was chosen. */
async function startServer(
  dataDir: string,
  { shared, postgres: choice = 'embedded', settings = {} }: PlaceOptions,
): Promise<ChosenServer | undefined> {
  if (!shared && choice === 'embedded') return undefined
  return await startChosen({ choice, dataDir, settings })
}

async function createCallers(
  sql: Sql,
  options: { readonly accounts: number; readonly keys: number; readonly balance: string },
) {
  const accountIds: string[] = []
  const keys: CreatedKey[] = []
  for (let index = 0; index < options.accounts; index += 1) {
    accountIds.push((await createTestAccount(sql, options.balance)).id)
  }
  for (let index = 0; index < options.keys; index += 1) {
    const accountId = accountIds[index % accountIds.length] ?? ''
    keys.push(await createKey(sql, { accountId }))
  }
  return { accountIds, keys }
}

export interface SimulatorsProcess extends RunningProcess {
  readonly url: string
  /** Returns the entries after `since`, once no generation is in progress. */
  readBook(since?: number): Promise<readonly BookEntry[]>
}

export async function startSimulatorsProcess(
  more: readonly string[] = [],
): Promise<SimulatorsProcess> {
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const script = join(ROOT, 'simulators', 'main.ts')
  const child = await startProcess([process.execPath, script, '--port', String(port), ...more])
  await until('the simulators', async () => {
    const answer = await fetch(`${url}/sim`).catch(() => undefined)
    return answer?.ok
  })
  return {
    ...child,
    url,
    async readBook(since = 0) {
      const answer = await fetch(`${url}/sim/book?wait=60000&since=${since}`)
      const book = (await answer.json()) as { open: number; entries: BookEntry[] }
      if (book.open > 0) throw new Error(`${book.open} generations are still under way`)
      return book.entries
    },
  }
}
