/** Rows that are taken from the connection: all of them, in order, and nothing else. */
import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { after, before, test } from 'node:test'
import type { Sql, TransactionSql } from 'postgres'
import { copyRange } from '../../../server/base/database/backup/copy-range.ts'
import {
  noteClient,
  noteSocket,
  takeRows,
} from '../../../server/base/database/connection/copied-rows.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

function message(type: string, text = ''): Buffer {
  const bytes = Buffer.alloc(5 + text.length, text && text)
  bytes.write(type)
  bytes.writeUInt32BE(4 + text.length, 1)
  bytes.write(text, 5)
  return bytes
}

/** Returns a transaction on a socket that is not connected, and what its client gets. */
function openFake() {
  const socket = new Socket()
  const client = (() => undefined) as unknown as Sql
  const transaction = (() => undefined) as unknown as TransactionSql
  noteSocket(client, socket)
  noteClient(transaction, client)
  const passed: Buffer[] = []
  socket.on('data', (bytes: Buffer) => passed.push(Buffer.from(bytes)))
  return { socket, transaction, passed: () => Buffer.concat(passed).toString() }
}

/** Sends bytes in chunks of a size, each in memory of its own, and returns the rows. */
function send(size: number, bytes: Buffer, { socket, transaction }: ReturnType<typeof openFake>) {
  const rows: string[] = []
  const stop = takeRows(transaction, (chunk, start, end) => {
    rows.push(chunk.toString('utf8', start, end))
  })
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = Buffer.from(new Uint8Array(bytes.subarray(at, at + size)).buffer)
    chunks.push(chunk)
    socket.emit('data', chunk)
  }
  return { rows, chunks, stop }
}

test('rows that arrive in pieces of any size are whole, and the client gets the rest', () => {
  const rows = ['', 'a', 'bb\t1\n', 'c'.repeat(300), 'dddd', 'H']
  const begin = message('H', 'format')
  const end = [message('c'), message('C', 'COPY 6'), message('Z', 'T'), message('d', 'a later one')]
  const notice = message('N', 'a notice')
  const [first = '', ...others] = rows
  const bytes = Buffer.concat([
    begin,
    message('d', first),
    notice,
    ...others.map((row) => message('d', row)),
    ...end,
  ])
  for (let size = 1; size <= bytes.length; size += 1) {
    const fake = openFake()
    const sent = send(size, bytes, fake)
    sent.stop()
    assert.deepEqual(sent.rows, rows, `in pieces of ${size}`)
    assert.equal(fake.passed(), Buffer.concat([begin, notice, ...end]).toString())
    fake.socket.emit('data', message('d', 'not taken'))
    assert.ok(fake.passed().endsWith('not taken'))
  }
})

test('the memory of rows is freed once they are read', () => {
  const fake = openFake()
  const { chunks, stop } = send(10, Buffer.concat([message('H'), message('d', 'abcdefgh')]), fake)
  assert.deepEqual(
    chunks.map(({ length }) => length),
    [0, 0],
  )
  stop()
})

test('an answer that does not begin with rows is left to the client', () => {
  const bytes = Buffer.concat([message('E', 'an error'), message('Z', 'T'), message('d', 'row')])
  const fake = openFake()
  const { rows, stop } = send(7, bytes, fake)
  stop()
  assert.deepEqual(rows, [])
  assert.equal(fake.passed(), bytes.toString())
})

test('rows behind something else are left to the client, though a chunk begins like an answer', () => {
  const bytes = Buffer.concat([message('N', 'a notice'), message('H'), message('d', 'a row: HH')])
  const fake = openFake()
  const { rows, stop } = send(bytes.indexOf('HH'), bytes, fake)
  assert.deepEqual(rows, [])
  assert.equal(fake.passed(), bytes.toString())
  stop()
})

test('what has arrived of a message is passed on when no more rows are taken', () => {
  const fake = openFake()
  const row = message('d', 'row')
  const { rows, stop } = send(6, Buffer.concat([message('H'), row.subarray(0, 7)]), fake)
  stop()
  fake.socket.emit('data', row.subarray(7))
  assert.deepEqual(rows, [])
  assert.equal(fake.passed(), Buffer.concat([message('H'), row]).toString())
})

test('a receiver that throws loses its connection, and nothing else', () => {
  const fake = openFake()
  let lost: unknown
  fake.socket.on('error', () => undefined)
  fake.socket.destroy = (error) => {
    lost = error
    return fake.socket
  }
  const stop = takeRows(fake.transaction, () => {
    throw new Error('no room')
  })
  fake.socket.emit('data', Buffer.concat([message('H'), message('d', 'row')]))
  stop()
  assert.match(String(lost), /no room/)
})

const shape = { name: 'many', columns: ['key', 'text'], types: ['text', 'text'] }

function copy(sql: TransactionSql, upto: string, rows: string[]): Promise<void> {
  return copyRange(sql, shape, { key: 'key', after: 'k', upto }, (bytes, start, end) => {
    rows.push(bytes.toString('utf8', start, end))
  })
}

test('a table is copied as PostgreSQL has it, and the connection goes on', async () => {
  const { sql } = database
  await sql`create table many as
    select 'k' || lpad(n::text, 5, '0') as key, repeat(chr(128 + n % 900), (n * n) % 997) as text
    from generate_series(1, 4000) n`
  await sql`insert into many values ('k90000', ${'x'.repeat(3_000_000)})`
  const found = await sql.begin(async (one) => {
    const rows: string[] = []
    await copy(one, 'k99999', rows)
    const none: string[] = []
    await copy(one, 'k00000', none)
    assert.deepEqual(none, [])
    return { rows, next: await one`select 1 as one` }
  })
  const expected = await sql<
    { row: string }[]
  >`select key || E'\t' || text as row from many order by key`
  assert.deepEqual(
    found.rows,
    expected.map(({ row }) => `${row}\n`),
  )
  assert.deepEqual([...found.next], [{ one: 1 }])
})

test('an error among the rows fails the transaction alone', async () => {
  const { sql } = database
  await sql`alter table many rename to most`
  await sql`alter table most add primary key (key)`
  await sql`create view many as
    select key, (1 / (3000 - substr(key, 2)::int))::text as text from most`
  const rows: string[] = []
  const run = sql.begin(async (one) => {
    // Otherwise all rows are computed before the first one is sent.
    await one`set local enable_sort = off`
    await copy(one, 'k99999', rows)
  })
  await assert.rejects(run, { code: '22012' })
  assert.equal(rows.length, 2_999)
  assert.equal((await sql`select 1`).length, 1)
})
