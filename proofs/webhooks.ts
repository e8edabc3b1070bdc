/**
 * Proves that deliveries to misbehaving receivers all end delivered or dropped, on schedule,
 * without delaying others. `npm run prove:webhooks -- [--callbacks N] [--seconds S] [--pace P]`: N
 * deliveries are enqueued over S seconds while the product's clock runs P times faster than the
 * local one.
 */

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTcpServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { newId } from '../server/base/lib/ids.ts'
import { createSecretBox, createSecretKey } from '../server/base/lib/secrets/secrets.ts'
import { createGuard } from '../server/base/outbound/guard.ts'
import { createAccount } from '../server/money/accounts/manage-accounts.ts'
import { audit } from '../server/money/ledger/audit/audit.ts'
import { enqueueDelivery } from '../server/work/webhooks/enqueue.ts'
import { DELAYS_MS, SENDING_LIMITS } from '../server/work/webhooks/schedule.ts'
import { startSender } from '../server/work/webhooks/sender.ts'
import { readOptions } from '../testbed/options.ts'
import { quantile, readConditions, report, round, table } from '../testbed/results.ts'
import { createTestDatabase } from '../tests/support/postgres.ts'
import { until } from '../tests/support/until.ts'

const values = readOptions(import.meta.filename, {
  callbacks: { type: 'string', default: '10000' },
  seconds: { type: 'string', default: '240' },
  pace: { type: 'string', default: '5' },
})
const callbacks = Number(values.callbacks)
const pace = Number(values.pace)
const seconds = Number(values.seconds)
const conditions = readConditions(
  `npm run prove:webhooks -- --callbacks ${callbacks} --seconds ${seconds} --pace ${pace}`,
)
const HOSTS = 40
const ACCOUNTS = 40
const servers: Server[] = []

async function listen(server: Server): Promise<number> {
  server.on('error', () => undefined).listen(0, '127.0.0.1')
  await once(server, 'listening')
  servers.push(server)
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}
const http = (listener: RequestListener) => listen(createServer(listener))

function pour(response: Parameters<RequestListener>[1]): void {
  const chunk = Buffer.alloc(65_536)
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', more)
  more()
}

interface Kind {
  readonly name: string
  readonly port: number
  readonly scheme?: 'https'
  readonly isGood?: boolean
}

async function startReceivers(): Promise<Kind[]> {
  const silent = await listen(createTcpServer())
  const plain = await http((_request, response) => void response.end('ok'))
  return [
    { name: 'ok', isGood: true, port: plain },
    {
      name: '204',
      isGood: true,
      port: await http((_, response) => void response.writeHead(204).end()),
    },
    { name: '500', port: await http((_, response) => void response.writeHead(500).end('no')) },
    { name: 'slow head', port: await http(() => undefined) },
    {
      name: '1 byte body',
      isGood: true,
      port: await http((_, response) => void response.write('x')),
    },
    { name: 'endless body', isGood: true, port: await http((_, response) => pour(response)) },
    {
      name: 'redirect inward',
      port: await http(
        (_, response) =>
          void response.writeHead(302, { location: `http://127.0.0.1:${plain}/` }).end(),
      ),
    },
    { name: 'rebinding', port: plain },
    {
      name: 'reset',
      port: await listen(
        createTcpServer((socket) => {
          socket.on('error', () => undefined).on('data', () => socket.resetAndDestroy())
        }),
      ),
    },
    { name: 'bad TLS', scheme: 'https', port: plain },
    {
      name: 'gzip bomb',
      isGood: true,
      port: await http((_, response) => {
        response.setHeader('content-encoding', 'gzip')
        pour(response)
      }),
    },
    { name: 'never answers', port: silent },
  ]
}

const startedAt = performance.now()
const base = Date.now() + 60_000
const clock = {
  now: () => new Date(base + (performance.now() - startedAt) * pace),
  pace,
}
const guard = createGuard({
  policy: () => ({ allowance: 'loopback', ports: new Set([443]) }),
  resolve: async (host) => [host.startsWith('rebinding') ? '10.0.0.1' : '127.0.0.1'],
})

interface Enqueued {
  readonly kind: Kind
  readonly at: number
}

/** Enqueues deliveries evenly, the kinds in turn. */
async function enqueueAll(sql: Sql, kinds: readonly Kind[]): Promise<Map<string, Enqueued>> {
  const enqueued = new Map<string, Enqueued>()
  const accounts: string[] = []
  for (let index = 0; index < ACCOUNTS; index += 1) {
    accounts.push((await createAccount(sql, { name: 'proof', actor: 'proof' })).id)
  }
  const begin = performance.now()
  for (let index = 0; index < callbacks; index += 1) {
    const kind = kinds[index % kinds.length]
    if (!kind) break
    const host = `${kind.name.replaceAll(' ', '-')}-${Math.floor(index / kinds.length) % HOSTS}`
    const url = `${kind.scheme ?? 'http'}://${host}.example.com:${kind.port}/`
    const accountId = accounts[index % ACCOUNTS] ?? ''
    const delivery = { accountId, taskId: newId('task'), kind: 'proof', url, body: '{}' }
    const at = clock.now().getTime()
    enqueued.set(await sql.begin((one) => enqueueDelivery(one, delivery)), { kind, at })
    const aheadMs = (index / callbacks) * seconds * 1000 - (performance.now() - begin)
    if (aheadMs > 0) await sleep(aheadMs)
  }
  return enqueued
}

interface Ended {
  readonly id: string
  readonly state: string
  readonly starts: number[]
  readonly ends: number[]
}

function readEnded(sql: Sql): Promise<Ended[]> {
  return sql<Ended[]>`
    select d.id, d.state,
      array_agg(extract(epoch from a.started_at)::float8 * 1000 order by a.number) as starts,
      array_agg(extract(epoch from a.finished_at)::float8 * 1000 order by a.number) as ends
    from delivery d join delivery_attempt a on a.delivery_id = d.id group by d.id, d.state`
}

const database = await createTestDatabase()
const { sql } = database
const ignore = () => undefined
const log = { debug: ignore, info: ignore, warn: ignore, error: console.error }
const kinds = await startReceivers()
const limits = {
  ...SENDING_LIMITS,
  budgetMs: SENDING_LIMITS.budgetMs / pace,
  bodyMs: 100,
  leaseMs: 30_000 * pace,
}
const secrets = createSecretBox([createSecretKey()])
const rssBefore = process.memoryUsage().rss
let rssMost = rssBefore
const watch = setInterval(() => {
  rssMost = Math.max(rssMost, process.memoryUsage().rss)
}, 200)
const sender = startSender({ sql, secrets, guard, log, limits, clock })
const enqueued = await enqueueAll(sql, kinds)
await until(
  'every end',
  async () => {
    await sleep(500)
    const rows = await sql`select 1 from delivery where state = 'pending' limit 1`
    return rows.length === 0 || undefined
  },
  1_200_000,
)
clearInterval(watch)
await sender.stop()
const ended = await readEnded(sql)
const checks = await audit(sql)
await database.drop()

/** The deviation of each gap from its schedule, as a share; and the waits of good receivers. */
const off = ended.flatMap(({ starts, ends }) =>
  starts.slice(1).map((start, index) => {
    const delay = DELAYS_MS[index] ?? 1
    return Math.abs(start - (ends[index] ?? 0) - delay) / delay
  }),
)
/** Lateness by the local clock: a faster product clock only makes it look larger. */
const late = Math.max(0, ...off) / pace
const waits = ended.flatMap(({ id, starts }) => {
  const one = enqueued.get(id)
  return one?.kind.isGood ? [((starts[0] ?? 0) - one.at) / pace] : []
})
const byKind = kinds.map(({ name, isGood }) => {
  const own = ended.filter(({ id }) => enqueued.get(id)?.kind.name === name)
  const count = (state: string) => own.filter((one) => one.state === state).length
  const attempts = Math.max(...own.map(({ starts }) => starts.length))
  const expected = count(isGood ? 'delivered' : 'dropped') === own.length
  return {
    name,
    total: own.length,
    delivered: count('delivered'),
    dropped: count('dropped'),
    attempts,
    expected,
  }
})
const within = off.filter((share) => share <= 0.1).length / Math.max(1, off.length)
const figures = {
  callbacks: ended.length,
  gaps: off.length,
  gapsWithinTenPercent: round(within),
  gapOffMost: round(late),
  goodWaitMsMedian: round(quantile(waits, 0.5)),
  goodWaitMs99: round(quantile(waits, 0.99)),
  goodWaitMsMost: round(quantile(waits, 1)),
  memoryGrownMegabytes: Math.round((rssMost - rssBefore) / 1024 ** 2),
}
const ok =
  ended.length === callbacks &&
  byKind.every(({ expected, attempts }) => expected && attempts <= 4) &&
  checks.ok &&
  figures.goodWaitMs99 <= 1_000 &&
  late <= 0.1
report('prove-webhooks', conditions, { ...figures, byKind, ok }, [
  ...table([
    ['receiver', 'callbacks', 'delivered', 'dropped', 'attempts at most'],
    ...byKind.map((one) => [one.name, one.total, one.delivered, one.dropped, one.attempts]),
  ]),
  '',
  `${off.length} gaps: ${round(within * 100)} % within 10 % of 5 s, 30 s, 5 min by the fast clock;`,
  `  off by our clock: ${round(late * 100)} % of the promise at most`,
  `good receivers waited ${figures.goodWaitMsMedian} ms (median), ` +
    `${figures.goodWaitMs99} ms (99 %), ${figures.goodWaitMsMost} ms at most`,
  `memory grew by ${figures.memoryGrownMegabytes} MB at most, the receivers' own included`,
  `audit ${checks.ok ? 'clean' : 'BROKEN'}; the product's clock ran ${pace} times as fast as ours`,
  ok ? 'PASSED' : 'FAILED',
])
process.exit(ok ? 0 : 1)
