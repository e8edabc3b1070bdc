/** A checkpoint in the database cannot be changed unnoticed: the audit verifies its signature. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { createSecretBox, createSecretKey } from '../../server/base/lib/secrets/secrets.ts'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { readCheckpointSummary } from '../../server/money/ledger/books/summary.ts'
import { writeCheckpoint } from '../../server/money/ledger/books/write-checkpoint.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

/** Some other Ed25519 key. */
const OTHER_KEY = 'MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='

describe('stored checkpoints', () => {
  let database: TestDatabase
  const box = createSecretBox([createSecretKey()])
  before(async () => {
    database = await createTestDatabase()
    const opening = { name: 'test', openingBalanceNanos: 1_000n, actor: 'test' }
    await createAccount(database.sql, opening)
  })
  after(() => database.drop())
  beforeEach(async () => {
    await change('delete from ledger_checkpoint', 'delete from ledger_signing_key')
    await writeCheckpoint(database.sql, box, '1')
    assert.deepEqual(await findViolations(), [])
    assert.equal((await readCheckpointSummary(database.sql))?.intact, true)
  })

  /** Runs statements as somebody with all rights on the database can. */
  async function change(...statements: string[]): Promise<void> {
    const table = 'alter table ledger_checkpoint'
    const all = [`${table} disable trigger user`, ...statements, `${table} enable trigger user`]
    await database.sql.unsafe(all.join(';'))
  }

  async function findViolations() {
    const { checks } = await audit(database.sql)
    return checks.flatMap(({ id, details }) => details.map(({ found }) => ({ id, found })))
  }

  const cases = [
    { name: 'sum', sql: `statement = replace(statement, '"0.', '"1.')`, found: /signature/ },
    { name: 'count', sql: `statement = replace(statement, '"1"', '"2"')`, found: /signature/ },
    { name: 'signature', sql: `signature = decode(repeat('00', 64), 'hex')`, found: /signature/ },
    { name: 'time', sql: `created_at = created_at - interval '1 hour'`, found: /time/ },
    { name: 'block', sql: 'block = 2', found: /block 2/ },
    { name: 'key', sql: `key_id = 'another'`, found: /unknown key/ },
    { name: 'format', sql: `statement = 'nonsense'`, found: /cannot be read/ },
  ] as const
  for (const { name, sql, found } of cases) {
    test(`a changed ${name} is a finding`, async () => {
      await change(`update ledger_checkpoint set ${sql}`)
      const [violation, ...others] = await findViolations()
      assert.deepEqual([violation?.id, others], ['I19', []])
      assert.match(violation?.found ?? '', found)
      const shown = await readCheckpointSummary(database.sql)
      assert.deepEqual([shown?.intact, shown?.hash, shown?.entries], [false, null, null])
    })
  }

  test('a signing key that was replaced is a finding', async () => {
    await change(`update ledger_signing_key set public_key = decode('${OTHER_KEY}', 'base64')`)
    assert.match(JSON.stringify(await findViolations()), /I19.*another signature/)
  })
})
