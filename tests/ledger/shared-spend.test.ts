/** A key and its rotations share one spend limit and one counter. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type { Sql } from 'postgres'
import { findUsedKey } from '../../server/api/admin/account/keys/store.ts'
import { newId } from '../../server/base/lib/ids.ts'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import {
  changeKey,
  createKey,
  listKeys,
  rotateKey,
  setKeyDisabled,
  showKey,
} from '../../server/money/accounts/manage-keys.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import { holdRow, settle } from '../database/backup/support.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

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

/** Takes a hold as a gateway that has read `limit`. Returns its id, or the refusal. */
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
  const refused = verdicts.filter((verdict) => verdict === `budget:${created.id} `)
  assert.equal(refused.length, 37, 'the limit has the id of the key that has it now')
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
      // Four at a time, so that moves, rotations and revocations run concurrently.
      for (let at = 0; at < all.length; at += 4) await Promise.all(all.slice(at, at + 4).map(run))

      const held = open.reduce((sum, { amount }) => sum + amount, 0)
      assert.ok(spent + held <= most, `${spent} spent and ${held} held of ${most}`)
      for (const row of await listKeys(sql, accountId)) {
        assert.deepEqual([row.spent ?? 0n, row.held ?? 0n], [BigInt(spent), BigInt(held)])
      }
      const remaining = most - spent - held
      const last = keys.at(-1) ?? keyId
      const beyond = await take(accountId, last, remaining + 1, limit)
      assert.match(beyond.verdict ?? '', /^budget:key_/)
      assert.equal((await take(accountId, keyId, remaining, limit)).verdict, 'held')
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
  // Gateways that have not loaded it yet send the old limit.
  const refusal = `budget:${again.created.id} `
  assert.equal((await take(accountId, keyId, 21, 100n)).verdict, refusal)
  assert.equal((await take(accountId, keyId, 20, 100n)).verdict, 'held')
  await settle(sql, [held.id], 10)
  await changeKey(sql, keyId, { spendLimitNanos: 60n })
  assert.equal((await take(accountId, again.created.id, 31, 50n)).verdict, refusal)
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
  assert.equal((await take(accountId, keyId, 9, 20n)).verdict, `budget:${created.id} `)
  await isClean()
})
