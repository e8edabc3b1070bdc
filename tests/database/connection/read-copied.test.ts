/** Errors of a COPY, however early they arrive. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { copyRange } from '../../../server/base/database/backup/copy-range.ts'
import { readCopied } from '../../../server/base/database/connection/read-copied.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
  // The server sends the beginning of its answer and the error together.
  await database.sql`create view failing as select 'k' || n as key, 1 / (n - 1) as result
    from generate_series(1, 3) n`
})
after(() => database.drop())

test('an error in place of the first row reaches whoever reads the rows', async () => {
  const { sql } = database
  const run = sql.begin(async (one) => {
    const rows = await readCopied(one`copy (select * from failing) to stdout`)
    for await (const row of rows) assert.fail(`a row: ${row}`)
  })
  await assert.rejects(run, { code: '22012' })
  assert.equal((await sql`select 1`).length, 1)
})

test('so does one while rows are taken from the connection', async () => {
  const { sql } = database
  const shape = { name: 'failing', columns: ['key', 'result'], types: ['text', 'integer'] }
  const range = { key: 'key', after: 'k0', upto: 'k9' }
  const run = sql.begin((one) => copyRange(one, shape, range, () => assert.fail('a row')))
  await assert.rejects(run, { code: '22012' })
  assert.equal((await sql`select 1`).length, 1)
})

test('rows without an error are all read, and the connection goes on', async () => {
  const { sql } = database
  const rows: string[] = []
  await sql.begin(async (one) => {
    for (let round = 0; round < 3; round += 1) {
      const answer = await readCopied(one`copy (select generate_series(1, 2)) to stdout`)
      for await (const row of answer) rows.push(String(row))
    }
  })
  assert.deepEqual(rows, ['1\n', '2\n', '1\n', '2\n', '1\n', '2\n'])
})
