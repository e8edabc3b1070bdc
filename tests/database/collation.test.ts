/** The order of texts in a database is that of their characters. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRefusal } from '../../server/base/database/judge-server.ts'
import { readServer } from '../../server/base/database/store.ts'
import { createTestDatabase } from '../support/postgres.ts'

for (const [locale, refusal] of [
  ['en-u-kn-true', /orders digits in texts as numbers .*'C\.UTF-8'/],
  ['sv', /^$/],
] as const) {
  test(`a database with the locale ${locale}`, async (t) => {
    const database = await createTestDatabase({ locale })
    t.after(() => database.drop())
    assert.match(findRefusal(await readServer(database.sql)) ?? '', refusal)
  })
}
