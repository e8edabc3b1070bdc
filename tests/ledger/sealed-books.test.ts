/** Changes of sealed history are detected: by the audit, and by checkpoints. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from 'postgres'
import { newId } from '../../server/base/lib/ids.ts'
import {
  createSecretBox,
  createSecretKey,
  type SecretBox,
} from '../../server/base/lib/secrets/secrets.ts'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { withDatabaseChain } from '../../server/money/ledger/books/chain-source-store.ts'
import { judgeCheckpoint } from '../../server/money/ledger/books/judge-checkpoint.ts'
import { sealBlock } from '../../server/money/ledger/books/seal-store.ts'
import { sealEverything, startSealer } from '../../server/money/ledger/books/sealer.ts'
import { rekeySigningKeys } from '../../server/money/ledger/books/signing-key.ts'
import { readOwnKey, type SignedStatement } from '../../server/money/ledger/books/statement.ts'
import { verifyChain } from '../../server/money/ledger/books/verify-chain.ts'
import { writeCheckpoint } from '../../server/money/ledger/books/write-checkpoint.ts'
import { postCredit } from '../../server/money/ledger/store.ts'
import { anyText } from '../support/any-text.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

const SECRET_KEY = createSecretKey()
const NEVER_MS = 3_600_000
const log = { warn: (fields: object) => assert.fail(JSON.stringify(fields)) }

describe('sealed books', () => {
  let database: TestDatabase
  let sql: Sql
  let accountId: string
  before(async () => {
    database = await createTestDatabase()
    sql = database.sql
  })
  after(() => database.drop())
  beforeEach(async () => {
    const tables = 'entry credit ledger_block ledger_checkpoint account_price_list'.split(' ')
    await sql.unsafe(
      [
        ...tables.map((table) => `alter table ${table} disable trigger user`),
        `truncate ${tables.join(', ')}, ledger_signing_key, balance, account, verified_books restart identity cascade`,
        ...tables.map((table) => `alter table ${table} enable trigger user`),
      ].join(';'),
    )
    const opening = { name: 'test', openingBalanceNanos: 1_000n, actor: 'test' }
    accountId = (await createAccount(sql, opening)).id
  })

  const box = createSecretBox([SECRET_KEY])

  async function credit(times = 1): Promise<void> {
    for (let turn = 0; turn < times; turn += 1) {
      await postCredit(sql, {
        id: newId('cred'),
        accountId,
        kind: 'top_up',
        amountNanos: 7n,
        reason: 'test',
        actor: 'test',
        eventId: null,
      })
    }
  }

  /** Changes that require all rights on the database. */
  async function tamper(...statements: string[]): Promise<void> {
    const tables = ['entry', 'ledger_block']
    const switchAll = (state: string) =>
      tables.map((table) => `alter table ${table} ${state} trigger user`)
    await sql.unsafe([...switchAll('disable'), ...statements, ...switchAll('enable')].join(';'))
  }

  async function findings() {
    const { checks } = await audit(sql, { isFull: true })
    const violations = checks.flatMap(({ id, details }) => details.map((one) => ({ id, ...one })))
    return violations.filter(({ id }) => ['I14', 'I15', 'I19'].includes(id))
  }

  const verify = () => withDatabaseChain(sql, (source) => verifyChain(source))
  const judge = (signed: SignedStatement) =>
    withDatabaseChain(sql, (source) => judgeCheckpoint(signed, source, undefined))

  /** Posts seven entries in blocks of three ids. */
  async function sealSmallBlocks(): Promise<SignedStatement> {
    await credit(6)
    while ((await sealBlock(sql, 7n, 3)) !== 0);
    return await writeCheckpoint(sql, box, '1')
  }

  test('every check of the audit has an id of its own', async () => {
    const ids = (await audit(sql)).checks.map(({ id }) => id)
    assert.deepEqual(ids, [...new Set(ids)])
  })

  test('every entry is in one block, and both ways of verifying agree', async () => {
    const signed = await sealSmallBlocks()
    const blocks = await sql`select number, after_id, upto_id, entries from ledger_block order by 1`
    assert.deepEqual(
      blocks.map((row) => Object.values(row)),
      [
        [1n, 0n, 3n, 3],
        [2n, 3n, 6n, 3],
        [3n, 6n, 7n, 1],
      ],
    )
    assert.deepEqual(
      (await audit(sql)).checks.filter(({ ok }) => !ok),
      [],
    )
    const report = await verify()
    assert.deepEqual([report.problems, report.entries, report.unsealed], [[], 7n, 0n])
    assert.equal((await judge(signed)).verdict, 'ok')
    const cny = signed.statement.totals.CNY
    assert.deepEqual(cny, { available: '0.000001042', top_up: '-0.000001042' })
    await credit()
    const later = await judge(signed)
    assert.deepEqual([later.verdict, later.unsealed], ['ok', '1'])
  })

  const cases = [
    {
      name: 'a changed amount',
      sql: ['update entry set amount = 8 where id = 2'],
      tells: /entry 2 .*was changed .* block 1 /,
    },
    {
      name: 'a changed time',
      sql: ["update entry set at = at + interval '1 microsecond' where id = 5"],
      tells: /entry 5 .*was changed .* block 2 /,
    },
    {
      name: 'a removed entry',
      sql: ['delete from entry where id = 4'],
      tells: /entry 4 was removed .* block 2 /,
    },
    {
      name: 'two that changed places',
      sql: [
        'create temp table moved as select id, posting from entry where id in (2, 6)',
        "update entry set posting = 'x' || posting where id in (2, 6)",
        'update entry e set posting = m.posting from moved m where m.id in (2, 6) and m.id = 8 - e.id',
        'drop table moved',
      ],
      tells: /entry 2 .*was changed/,
    },
    {
      name: 'an entry inserted into the past',
      sql: [
        'delete from entry where id = 5',
        "insert into entry overriding system value select 5, 'x', step, account_id, currency, source, destination, amount, at from entry where id = 4",
      ],
      tells: /entry 5 \(x .*was changed/,
    },
    {
      name: 'an entry before all others',
      sql: [
        "insert into entry overriding system value select 0, 'x', step, account_id, currency, source, destination, amount, at from entry where id = 4",
      ],
      tells: /entry 0 is in no block/,
    },
    {
      name: 'a removed block',
      sql: ['delete from ledger_block where number = 2'],
      tells: /block 2 is missing/,
    },
    {
      name: 'changed sums',
      sql: [`update ledger_block set totals = replace(totals, '1', '2') where number = 3`],
      tells: /block 3 does not match its hash/,
    },
    {
      name: 'changed marks',
      sql: [
        `update ledger_block set marks = set_byte(marks, 15, (get_byte(marks, 15) + 1) % 256) where number = 1`,
      ],
      tells: undefined,
    },
  ] as const
  for (const one of cases) {
    test(`${one.name} is noticed and named`, async () => {
      const signed = await sealSmallBlocks()
      await tamper(...one.sql)
      assert.notDeepEqual(await findings(), [])
      const judgement = await judge(signed)
      // No hash covers the marks: they only help to name a difference.
      if (one.tells === undefined) return assert.equal(judgement.verdict, 'ok')
      assert.equal(judgement.verdict, 'differs')
      assert.match(judgement.problems.join('\n'), one.tells)
    })
  }

  test('history that was changed and sealed again is detected by a checkpoint only', async () => {
    const signed = await sealSmallBlocks()
    await tamper('update entry set amount = 8 where id = 2', 'delete from ledger_block')
    await tamper('update balance set available = available + 1')
    while ((await sealBlock(sql, 7n, 3)) !== 0);
    assert.deepEqual((await verify()).problems, [])
    const { verdict, problems } = await judge(signed)
    assert.equal(verdict, 'differs')
    assert.match(problems.join('\n'), /history was rewritten .* block 1 .* between 1 and 3 /)
    // The checkpoint in the database detects it too.
    assert.match(JSON.stringify(await findings()), /checkpoint \d+ of/)
  })

  test('books of an earlier state are distinguished from changed books', async () => {
    const signed = await sealSmallBlocks()
    await tamper('delete from ledger_block where number > 1', 'delete from entry where id > 3')
    const older = await judge(signed)
    assert.equal(older.verdict, 'older')
    assert.match(
      older.problems.join('\n'),
      /end with block 1, .* covers block 3.* 4 sealed entries/,
    )
    await tamper('update entry set amount = 8 where id = 2')
    assert.equal((await judge(signed)).verdict, 'differs')
    await tamper('delete from ledger_block', 'delete from entry')
    assert.match((await judge(signed)).problems.join(), /have no block/)
  })

  test('a statement that was changed or signed with another key is rejected', async () => {
    const signed = await sealSmallBlocks()
    const { statement } = signed
    const changed = { ...signed, statement: { ...statement, entries: '6' } }
    assert.equal((await judge(changed)).verdict, 'forged')
    const other = await withDatabaseChain(sql, (source) =>
      judgeCheckpoint(signed, source, readOwnKey({ ...signed, public_key: OTHER_KEY })),
    )
    assert.equal(other.verdict, 'forged')
  })

  test('an entry that commits late is sealed with entries of later ids', async (t) => {
    const sealer = startSealer({ sql, log, everyMs: NEVER_MS })
    t.after(() => sealer.stop())
    let commit = () => {}
    let begun = () => {}
    const inserted = new Promise<void>((resolve) => {
      begun = resolve
    })
    const late = sql.begin(async (transaction) => {
      await insertEntry(transaction, 'late')
      begun()
      await new Promise<void>((resolve) => {
        commit = resolve
      })
    })
    await inserted
    await credit()
    assert.deepEqual([await sealer.turn(), await sealer.turn(), await sealer.turn()], [0, 0, 0])
    commit()
    await late
    assert.equal(await sealer.turn(), 3)
    assert.deepEqual(await findings(), [])
  })

  test('a rolled-back entry leaves a gap that stays empty', async () => {
    await sql
      .begin((transaction) =>
        insertEntry(transaction, 'gone').then(() => transaction`select 1 / 0`),
      )
      .catch(() => undefined)
    await credit()
    await sealEverything(sql)
    assert.deepEqual((await verify()).problems, [])
    await tamper(`insert into entry overriding system value
      select 2, 'x', step, account_id, currency, source, destination, amount, at from entry where id = 1`)
    assert.match(
      (await verify()).problems.join(),
      /entry 2 .*was inserted after it was sealed in block 1/,
    )
    assert.match(JSON.stringify(await findings()), /inserted: x/)
  })

  test('several sealers with concurrent writers seal everything once', async (t) => {
    const sealers = Array.from({ length: 3 }, () =>
      startSealer({ sql, log, everyMs: NEVER_MS, idsMax: 7 }),
    )
    t.after(() => Promise.all(sealers.map(({ stop }) => stop())))
    const writing = Promise.all([credit(30), credit(30), credit(30)])
    let sealed = 0
    let isOver = false
    const sealing = Promise.all(
      sealers.map(async ({ turn }) => {
        while (!isOver) sealed += await turn()
      }),
    )
    await writing
    isOver = true
    await sealing
    await sealEverything(sql)
    const [row] = await sql`select sum(entries)::int as entries from ledger_block`
    assert.equal(row?.entries, 91)
    assert.ok(sealed <= 91)
    assert.deepEqual(await findings(), [])
    assert.deepEqual((await verify()).problems, [])
  })

  test('any text, amount and time have the same bytes here and in the database', async () => {
    const word = anyText({ maxLength: 12 }).map((text) => text.replaceAll('\u0000', ''))
    const time = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_000 })
    const row = fc.record({
      posting: word,
      account: word,
      currency: word,
      amount: fc.bigInt(1n, 2n ** 63n - 1n),
      time,
      micros: fc.integer({ min: 0, max: 999 }),
    })
    const rows = fc.sample(row, { numRuns: 300, seed: 11 })
    for (const [index, { posting, account, currency, amount, time, micros }] of rows.entries()) {
      const at = `${new Date(time).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`
      await sql`
        insert into entry (posting, step, account_id, currency, source, destination, amount, at)
        values (${`${posting}${index}`}, 'credit', ${account}, ${currency}, 'top_up', 'available',
          ${amount.toString()}::bigint, ${at.replace(/^\+0*/, '')}::timestamptz)`
    }
    await sealEverything(sql)
    const report = await verify()
    assert.deepEqual([report.problems, report.entries], [[], 301n])
    assert.deepEqual(await findings(), [])
  })

  test('a range of entries is found by an index', async () => {
    const plan = await sql.begin(async (transaction) => {
      await transaction`set local enable_seqscan = off`
      return await transaction`explain select from entry where id > 5 and id <= 9`
    })
    assert.match(JSON.stringify(plan), /entry_by_id/)
  })

  test('rows in any order are verified', async () => {
    await sealSmallBlocks()
    const problems = await withDatabaseChain(sql, async (source) => {
      const [blocks, entries] = [await collect(source.blocks()), await collect(source.entries())]
      const report = await verifyChain({
        blocks: () => reversed(blocks),
        entries: () => reversed(entries),
      })
      const twice = await verifyChain({
        blocks: () => reversed(blocks),
        entries: () => reversed([...entries, ...entries.slice(0, 1)]),
      })
      return [report.problems.length, twice.problems.length > 0]
    })
    assert.deepEqual(problems, [0, true])
  })

  test('the signing key is sealed again with a new SECRET_KEY', async () => {
    const signed = await sealSmallBlocks()
    const rekey = (box: SecretBox) => sql.begin((transaction) => rekeySigningKeys(transaction, box))
    await assert.rejects(rekey(createSecretBox([createSecretKey()])))
    const [row] = await sql`select private_key from ledger_signing_key`
    assert.ok(!row?.private_key.toString('latin1').includes('PRIVATE KEY'))
    assert.deepEqual(await rekey(box), { changed: 0, kept: 1, dropped: 0 })
    const both = createSecretBox([createSecretKey(), SECRET_KEY])
    assert.deepEqual(await rekey(both), { changed: 1, kept: 0, dropped: 0 })
    assert.equal((await writeCheckpoint(sql, both, '2')).public_key, signed.public_key)
  })

  async function insertEntry(transaction: Pick<Sql, 'unsafe'>, posting: string): Promise<void> {
    await transaction.unsafe(
      `insert into entry (posting, step, account_id, currency, source, destination, amount)
       values ($1, 'credit', 'nobody', 'CNY', 'top_up', 'available', 1)`,
      [posting],
    )
  }
})

/** Returns another Ed25519 key. */
const OTHER_KEY = 'MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='

async function* reversed<T>(rows: readonly T[]): AsyncGenerator<T> {
  yield* rows.toReversed()
}

async function collect<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const row of rows) all.push(row)
  return all
}
