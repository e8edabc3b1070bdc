/**
 * Databases for tests: one PostgreSQL for the whole run, and for each suite a database of its own,
 * cloned from a template that was migrated once.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { connect } from '../../server/base/database/connection/client.ts'
import type { DatabasePlace } from '../../server/base/database/connection/open-client.ts'
import { migrate } from '../../server/base/database/migrations/migrate.ts'
import {
  onDatabase,
  type PostgresChoice,
  runChoice,
  startChosen,
  urlOf,
} from './database/chosen-postgres.ts'

const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations')
const TEMPLATE = 'template_tributary'

/** Only for throw-away servers: a test that proves durability starts one of its own. */
const FAST = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  // Nobody reads this log: no pages of it are packed, and none of a copied database are in it.
  wal_compression: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // It would start a process for each database of the run, again and again.
  autovacuum: 'off',
  // A gateway takes up to 13, its test ten more, and several of both share this server.
  max_connections: '600',
}

/** Databases are made however long a busy machine takes for it. */
const ADMIN = { connections: 1, patient: true, statementTimeoutMs: 0 }

export interface TestServer {
  readonly place: DatabasePlace
  pid(): number | undefined
  stop(): Promise<void>
}

export interface TestDatabase {
  readonly sql: Sql
  readonly place: DatabasePlace
  /** For processes under test: DATABASE_URL of this database. */
  readonly url: string
  drop(): Promise<void>
}

export interface TestServerOptions {
  readonly choice?: PostgresChoice
  /** Changes the template, of which every database is a copy. */
  readonly prepare?: ((template: Sql) => Promise<void>) | undefined
  /** Lets autovacuum run: without statistics, plans for many rows take hours. */
  readonly autovacuum?: boolean
}

/** Starts a server in a temporary folder and migrates the template. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { choice = runChoice(), prepare, autovacuum = false } = options
  const folder = mkdtempSync(join(tmpdir(), 'tributary-test-'))
  const settings = autovacuum ? { ...FAST, autovacuum: 'on' } : FAST
  const server = await startChosen({ choice, dataDir: folder, settings })
  const admin = connect(server.place, { database: 'postgres', ...ADMIN })
  await admin.unsafe(`drop database if exists ${TEMPLATE} with (force)`)
  await admin.unsafe(`create database ${TEMPLATE}`)
  await admin.end()
  const template = connect(server.place, { database: TEMPLATE, ...ADMIN })
  await migrate(template, MIGRATIONS)
  await prepare?.(template)
  await template.end()
  return {
    place: server.place,
    pid: server.pid,
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
      if ('socketFolder' in server.place) {
        rmSync(server.place.socketFolder, { recursive: true, force: true })
      }
    },
  }
}

/** The server trades durability for speed, and the gateway refuses such a server otherwise. */
export function allowFastServer(): void {
  process.env.TRIBUTARY_TEST_UNSAFE_DATABASE = '1'
}

/** A test file that is run by itself and interrupted leaves no server behind. */
async function startOwn(): Promise<TestServer> {
  const server = await startTestServer()
  allowFastServer()
  process.once('SIGTERM', () => process.exit(1))
  process.once('exit', () => {
    const pid = server.pid()
    if (pid !== undefined) process.kill(pid, 'SIGQUIT')
  })
  return server
}

let own: Promise<TestServer> | undefined

/** The run's server, or one of our own when a test file is run by itself. */
async function findServer(): Promise<DatabasePlace> {
  const given = process.env.TEST_POSTGRES
  if (given) return JSON.parse(given)
  own ??= startOwn()
  return (await own).place
}

let open = 0

/**
 * A fresh database with all migrations applied, of an ICU locale if one is named (from PostgreSQL
 * 15 on). Drop it when the suite is over.
 */
export async function createTestDatabase(
  options: { readonly locale?: string } = {},
): Promise<TestDatabase> {
  open += 1
  const server = await findServer()
  const name = `test_${randomBytes(6).toString('hex')}`
  const admin = connect(server, { database: 'postgres', ...ADMIN })
  const { locale } = options
  if (locale === undefined) await createFromTemplate(admin, name)
  else await createWithLocale(admin, name, locale)
  // Only a test of outages, on a server of its own, is to give a slow one up.
  const sql = connect(server, { database: name, patient: true, statementTimeoutMs: 30_000 })
  const place = onDatabase(server, name)
  if (locale !== undefined) await migrate(sql, MIGRATIONS)
  return {
    sql,
    place,
    url: urlOf(place),
    async drop() {
      await sql.end({ timeout: 1 })
      await admin.unsafe(`drop database if exists ${name} with (force)`)
      await admin.end()
      open -= 1
      if (open > 0 || !own) return
      const server = await own
      own = undefined
      await server.stop()
    },
  }
}

/** The template's locale cannot be changed in a copy. */
async function createWithLocale(admin: Sql, name: string, locale: string): Promise<void> {
  await admin.unsafe(
    `create database ${name} template template0 locale_provider icu icu_locale '${locale}'`,
  )
}

/** Two suites may clone at the same moment; the template allows one at a time. */
async function createFromTemplate(admin: Sql, name: string): Promise<void> {
  await admin`select pg_advisory_lock(1)`
  try {
    const [row] = await admin<{ chooses: boolean }[]>`
      select current_setting('server_version_num')::int >= 150000 as chooses`
    // Copying the files costs a third of logging each page, on a server without durability, and is
    // the only way of PostgreSQL 14.
    const strategy = row?.chooses ? 'strategy file_copy' : ''
    await admin.unsafe(`create database ${name} template ${TEMPLATE} ${strategy}`)
  } finally {
    await admin`select pg_advisory_unlock(1)`
  }
}
