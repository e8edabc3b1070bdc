/**
 * Proves that a database which comes back finds a calm queue: many gateways on one PostgreSQL serve
 * again within five seconds of its return, whatever took it away, and the books are exact. Every
 * second gateway reaches it through a network that can be slow or lose all bytes.
 * `npm run prove:return -- [--gateways 20] [--calls 4] [--seconds 29] [--postgres debian]`;
 * `--only PATTERN` tries the faults whose names match.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../server/base/database/connection/client.ts'
import { migrate } from '../../server/base/database/migrations/migrate.ts'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { startSimulatorsProcess } from '../../testbed/laboratory.ts'
import { POSTGRES_OPTION, readOptions } from '../../testbed/options.ts'
import { quantile, readConditions, report, table } from '../../testbed/results.ts'
import {
  makeDataDir,
  signalServer,
  startOwnServer,
} from '../../tests/support/database/own-postgres.ts'
import {
  applySimulators,
  createTestAccount,
  type GatewayProcess,
  startGateway,
} from '../../tests/support/gateway.ts'
import { until } from '../../tests/support/until.ts'
import { openNetwork } from './network.ts'

const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations')
const SLOW_MS = 150
/** Between two calls to each gateway once it is back. */
const PAUSE_MS = 500
const WATCHED_MS = 20_000
const GOAL_MS = 5_000
const BACK_MS = 60_000
const START_AT_A_TIME = 4

const values = readOptions(import.meta.filename, {
  postgres: POSTGRES_OPTION,
  gateways: { type: 'string', default: '20' },
  calls: { type: 'string', default: '4' },
  seconds: { type: 'string', default: '29' },
  only: { type: 'string', default: '' },
})
const count = Number(values.gateways)
/** Calls under way at each gateway when the database goes away. */
const liveCalls = Number(values.calls)
const awayMs = Number(values.seconds) * 1_000
const only = new RegExp(values.only)
const narrowed = values.only === '' ? '' : ` --only '${values.only}'`
const options = `--gateways ${count} --calls ${liveCalls} --seconds ${values.seconds}${narrowed}`
const conditions = readConditions(`npm run prove:return -- ${options}`, values.postgres)
const readLoad = () => readFileSync('/proc/loadavg', 'utf8').split(' ')[0]
const loadBefore = readLoad()

const server = await startOwnServer(makeDataDir(), {
  choice: values.postgres,
  settings: { max_connections: String(count * 16 + 20) },
})
const sql = connect(server.place, { connections: 2, patient: true, statementTimeoutMs: 0 })
await migrate(sql, MIGRATIONS)
const simulators = await startSimulatorsProcess()
await applySimulators(sql, simulators.url)
const account = await createTestAccount(sql, '100000')
const { key } = await createKey(sql, { accountId: account.id })
const network = await openNetwork(server.place)
const gateways: GatewayProcess[] = []
const isBehindNetwork = (gateway: number) => gateway % 2 === 1
while (gateways.length < count) {
  const batch = Array.from(
    { length: Math.min(START_AT_A_TIME, count - gateways.length) },
    (_, i) => {
      const databaseUrl = isBehindNetwork(gateways.length + i) ? network.url : server.url
      return startGateway({ dataDir: makeDataDir(), databaseUrl })
    },
  )
  gateways.push(...(await Promise.all(batch)))
  console.log(`${gateways.length} gateways`)
}

interface Tried {
  readonly gateway: number
  /** Since the return of the database. */
  readonly startMs: number
  readonly endMs: number
  readonly status: number
}

/** 0: no answer. */
async function call(gateway: GatewayProcess): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: '{"model":"sim-chat","max_tokens":20,"messages":[{"role":"user","content":"hello"}]}',
    signal: AbortSignal.timeout(BACK_MS),
  }).catch(() => undefined)
  await response?.arrayBuffer().catch(() => undefined)
  return response?.status ?? 0
}

async function freeze(): Promise<void> {
  const pid = server.pid() ?? 0
  signalServer(pid, 'SIGSTOP')
  await sleep(awayMs)
  signalServer(pid, 'SIGCONT')
}

const FAULTS: readonly [string, () => Promise<void>][] = [
  ['frozen', freeze],
  ['stopped and started', () => restart('SIGINT')],
  ['killed and recovered', () => restart('SIGQUIT')],
  [
    'connections cut at once',
    async () => {
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()`
    },
  ],
  ['connection table full', fillConnections],
  [
    `frozen, ${SLOW_MS} ms away each way`,
    async () => {
      network.delay(SLOW_MS)
      await freeze()
    },
  ],
  [
    'behind a silent network',
    async () => {
      const end = network.silence()
      await sleep(awayMs)
      end()
    },
  ],
]

async function restart(signal: NodeJS.Signals): Promise<void> {
  process.kill(server.pid() ?? 0, signal)
  await sleep(awayMs)
  await until('the database again', () => server.revive().catch(() => undefined), BACK_MS)
}

/** Takes every connection that the gateways leave or lose, and gives all back at once. */
async function fillConnections(): Promise<void> {
  const taken: ReturnType<typeof connect>[] = []
  const [row] = await sql<{ all: number; used: number }[]>`
    select current_setting('max_connections')::int as all, count(*)::int as used
    from pg_stat_activity where backend_type = 'client backend'`
  const free = (row?.all ?? 0) - (row?.used ?? 0) - 3
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()`
  for (let index = 0; index < Math.max(0, free); index += 1) {
    const one = connect(server.place, { connections: 1, name: 'taken' })
    taken.push(one)
    await one`select 1`.catch(() => undefined)
  }
  await sleep(awayMs / 3)
  await Promise.all(taken.map((one) => one.end({ timeout: 1 })))
}

async function prove(name: string, fault: () => Promise<void>) {
  const before = gateways.flatMap((gateway) => Array.from({ length: liveCalls }, () => gateway))
  const under = before.map((gateway) => call(gateway))
  await sleep(50)
  await fault()
  const back = performance.now()
  const tried: Promise<Tried>[] = []
  while (performance.now() - back < WATCHED_MS) {
    for (const [index, gateway] of gateways.entries()) {
      const startMs = performance.now() - back
      const end = (status: number): Tried => {
        return { gateway: index, startMs, endMs: performance.now() - back, status }
      }
      tried.push(call(gateway).then(end))
    }
    await sleep(PAUSE_MS)
  }
  const done = await Promise.all(tried)
  await Promise.all(under)
  network.delay(0)
  const serveMs = gateways.map((_, index) => {
    const own = done.filter(({ gateway }) => gateway === index)
    const lastFailure = Math.max(0, ...own.filter(isFailure).map(({ startMs }) => startMs))
    const first = own.filter((one) => !isFailure(one) && one.startMs >= lastFailure)
    return Math.min(WATCHED_MS, ...first.map(({ endMs }) => endMs))
  })
  const failures = done.filter(isFailure).length
  const row = {
    name,
    medianMs: Math.round(quantile(serveMs, 0.5)),
    mostMs: Math.round(Math.max(...serveMs)),
    calls: done.length,
    failures,
  }
  console.log(row)
  return row
}

function isFailure({ status }: Tried): boolean {
  return status !== 200
}

const rows = []
for (const [name, fault] of FAULTS) {
  if (only.test(name)) rows.push(await prove(name, fault))
}
const load = `${loadBefore} before, ${readLoad()} after`
for (const gateway of gateways) await gateway.stop(10_000)
const books = await audit(sql)
const held = await sql`select 1 from hold where state = 'open'`
const ok = books.ok && held.length === 0 && rows.every(({ mostMs }) => mostMs <= GOAL_MS)
network.close()
await simulators.stop(5_000)
await sql.end({ timeout: 1 })
await server.remove()
report('prove-return', conditions, { gateways: count, load, rows, auditOk: books.ok, ok }, [
  `${count} gateways, ${liveCalls} calls under way at each; then one every ${PAUSE_MS} ms.`,
  'Time from the return of the database until every later call is served:',
  '',
  ...table([
    ['the database was', 'median ms', 'at most ms', 'calls', 'not served'],
    ...rows.map((one) => [one.name, one.medianMs, one.mostMs, one.calls, one.failures]),
  ]),
  '',
  `audit ${books.ok ? 'clean' : 'BROKEN'}, open holds ${held.length}; load of the machine ${load}`,
  ok ? 'PASSED' : 'FAILED',
])
process.exit(ok ? 0 : 1)
