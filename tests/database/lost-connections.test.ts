/** Servers that die, pause and come back under statements, transactions and listeners. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Sql, TransactionSql } from 'postgres'
import { connect } from '../../server/base/database/connection/client.ts'
import { isUnavailable } from '../../server/base/database/unavailable.ts'
import { signalServer, startOwnServer } from '../support/database/own-postgres.ts'
import { until, within } from '../support/until.ts'

type OwnServer = Awaited<ReturnType<typeof startOwnServer>>

/** Far less than for ever, which is what a statement without a watch would take. */
const BOUND_MS = 20_000

let server: OwnServer
before(async () => {
  server = await startOwnServer()
})
after(() => server.remove())

async function withPool(work: (sql: Sql) => Promise<void>): Promise<void> {
  const sql = connect(server.place)
  try {
    await work(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

function pid(): number {
  const found = server.pid()
  assert.ok(found)
  return found
}

async function gone(): Promise<void> {
  await until('the end of the server', () => server.pid() === undefined)
}

async function revive(): Promise<void> {
  await gone()
  await server.revive()
}

/** Every one must end within the bound, and those that fail must say that they may be repeated. */
async function settleInTime(statements: readonly PromiseLike<unknown>[]): Promise<number> {
  const all = Promise.allSettled(statements)
  const outcome = await within(BOUND_MS, 'the end of all statements', all)
  const failed = outcome.filter((one) => one.status === 'rejected')
  for (const one of failed) assert.ok(isUnavailable(one.reason), String(one.reason))
  return failed.length
}

function crowd(sql: Sql, size: number): PromiseLike<unknown>[] {
  return Array.from({ length: size }, () => sql`select 1`.execute())
}

/** Of the processes that PostgreSQL replaces when one of them is killed. */
let replaced: number | undefined

async function readCheckpointer(sql: Sql | TransactionSql): Promise<number | undefined> {
  const [row] = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity where backend_type = 'checkpointer'`
  return row?.pid
}

async function killOwnBackend(sql: TransactionSql): Promise<void> {
  replaced = await readCheckpointer(sql)
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  assert.ok(row)
  process.kill(row.pid, 'SIGKILL')
}

async function isAnswered(sql: Sql): Promise<boolean> {
  try {
    return (await readCheckpointer(sql)) !== replaced
  } catch (error) {
    assert.ok(isUnavailable(error), String(error))
    return false
  }
}

/** Until the pool works again, on a server that has ended every connection from before. */
async function untilAnswered(sql: Sql): Promise<void> {
  await until('an answer', () => isAnswered(sql))
}

test('a transaction whose connection dies under a statement fails and ends nothing else', () =>
  withPool(async (sql) => {
    const work = sql.begin(async (transaction) => {
      const dying = transaction`select pg_sleep(60)`.execute()
      await killBackendOf(sql, 'select pg_sleep(60)')
      await dying
    })
    await assert.rejects(work, isUnavailable)
    await untilAnswered(sql)
  }))

test('a transaction whose connection dies between statements refuses the next', () =>
  withPool(async (sql) => {
    const work = sql.begin(async (transaction) => {
      await killOwnBackend(transaction).catch(() => undefined)
      await untilAnswered(sql)
      await transaction`select 1`
    })
    await assert.rejects(work, isUnavailable)
    await untilAnswered(sql)
  }))

test('a transaction that is over before it notices the loss does not commit into nothing', () =>
  withPool(async (sql) => {
    const work = sql.begin(async (transaction) => {
      await killOwnBackend(transaction).catch(() => undefined)
      await untilAnswered(sql)
    })
    await assert.rejects(work, isUnavailable)
    await untilAnswered(sql)
  }))

test('an error of the work itself is passed on and rolls back', () =>
  withPool(async (sql) => {
    await sql`create table if not exists tried (n int)`
    const work = sql.begin(async (transaction) => {
      await transaction`insert into tried values (1)`
      throw new RangeError('changed my mind')
    })
    await assert.rejects(work, RangeError)
    const [row] = await sql<{ count: bigint }[]>`select count(*) from tried`
    assert.equal(row?.count, 0n)
  }))

test('500 statements at once and a server killed with all its backends: all end in time', () =>
  withPool(async (sql) => {
    const statements = Array.from({ length: 500 }, () => sql`select pg_sleep(60)`.execute())
    await until('a statement on every connection', async () => (await countSleeping()) === 10)
    signalServer(pid(), 'SIGKILL')
    const late = gone().then(() => settleInTime(crowd(sql, 500)))
    assert.equal(await settleInTime(statements), 500)
    assert.equal(await late, 500)
    await revive()
    await untilAnswered(sql)
    assert.equal(await settleInTime(crowd(sql, 200)), 0)
  }))

test('a paused server is noticed, and used again once it goes on', () =>
  withPool(async (sql) => {
    await Promise.all(Array.from({ length: 10 }, () => sql`select 1`))
    const stopped = pid()
    signalServer(stopped, 'SIGSTOP')
    try {
      assert.equal(await settleInTime(crowd(sql, 100)), 100)
      assert.equal(await settleInTime(crowd(sql, 100)), 100)
      await assert.rejects(
        sql.begin((transaction) => transaction`select 1`),
        isUnavailable,
      )
    } finally {
      signalServer(stopped, 'SIGCONT')
    }
    await untilAnswered(sql)
    assert.equal(await settleInTime(crowd(sql, 200)), 0)
  }))

test('listening goes on after a crash, and says that it started anew', () =>
  withPool(async (sql) => {
    const received: string[] = []
    let started = 0
    const listening = await sql.listen(
      'news',
      (payload) => received.push(payload),
      () => {
        started += 1
      },
    )
    await sql`select pg_notify('news', 'one')`
    signalServer(pid(), 'SIGKILL')
    await revive()
    await until('the second start', () => started === 2)
    await untilAnswered(sql)
    await sql`select pg_notify('news', 'two')`
    await until('the second message', () => received.length === 2)
    assert.deepEqual(received, ['one', 'two'])
    await listening.unlisten()
  }))

/** Counts sleeping statements, on a connection besides the pool's. */
async function countSleeping(): Promise<number> {
  const observer = connect(server.place, { connections: 1, patient: true })
  try {
    const [row] = await observer<{ count: number }[]>`
      select count(*)::int from pg_stat_activity
      where wait_event = 'PgSleep' and pid <> pg_backend_pid()`
    return row?.count ?? 0
  } finally {
    await observer.end({ timeout: 1 })
  }
}

/** Kills the backend that runs `query`, from another connection, once it does. */
async function killBackendOf(sql: Sql, query: string): Promise<void> {
  replaced = await readCheckpointer(sql)
  const { pid } = await until('the statement', async () => {
    const [row] = await sql<{ pid: number }[]>`
      select pid from pg_stat_activity where query = ${query} and state = 'active'`
    return row
  })
  process.kill(pid, 'SIGKILL')
}
