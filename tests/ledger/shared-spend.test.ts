/** A key and its rotations have one spend limit and one counter, whoever calls with which. */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from 'postgres'
import { createAccount } from '../../server/accounts/manage-accounts.ts'
import {
  changeKey,
  createKey,
  listKeys,
  rotateKey,
  setKeyDisabled,
  showKey,
} from '../../server/accounts/manage-keys.ts'
import { findUsedKey } from '../../server/admin/account/keys/store.ts'
import { migrate } from '../../server/database/migrations/migrate.ts'
import { audit } from '../../server/ledger/audit/audit.ts'
import { takeHolds } from '../../server/ledger/posting/move-store.ts'
import { newId } from '../../server/lib/ids.ts'
import { holdRow, settle } from '../database/backup-support.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations')

let database: TestDatabase
let sql: Sql
before(async () => {
  database = await createTestDatabase()
  sql = database.sql
})
after(() => database.drop())

async function createFamily(limit: bigint | null, client: Sql = sql) {
  const account = await createAccount(client, {
    name: 'test',
    openingBalanceNanos: 1_000_000n,
    actor: 'test',
  })
  const key = await createKey(client, { accountId: account.id, spendLimitNanos: limit })
  return { accountId: account.id, keyId: key.id }
}

/** Takes a hold as a gateway does that has read `limit`. Returns its id, or the refusal. */
async function take(
  accountId: string,
  keyId: string,
  amount: number,
  limit: bigint | null,
): Promise<{ readonly id: string; readonly verdict: string | undefined }> {
  const id = newId('hold')
  const row = { ...holdRow(id, accountId, amount), key_id: keyId }
  const taken = await takeHolds(sql, [{ ...row, spend_limit: limit?.toString() ?? null }])
  return { id, verdict: taken.get(id) }
}

async function isClean(client: Sql = sql): Promise<void> {
  const { checks } = await audit(client)
  assert.deepEqual(
    checks.filter(({ ok }) => !ok),
    [],
  )
}

test('after a rotation both keys together reach the limit and never more', async () => {
  const { accountId, keyId } = await createFamily(4n)
  const first = await take(accountId, keyId, 1, 4n)
  await settle(sql, [first.id], 1)
  const { created } = await rotateKey(sql, keyId, 3600)
  const attempts = Array.from({ length: 40 }, (_, index) =>
    take(accountId, index % 2 === 0 ? keyId : created.id, 1, 4n),
  )
  const verdicts = (await Promise.all(attempts)).map(({ verdict }) => verdict)
  assert.equal(verdicts.filter((verdict) => verdict === 'held').length, 3)
  assert.equal(verdicts.filter((verdict) => verdict === 'spend_limit').length, 37)
  for (const id of [keyId, created.id]) {
    const { spent, held } = await showKey(sql, id)
    assert.deepEqual([spent, held], [1n, 3n], 'both are shown what they share')
    const used = await findUsedKey(sql, accountId, id)
    assert.deepEqual([used?.spent, used?.held], [1n, 3n])
  }
  await isClean()
})

test('any mix of calls, rotations and revocations keeps the sum within the limit', async () => {
  const steps = fc.array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({ key: fc.nat(9), amount: fc.integer({ min: 0, max: 9 }) }),
      },
      { weight: 3, arbitrary: fc.record({ close: fc.nat(9), share: fc.nat(4) }) },
      { weight: 2, arbitrary: fc.constant('rotate' as const) },
      { weight: 1, arbitrary: fc.record({ disable: fc.nat(9) }) },
    ),
    { minLength: 8, maxLength: 40 },
  )
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 60 }), async (all, most) => {
      const limit = BigInt(most)
      const { accountId, keyId } = await createFamily(limit)
      const keys = [keyId]
      const open: { id: string; amount: number }[] = []
      let spent = 0
      async function run(step: (typeof all)[number]): Promise<void> {
        if (step === 'rotate') {
          const rotated = await rotateKey(sql, keys.at(-1) ?? '', 60).catch(() => undefined)
          if (rotated) keys.push(rotated.created.id)
        } else if ('amount' in step) {
          const key = keys[step.key % keys.length] ?? keyId
          const { id, verdict } = await take(accountId, key, step.amount, limit)
          if (verdict === 'held') open.push({ id, amount: step.amount })
        } else if ('close' in step) {
          const [hold] = open.splice(step.close % Math.max(1, open.length), 1)
          if (!hold) return
          const charge = Math.floor((hold.amount * step.share) / 4)
          await settle(sql, [hold.id], charge)
          spent += charge
        } else {
          await setKeyDisabled(sql, keys[step.disable % keys.length] ?? keyId, true)
        }
      }
      // Four at a time: moves, rotations and revocations meet each other.
      for (let at = 0; at < all.length; at += 4) await Promise.all(all.slice(at, at + 4).map(run))

      const held = open.reduce((sum, { amount }) => sum + amount, 0)
      assert.ok(spent + held <= most, `${spent} spent and ${held} held of ${most}`)
      for (const row of await listKeys(sql, accountId)) {
        assert.deepEqual([row.spent ?? 0n, row.held ?? 0n], [BigInt(spent), BigInt(held)])
      }
      const left = most - spent - held
      const last = keys.at(-1) ?? keyId
      assert.equal((await take(accountId, last, left + 1, limit)).verdict, 'spend_limit')
      assert.equal((await take(accountId, keyId, left, limit)).verdict, 'held')
    }),
    { numRuns: 25 },
  )
  await isClean()
})

test('the limit belongs to all keys of a rotation, and a lower one counts at once', async () => {
  const { accountId, keyId } = await createFamily(100n)
  const { created } = await rotateKey(sql, keyId, 3600)
  const again = await rotateKey(sql, created.id, 3600)
  const held = await take(accountId, created.id, 30, 100n)
  await changeKey(sql, again.created.id, { spendLimitNanos: 50n })
  assert.equal((await showKey(sql, keyId)).spend_limit, 50n)
  // Gateways that have not heard of it still ask with the old limit.
  assert.equal((await take(accountId, keyId, 21, 100n)).verdict, 'spend_limit')
  assert.equal((await take(accountId, keyId, 20, 100n)).verdict, 'held')
  await settle(sql, [held.id], 10)
  await changeKey(sql, keyId, { spendLimitNanos: 60n })
  assert.equal((await take(accountId, again.created.id, 31, 50n)).verdict, 'spend_limit')
  assert.equal((await take(accountId, again.created.id, 30, 50n)).verdict, 'held')
  await changeKey(sql, keyId, { spendLimitNanos: null })
  const free = await take(accountId, created.id, 1_000, null)
  await settle(sql, [free.id], 1_000)
  const limited = await changeKey(sql, created.id, { spendLimitNanos: 2_000n })
  assert.deepEqual([limited.spent, limited.held], [1_010n, 50n], 'all keys count from the start')
  await isClean()
})

test('a first limit after rotations counts what every key has spent', async () => {
  const { accountId, keyId } = await createFamily(null)
  const before = await take(accountId, keyId, 9, null)
  const { created } = await rotateKey(sql, keyId, 3600)
  await settle(sql, [before.id], 7)
  await take(accountId, created.id, 5, null)
  const limited = await changeKey(sql, created.id, { spendLimitNanos: 20n })
  assert.deepEqual([limited.spent, limited.held], [7n, 5n])
  assert.equal((await take(accountId, keyId, 9, 20n)).verdict, 'spend_limit')
  await isClean()
})

/** As a gateway of an earlier version rotates: the counter is copied. */
async function rotateAsBefore(client: Sql, from: string, to: string): Promise<void> {
  await client.begin(async (transaction) => {
    await transaction`
      insert into api_key (id, account_id, hash, display, spend_limit)
      select ${to}, account_id, ${Buffer.from(to)}, 'x', spend_limit from api_key where id = ${from}`
    await transaction`
      insert into key_spend (key_id, spent)
      select ${to}, spent + held from key_spend where key_id = ${from}`
    await transaction`
      update api_key set replaced_by = ${to}, expires_at = now() + interval '1 hour'
      where id = ${from}`
  })
}

test('a rotation by a gateway of an earlier version shares the counter too', async () => {
  const { accountId, keyId } = await createFamily(10n)
  const open = await take(accountId, keyId, 4, 10n)
  await rotateAsBefore(sql, keyId, `${keyId}_next`)
  assert.equal((await take(accountId, `${keyId}_next`, 7, 10n)).verdict, 'spend_limit')
  assert.equal((await take(accountId, `${keyId}_next`, 6, 10n)).verdict, 'held')
  await settle(sql, [open.id], 4)
  assert.equal((await showKey(sql, `${keyId}_next`)).spent, 4n)
  await isClean()
})

test('keys that were rotated before are counted together by the migration', async (t) => {
  const old = await createTestDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'tributary-migrations-'))
  t.after(async () => {
    rmSync(folder, { recursive: true })
    await old.drop()
  })
  await old.sql.unsafe('drop schema public cascade; create schema public')
  for (const name of readdirSync(MIGRATIONS).filter((name) => name < '0087')) {
    cpSync(join(MIGRATIONS, name), join(folder, name))
  }
  await migrate(old.sql, folder)
  await old.sql`insert into account (id, name) values ('acct_o', 'old')`
  await old.sql`insert into balance (account_id, currency, available) values ('acct_o', 'CNY', 0)`
  await old.sql`
    insert into api_key (id, account_id, hash, display, spend_limit)
    values ('key_1', 'acct_o', '1', 'x', 100), ('key_alone', 'acct_o', '2', 'x', 50)`
  await old.sql`insert into key_spend (key_id, spent) values ('key_1', 0), ('key_alone', 3)`
  await old.sql`insert into credit (id, account_id, kind, amount, reason, actor)
    values ('cred_1', 'acct_o', 'top_up', 1000, 'test', 'test')`
  await old.sql`insert into entry (posting, step, account_id, currency, source, destination, amount)
    values ('cred_1', 'credit', 'acct_o', 'CNY', 'top_up', 'available', 1000)`
  await old.sql`update balance set available = 1000`
  const move = async (id: string, key: string, amount: number, charge?: number) => {
    const hold = { id, request_id: `req_${id}`, account_id: 'acct_o', key_id: key, amount }
    const rest = { endpoint: 'test', model: 'm', spend_limit: 100 }
    await old.sql`select ledger_hold(${JSON.stringify([{ ...hold, ...rest }])}::text::jsonb)`
    if (charge === undefined) return
    const settled = { hold_id: id, charge, status: 'succeeded', basis: 'usage' }
    await old.sql`select ledger_settle(${JSON.stringify([settled])}::text::jsonb)`
  }
  await move('hold_1', 'key_1', 10, 8)
  await move('hold_2', 'key_1', 5)
  await rotateAsBefore(old.sql, 'key_1', 'key_2')
  await move('hold_3', 'key_2', 20, 20)
  await rotateAsBefore(old.sql, 'key_2', 'key_3')
  await old.sql`update api_key set spend_limit = 70 where id = 'key_3'`
  await move('hold_4', 'key_1', 6)

  await migrate(old.sql, MIGRATIONS)
  const counters = await old.sql`select * from key_spend order by key_id`
  assert.deepEqual(
    counters.map((row) => ({ ...row })),
    [
      { key_id: 'key_1', held: 11n, spent: 28n },
      { key_id: 'key_alone', held: 0n, spent: 3n },
    ],
  )
  const keys = await listKeys(old.sql, 'acct_o')
  const shown = keys.map((key) => [key.id, key.spend_limit, key.spent, key.held])
  assert.deepEqual(shown.sort(), [
    ['key_1', 70n, 28n, 11n],
    ['key_2', 70n, 28n, 11n],
    ['key_3', 70n, 28n, 11n],
    ['key_alone', 50n, 3n, 0n],
  ])
  await isClean(old.sql)
})
