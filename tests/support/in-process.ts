/**
 * A whole gateway inside the test process: a real database, real sockets, the vendors' simulators
 * with their own book. Tests that kill a process use gateway.ts instead.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { type Config, loadConfig } from '../../server/api/config/config.ts'
import type { Sessions } from '../../server/api/sign-in/sessions/session.ts'
import { parseAmount } from '../../server/base/lib/money.ts'
import { createSecretBox } from '../../server/base/lib/secrets/secrets.ts'
import { type Gateway, serve } from '../../server/main.ts'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { createKey, type NewKey } from '../../server/money/accounts/manage-keys.ts'
import { applyCatalog } from '../../server/money/catalog/apply/apply.ts'
import { parseCatalogFile } from '../../server/money/catalog/apply/file.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { UPSTREAMS } from '../../server/wire/upstreams/index.ts'
import { type Simulators, startSimulators } from '../../simulators/index.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { PATIENT, WITHOUT_PROGRAMS } from './servers/gateway-settings.ts'
import { until } from './until.ts'

export const SECRET_KEY = 'a-secret-key-that-only-tests-would-ever-use'

export interface Tenant {
  readonly accountId: string
  readonly key: string
  readonly keyId: string
}

export interface TestGateway {
  readonly url: string
  /** For commands against the same database. */
  readonly databaseUrl: string
  readonly sql: Sql
  readonly simulators: Simulators
  readonly gateway: Gateway
  /** An account with a balance and a key. */
  tenant(options?: { balance?: string; key?: Partial<NewKey>; limits?: object }): Promise<Tenant>
  /** Applies a catalog given as an object; `${SIMULATORS_URL}` is replaced. */
  apply(catalog: object, source?: string): Promise<void>
  fetch(path: string, options: TestRequest): Promise<Response>
  /** POSTs JSON and returns status, headers and the parsed answer. */
  post(path: string, key: string, body: unknown, headers?: object): Promise<TestAnswer>
  get(path: string, key: string): Promise<TestAnswer>
  /** The usage record of an answer, with its lines and ledger. */
  record(answer: { headers: Headers }, key: string): Promise<TestRecord>
  balance(accountId: string): Promise<{ available: bigint; held: bigint; debt: bigint }>
  stop(): Promise<void>
}

interface TestRequest extends RequestInit {
  readonly key?: string
}

export interface TestAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: answers of any shape are looked into by tests.
  readonly json: any
}

export interface TestRecord {
  readonly request_id: string
  readonly status: string
  readonly basis: string
  readonly held: string
  readonly charged: string
  readonly returned: string
  readonly review: boolean
  readonly tags: readonly string[]
  readonly end_user: string | null
  readonly lines: readonly { unit: string; quantity: number; amount: string }[]
  readonly attempts: readonly { channel: string; outcome: string }[]
  readonly ledger: readonly { step: string; amount: string }[]
  readonly error?: string
}

interface TestParts {
  /** Instead of one of the run's server. */
  readonly database?: Pick<TestDatabase, 'sql' | 'url' | 'drop'>
  /** Changes settings that no variable has. */
  readonly adjust?: (config: Config) => Config
}

/** `environment` overrides settings of the gateway, `signIn` says who is signed in. */
export async function startTestGateway(
  environment: Readonly<Record<string, string>> = {},
  signIn?: Sessions,
  { adjust = (config) => config, ...parts }: TestParts = {},
): Promise<TestGateway> {
  const database = parts.database ?? (await createTestDatabase())
  const simulators = await startSimulators({ port: 0 })
  const loaded = loadConfig({
    DATABASE_URL: database.url,
    SECRET_KEY,
    PORT: '0',
    HOST: '127.0.0.1',
    METRICS_PORT: '0',
    LOG_LEVEL: 'silent',
    ...PATIENT,
    ...WITHOUT_PROGRAMS,
    ...environment,
  })
  // It takes a quarter of the processor time of a start, and few tests send more than some calls.
  const config = adjust({ ...loaded, warmsUp: false })
  try {
    return await assemble(database, simulators, await serve(config, signIn))
  } catch (error) {
    // What stays open keeps the process of the test from ending, and its error from being seen.
    await simulators.stop()
    await database.drop()
    throw error
  }
}

async function assemble(
  database: Pick<TestDatabase, 'sql' | 'url' | 'drop'>,
  simulators: Simulators,
  gateway: Gateway,
): Promise<TestGateway> {
  const { sql } = database
  const secrets = createSecretBox([SECRET_KEY])
  const upstreams = Object.fromEntries(UPSTREAMS)
  const variables = { ...process.env, SIMULATORS_URL: simulators.url }

  async function apply(catalog: object, source = 'test'): Promise<void> {
    const file = parseCatalogFile(`${source}.json`, JSON.stringify(catalog), variables)
    await applyCatalog({ sql, files: [file], upstreams, secrets, environment: variables })
    await gateway.refreshCatalog()
  }

  await apply(simulatorsCatalog(Object.keys(upstreams)), 'simulators')
  return {
    url: gateway.url,
    databaseUrl: database.url,
    sql,
    simulators,
    gateway,
    apply,
    ...createClient(gateway.url),
    async tenant({ balance = '100', key = {}, limits } = {}) {
      const account = await createAccount(sql, {
        name: 'test',
        openingBalanceNanos: parseAmount(balance) ?? 0n,
        actor: 'test',
        ...(limits ? { limits } : {}),
      })
      const created = await createKey(sql, { ...key, accountId: account.id })
      return { accountId: account.id, key: created.key, keyId: created.id }
    },
    async balance(accountId) {
      const [row] = await sql<{ available: bigint; held: bigint; debt: bigint }[]>`
        select available, held, debt from balance where account_id = ${accountId}`
      if (!row) throw new Error(`no balance of ${accountId}`)
      return row
    },
    async stop() {
      await gateway.stop({ drainMs: 2_000 })
      const result = await audit(sql)
      await simulators.stop()
      await database.drop()
      const broken = result.checks.filter((check) => !check.ok)
      if (broken.length > 0) throw new Error(`audit: ${JSON.stringify(broken)}`)
    },
  }
}

/** Returns the requests of a caller. */
function createClient(url: string): Pick<TestGateway, 'fetch' | 'post' | 'get' | 'record'> {
  async function get(path: string, key: string): Promise<TestAnswer> {
    const headers = { authorization: `Bearer ${key}` }
    return readAnswer(await fetch(url + path, { headers }))
  }
  return {
    get,
    async post(path, key, body, headers = {}) {
      const always = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const options = { method: 'POST', headers: { ...always, ...headers }, body: text }
      return readAnswer(await fetch(url + path, options))
    },
    fetch(path, { key, headers, ...options }) {
      const credential = key ? { authorization: `Bearer ${key}` } : {}
      return fetch(url + path, { ...options, headers: { ...credential, ...headers } })
    },
    async record(answer, key) {
      const id = answer.headers.get('x-request-id')
      // On a busy machine the database may be slower than a read waits for it.
      const found = await until('a record', async () => {
        const read = await get(`/v1/usage/${id}`, key)
        return read.status !== 503 && read
      })
      if (found.status !== 200) throw new Error(`no record of ${id}: ${found.text}`)
      // Whatever a test is about, the answer never states another charge than the record.
      const stated = answer.headers.get('x-tributary-charge')
      const { charged, currency } = found.json
      if (stated !== null) assert.equal(stated, `${charged} ${currency}`)
      return found.json
    },
  }
}

async function readAnswer(response: Response): Promise<TestAnswer> {
  const text = await response.text()
  const { status, headers } = response
  return { status, headers, text, json: parse(text) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The example catalog, without channels of protocols that are not there. */
function simulatorsCatalog(upstreams: readonly string[]): object {
  const path = join(import.meta.dirname, '..', '..', 'catalog', 'simulators.json')
  const catalog = JSON.parse(readFileSync(path, 'utf8')) as {
    channels: { id: string; upstream: string }[]
    models: { routes: { channel: string }[] }[]
  }
  const channels = catalog.channels.filter((channel) => upstreams.includes(channel.upstream))
  const known = new Set(channels.map((channel) => channel.id))
  const models = catalog.models.filter((model) =>
    model.routes.every((route) => known.has(route.channel)),
  )
  return { ...catalog, channels, models }
}
