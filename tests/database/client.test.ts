/** The addresses a database can have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../server/base/database/connection/client.ts'
import { createTestDatabase } from '../support/postgres.ts'

test('DATABASE_URL may name a Unix socket folder, encoded or as the host parameter', async () => {
  const database = await createTestDatabase()
  try {
    const { username, password, hostname, port, pathname } = new URL(database.url)
    const name = pathname.slice(1)
    const where = `host=${decodeURIComponent(hostname)}&port=${port}`
    const query = `postgres://${username}:${password}@localhost/${name}?${where}`
    for (const url of [database.url, query]) {
      const sql = connect({ url })
      const [row] = await sql<{ name: string }[]>`select current_database() as name`
      assert.equal(row?.name, name)
      await sql.end()
    }
  } finally {
    await database.drop()
  }
})

test('amounts are bigint on the way in and out', async () => {
  const database = await createTestDatabase()
  try {
    const [row] = await database.sql<{ amount: bigint }[]>`
      select ${'9007199254740993'}::bigint as amount`
    assert.equal(row?.amount, 9007199254740993n)
  } finally {
    await database.drop()
  }
})

test('text that PostgreSQL cannot store is replaced, and matches no id', async () => {
  const database = await createTestDatabase()
  try {
    const { sql } = database
    const [row] = await sql<{ text: string; list: string[]; found: boolean }[]>`
      select ${'a\0b'}::text as text, ${['c\0', 'd']}::text[] as list,
        exists (select 1 from account where id = ${'acct_\0'}) as found`
    assert.deepEqual({ ...row }, { text: 'a\ufffdb', list: ['c\ufffd', 'd'], found: false })
  } finally {
    await database.drop()
  }
})

test('an invalid time is an error of its statement, and the connection goes on', async () => {
  const database = await createTestDatabase()
  try {
    // One connection: it would answer nothing that follows.
    const sql = connect({ url: database.url }, { connections: 1 })
    for (const time of [new Date(Number.NaN), new Date(8.64e15), new Date('0000-01-01')]) {
      await assert.rejects(
        Promise.resolve(sql`select ${time}::timestamptz as time`),
        /invalid input syntax|out of range/,
      )
      const [row] = await sql<{ time: Date }[]>`select ${new Date(0)}::timestamptz as time`
      assert.equal(row?.time.getTime(), 0)
    }
    await sql.end()
  } finally {
    await database.drop()
  }
})
