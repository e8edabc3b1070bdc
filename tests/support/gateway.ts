/**
 * A real gateway for black-box tests: its own process, its own database, the vendors' simulators
 * behind it, and an account with a key. `startStage` makes all of it, `startGateway` the process
 * alone.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { ENGINE_ENVIRONMENT, ENGINE_FLAGS } from '../../bin/lib/engine-flags.ts'
import { parseAmount } from '../../server/base/lib/money.ts'
import { createSecretBox } from '../../server/base/lib/secrets/secrets.ts'
import {
  type AccountRow,
  createAccount,
  type NewAccount,
} from '../../server/money/accounts/manage-accounts.ts'
import { type CreatedKey, createKey, type NewKey } from '../../server/money/accounts/manage-keys.ts'
import { applyCatalog } from '../../server/money/catalog/apply/apply.ts'
import { parseCatalogFile } from '../../server/money/catalog/apply/file.ts'
import { UPSTREAMS } from '../../server/wire/upstreams/index.ts'
import { type SimulatorOptions, type Simulators, startSimulators } from '../../simulators/index.ts'
import { findFreePort } from './free-port.ts'
import { createTestDatabase, type TestDatabase } from './postgres.ts'
import { PROGRAM, programEnvironment, type RunningProcess, startProcess } from './processes.ts'
import { PATIENT, WITHOUT_PROGRAMS } from './servers/gateway-settings.ts'
import { until } from './until.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const CATALOG = join(ROOT, 'catalog', 'simulators.json')
/** A start takes a second, or many times that on a machine that starts several at once. */
const READY_MS = 180_000
/** The same for every gateway of a test, so that several can share one database. */
export const SECRET_KEY = 'a-secret-key-of-tests-which-is-long-enough'

export interface GatewayProcess extends RunningProcess {
  readonly url: string
  readonly port: number
  /** From the start of the process to the first good answer of /readyz. */
  readonly readyMs: number
  /** SIGKILL, and the wait until it is gone. */
  kill9(): Promise<void>
}

export interface GatewayPlace {
  /** A folder for an embedded database, or for nothing when `databaseUrl` is given. */
  readonly dataDir: string
  readonly databaseUrl?: string
  readonly port?: number
  /** An address of this machine; 127.0.0.1 by default. */
  readonly host?: string
  /** The folder of another version; this one by default. */
  readonly root?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Starts `tributary serve` and waits for /readyz. Throws with its log when it does not come up. */
export async function startGateway(place: GatewayPlace): Promise<GatewayProcess> {
  const port = place.port ?? (await findFreePort())
  const { host = '127.0.0.1', root } = place
  const url = `http://${host}:${port}`
  const start = performance.now()
  const program = root === undefined ? PROGRAM : join(root, 'bin', 'tributary.ts')
  const command = [process.execPath, ...ENGINE_FLAGS, program, 'serve']
  const env = gatewayEnvironment(place, port)
  const child = await startProcess(command as [string, ...string[]], { cwd: root ?? ROOT, env })
  await until('a gateway that is ready', () => look(child, url), READY_MS).catch((error) => {
    child.signal('SIGKILL')
    throw new Error(`${error.message}\n${child.log()}`, { cause: error })
  })
  return {
    ...child,
    url,
    port,
    readyMs: performance.now() - start,
    async kill9() {
      child.signal('SIGKILL')
      await child.exited
    },
  }
}

async function look(child: RunningProcess, url: string): Promise<true | undefined> {
  if (child.hasExited()) throw new Error('the gateway ended before it was ready')
  const answer = await fetch(`${url}/readyz`).catch(() => undefined)
  await answer?.arrayBuffer()
  return answer?.status === 200 ? true : undefined
}

/** Returns an environment without the configuration of this shell. */
export function gatewayEnvironment(place: GatewayPlace, port: number): NodeJS.ProcessEnv {
  return {
    ...programEnvironment(),
    HOME: process.env.HOME,
    TRIBUTARY_TEST_UNSAFE_DATABASE: place.databaseUrl === undefined ? undefined : '1',
    HOST: place.host ?? '127.0.0.1',
    PORT: String(port),
    METRICS_PORT: '0',
    LOG_LEVEL: 'warn',
    DRAIN_DELAY_SECONDS: '0',
    DATA_DIR: place.dataDir,
    DATABASE_URL: place.databaseUrl,
    SECRET_KEY,
    ...ENGINE_ENVIRONMENT,
    ...WITHOUT_PROGRAMS,
    ...place.env,
  }
}

/**
 * Applies the simulators' catalog with its channels pointing at `simulatorsUrl`. The channels get
 * names of their own: a gateway that finds only `sim-…` takes itself for a demo.
 */
export async function applySimulators(sql: Sql, simulatorsUrl: string): Promise<void> {
  const environment = { SIMULATORS_URL: simulatorsUrl }
  const text = readFileSync(CATALOG, 'utf8').replaceAll(
    /"(id|channel)": "sim-(openai|ark|anthropic|speech|search)"/g,
    '"$1": "test-$2"',
  )
  const file = parseCatalogFile(CATALOG, text, environment)
  const channels = file.content.channels.filter(({ upstream }) => UPSTREAMS.has(upstream))
  const known = new Set(channels.map(({ id }) => id))
  const models = file.content.models
    .map((model) => ({ ...model, routes: model.routes.filter((one) => known.has(one.channel)) }))
    .filter((model) => model.routes.length > 0)
  await applyFile(sql, { ...file, content: { ...file.content, channels, models } }, environment)
}

/** Applies a catalog given as an object; gateways notice it by themselves. */
export async function applyObject(sql: Sql, name: string, catalog: object): Promise<void> {
  await applyFile(sql, parseCatalogFile(`${name}.json`, JSON.stringify(catalog), {}), {})
}

async function applyFile(
  sql: Sql,
  file: ReturnType<typeof parseCatalogFile>,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const upstreams = Object.fromEntries(UPSTREAMS)
  const secrets = createSecretBox([SECRET_KEY])
  await applyCatalog({ sql, files: [file], upstreams, secrets, environment })
}

/** An account with a balance, in the currency's own unit. */
export function createTestAccount(
  sql: Sql,
  balance = '1000',
  more: Partial<NewAccount> = {},
): Promise<AccountRow> {
  const openingBalanceNanos = parseAmount(balance) ?? 0n
  return createAccount(sql, { name: 'test', openingBalanceNanos, actor: 'test', ...more })
}

/** A gateway that answers, in whatever process. */
export interface RunningGateway {
  readonly url: string
  hasExited(): boolean
  stop(graceMs?: number): Promise<unknown>
}

export interface Stage<Running extends RunningGateway = GatewayProcess> {
  readonly gateway: Running
  readonly url: string
  readonly account: AccountRow
  readonly key: CreatedKey
  readonly simulators: Simulators
  readonly sql: Sql
  /** Where this gateway lives: give it to `startGateway` for a second one or a restart. */
  readonly place: GatewayPlace
  /** Another account with its key. */
  createCaller(balance?: string, key?: Partial<NewKey>): Promise<Caller>
  /** Sends JSON with the stage's key, or with `key`. */
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>
  /** Stops the gateway, the simulators and drops the database. */
  stop(): Promise<void>
}

export interface Caller {
  readonly account: AccountRow
  readonly key: CreatedKey
}

export interface StageOptions {
  readonly balance?: string
  readonly env?: Readonly<Record<string, string>>
  readonly simulators?: Partial<SimulatorOptions>
}

/**
 * Simulators in this process, a database of the run's test server, a gateway process. Call `stop`
 * when done.
 */
export function startStage(options: StageOptions = {}): Promise<Stage> {
  return startStageOf(startGateway, options)
}

/** The same with a gateway that `start` starts. */
export async function startStageOf<Running extends RunningGateway>(
  start: (place: GatewayPlace) => Promise<Running>,
  options: StageOptions,
): Promise<Stage<Running>> {
  const database = await createTestDatabase()
  const simulators = await startSimulators({ port: 0, ...options.simulators })
  const dataDir = mkdtempSync(join(tmpdir(), 'tributary-stage-'))
  const clear = async () => {
    await simulators.stop()
    await database.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    return await assemble({ database, simulators, dataDir, clear, start }, options)
  } catch (error) {
    await clear()
    throw error
  }
}

interface Parts<Running> {
  readonly start: (place: GatewayPlace) => Promise<Running>
  readonly database: TestDatabase
  readonly simulators: Simulators
  readonly dataDir: string
  readonly clear: () => Promise<void>
}

async function assemble<Running extends RunningGateway>(
  parts: Parts<Running>,
  options: StageOptions,
): Promise<Stage<Running>> {
  const { database, simulators, dataDir, clear } = parts
  const { sql } = database
  await applySimulators(sql, simulators.url)
  const account = await createTestAccount(sql, options.balance)
  const key = await createKey(sql, { accountId: account.id })
  const place = { dataDir, databaseUrl: database.url, env: { ...PATIENT, ...options.env } }
  const gateway = await parts.start(place)
  const { url } = gateway
  const authorization = `Bearer ${key.key}`
  return {
    gateway,
    url,
    account,
    key,
    simulators,
    sql,
    place,
    createCaller: async (balance, wanted = {}) => {
      const made = await createTestAccount(sql, balance)
      return { account: made, key: await createKey(sql, { accountId: made.id, ...wanted }) }
    },
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (path, headers = {}) => fetch(url + path, { headers: { authorization, ...headers } }),
    async stop() {
      if (!gateway.hasExited()) await gateway.stop(5_000)
      await clear()
    },
  }
}
