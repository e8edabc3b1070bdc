/** The first run of a statement in a session takes one round trip once its types are known. */
import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { Sql, TransactionSql } from 'postgres'
import { connect } from '../../../server/base/database/connection/client.ts'
import { dialServer } from '../../support/database/chosen-postgres.ts'
import { createTestDatabase } from '../../support/postgres.ts'

/** A way to a database that counts the turns in which the client speaks. */
async function openCounted(t: TestContext) {
  const database = await createTestDatabase()
  const open = new Set<Socket>()
  let turns = 0
  const server = createServer((client) => {
    const inner = dialServer(database.place)
    let isServersTurn = true
    client.on('data', (bytes: Buffer) => {
      if (isServersTurn) turns += 1
      isServersTurn = false
      inner.write(bytes)
    })
    inner.on('data', (bytes: Buffer) => {
      isServersTurn = true
      client.write(bytes)
    })
    for (const socket of [client, inner]) {
      open.add(socket)
      socket.on('error', () => undefined)
    }
    client.on('close', () => inner.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  assert.ok(address && typeof address === 'object')
  const url = database.url.replace(/@[^/]+\//, `@127.0.0.1:${address.port}/`)
  t.after(async () => {
    for (const socket of open) socket.destroy()
    server.close()
    await database.drop()
  })
  return {
    sql: database.sql,
    /** Runs `work` on a session of its own. Returns its result and the turns that it took. */
    async count<T>(work: (sql: Sql) => PromiseLike<T>) {
      // One connection, and no watch beside it.
      const sql = connect({ url }, { connections: 1, patient: true })
      await sql`select 1`
      const before = turns
      try {
        return { value: await work(sql), turns: turns - before }
      } finally {
        await sql.end({ timeout: 1 })
      }
    },
  }
}

test('a later session knows the types that an earlier one was told', async (t) => {
  const { count } = await openCounted(t)
  const at = new Date('2026-01-02T03:04:05.678Z')
  const read = (sql: Sql | TransactionSql) => sql`
    select ${'9007199254740993'}::bigint as large, ${['a', 'b"']}::text[] as list,
      ${at}::timestamptz as at, ${null}::integer as none, ${Buffer.from('ab')}::bytea as bytes`
  const first = await count(read)
  assert.equal(first.turns, 2)
  const second = await count(read)
  assert.equal(second.turns, 1)
  assert.deepEqual([...second.value], [...first.value])
  const row = second.value[0]
  assert.deepEqual([row?.large, row?.list, row?.at], [9_007_199_254_740_993n, ['a', 'b"'], at])

  const inTransaction = await count((sql) => sql.begin((view) => [view`select 1`, read(view)]))
  // Begin, both statements in one go, and the end.
  assert.ok(inTransaction.turns <= 3, `${inTransaction.turns} turns`)
})

test('a column of another type costs one refusal, and its new type is learnt', async (t) => {
  const { sql, count } = await openCounted(t)
  await sql`create table parcel (number integer)`
  await sql`insert into parcel values (7)`
  const find = (one: Sql) => one`
    select number from parcel where number = ${'7'}`
  assert.equal((await count(find)).value[0]?.number, 7)
  await sql`alter table parcel alter number type text`
  await assert.rejects(count(find), { code: '42883' })
  assert.equal((await count(find)).value[0]?.number, '7')
  assert.equal((await count(find)).turns, 1)
})

test('a refusal that the types have not caused does not make them unknown', async (t) => {
  const { sql, count } = await openCounted(t)
  await sql`create table stamp (number text primary key)`
  const add = (one: Sql) => one`insert into stamp values (${'1'})`
  await count(add)
  await assert.rejects(count(add), { code: '23505' })
  await sql`delete from stamp`
  assert.equal((await count(add)).turns, 1)
})
