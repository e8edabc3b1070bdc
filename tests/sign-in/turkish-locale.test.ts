/** Addresses are found again whatever the database makes of their capitals. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { insertLink, selectInvitationsOf } from '../../server/api/sign-in/people/link-store.ts'
import { findByEmail, insertPerson } from '../../server/api/sign-in/person-store.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase({ locale: 'tr' })
})
after(() => database.drop())

function person(id: string, email: string) {
  return { id, email, name: id, language: 'en', is_operator: false, password_hash: null } as const
}

test('in a Turkish database a capital I is found, and kept where it does no harm', async () => {
  const { sql } = database
  const [locale] = await sql`select lower('I') as small`
  assert.equal(locale?.small, 'ı')
  assert.equal(await insertPerson(sql, person('usr_1', 'INFO@Example.com')), true)
  assert.equal(await insertPerson(sql, person('usr_2', 'Ann@Example.com')), true)
  assert.equal(await insertPerson(sql, person('usr_3', 'info@example.com')), false)
  assert.equal((await findByEmail(sql, 'Info@example.com'))?.email, 'info@example.com')
  assert.equal((await findByEmail(sql, 'ANN@example.com'))?.email, 'Ann@Example.com')
})

test('an invitation to a capital I is found', async () => {
  await database.sql.begin(async (transaction) => {
    await insertLink(transaction, {
      id: 'link_1',
      kind: 'invitation',
      email: 'INFO@Example.com',
      account_id: null,
      role: null,
      is_operator: true,
      person_id: null,
      created_by: 'test',
      tokenHash: Buffer.from('hash'),
      seconds: 60,
    })
    const found = await selectInvitationsOf(transaction, 'info@example.com')
    assert.deepEqual(
      found.map(({ id }) => id),
      ['link_1'],
    )
  })
})
