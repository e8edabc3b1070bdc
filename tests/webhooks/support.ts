/** Support of webhook tests: receivers, a manual clock, senders, and reads of the queue. */
import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import type { Sql } from 'postgres'
import { newId } from '../../server/base/lib/ids.ts'
import type { Log } from '../../server/base/lib/log.ts'
import { createSecretBox } from '../../server/base/lib/secrets/secrets.ts'
import { createGuard, type Guard } from '../../server/base/outbound/guard.ts'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { enqueueDelivery } from '../../server/work/webhooks/enqueue.ts'
import { type Sender, type SenderOptions, startSender } from '../../server/work/webhooks/sender.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { startServer } from '../support/servers/local-server.ts'

const ignore = () => undefined
const silent: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
export const box = createSecretBox(['a-secret-key-that-only-tests-would-ever-use'])

/** Resolves every name to this machine; nothing is looked up. */
const localGuard: Guard = createGuard({
  policy: () => ({ allowance: 'private', ports: new Set([80, 443]) }),
  resolve: async () => ['127.0.0.1'],
})

const senders = new WeakMap<Sql, Sender[]>()

export async function openDatabase(t: TestContext): Promise<Sql> {
  const database = await createTestDatabase()
  senders.set(database.sql, [])
  t.after(async () => {
    await Promise.all((senders.get(database.sql) ?? []).map((running) => running.stop(0)))
    await database.drop()
  })
  return database.sql
}

export async function createTestAccountId(sql: Sql): Promise<string> {
  return (await createAccount(sql, { name: 'test', actor: 'test' })).id
}

/** Starts a sender that stops before its database is dropped. */
export function sender(sql: Sql, options: Partial<SenderOptions> = {}): Sender {
  const started = startSender({ sql, secrets: box, guard: localGuard, log: silent, ...options })
  senders.get(sql)?.push(started)
  return started
}

/** Returns a clock that only `advance` moves. It stays ahead of the database's. */
export function handClock(start = Date.now() + 3_600_000) {
  let nowMs = start
  return {
    now: () => new Date(nowMs),
    /** Shortens the waits of the claim loop. */
    pace: 1_000,
    advance(ms: number) {
      nowMs += ms
    },
  }
}

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly path: string
}

export interface Receiver {
  readonly url: string
  readonly port: number
  readonly received: Received[]
}

/** Starts a receiver that responds by `answer`; with 204 by default. */
export async function startReceiver(
  t: TestContext,
  answer: (response: ServerResponse, count: number) => void = (response) =>
    void response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = []
  const server = await startServer(async (request, response) => {
    // Another process may ask this port whether its server is up, which had the port before.
    if (request.method !== 'POST') return void response.writeHead(404).end()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { headers, url: path = '' } = request
    received.push({ headers, path, body: Buffer.concat(chunks) })
    answer(response, received.length)
  })
  t.after(async () => {
    await server.stop()
  })
  const { port } = server
  return { url: `${server.url}/hook`, port, received }
}

/** Enqueues a delivery of a new task. Returns its id. */
export function enqueueTestDelivery(
  sql: Sql,
  accountId: string,
  url: string,
  body = '{}',
): Promise<string> {
  const delivery = { accountId, taskId: newId('task'), kind: 'video', url, body }
  return sql.begin((transaction) => enqueueDelivery(transaction, delivery))
}

/** Writes a delivery that was given up after four refused attempts. Returns its id. */
export function insertDropped(
  sql: Sql,
  accountId: string,
  url: string,
  { body = '{}', createdAt = new Date() } = {},
): Promise<string> {
  const delivery = { accountId, taskId: newId('task'), kind: 'video', url, body }
  return sql.begin(async (transaction) => {
    const id = await enqueueDelivery(transaction, delivery)
    await transaction`update delivery set state = 'dropped', attempts = 4,
      finished_at = now(), created_at = ${createdAt} where id = ${id}`
    await transaction`
      insert into delivery_attempt
        (delivery_id, number, started_at, outcome, status, error, latency_ms, finished_at)
      select ${id}, n, now(), 'refused', 503, 'the receiver answered 503', 1, now()
      from generate_series(1, 4) n`
    return id
  })
}

export interface DeliveryRow {
  readonly state: string
  readonly attempts: number
  readonly lease_until: Date | null
}

export async function readDelivery(sql: Sql, id: string): Promise<DeliveryRow> {
  const [row] = await sql<DeliveryRow[]>`
    select state, attempts, lease_until from delivery where id = ${id}`
  if (!row) throw new Error(`no delivery ${id}`)
  return row
}

export interface AttemptRow {
  readonly number: number
  readonly started_at: Date
  readonly finished_at: Date
  readonly outcome: string
  readonly status: number | null
  readonly error: string | null
  readonly latency_ms: number
  readonly answer: Buffer | null
}

export function readAttempts(sql: Sql, id: string): Promise<AttemptRow[]> {
  return sql<AttemptRow[]>`
    select * from delivery_attempt where delivery_id = ${id} order by number`
}

/** Computes the signature from its documentation, independently of the server. */
export function expectedSignature(secret: string, timestamp: string, body: Buffer): string {
  const text = Buffer.concat([Buffer.from(`${timestamp}.`), body])
  return `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`
}
