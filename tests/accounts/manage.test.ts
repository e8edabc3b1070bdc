/** Accounts and keys as operators manage them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OperatorError } from '../../server/base/lib/operator-error.ts'
import {
  createAccount,
  listAccounts,
  setAccountLimits,
  setAccountStatus,
  showAccount,
} from '../../server/money/accounts/manage-accounts.ts'
import {
  changeKey,
  createKey,
  listKeys,
  rotateKey,
  setKeyDisabled,
  showKey,
} from '../../server/money/accounts/manage-keys.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { closeHolds } from '../../server/money/ledger/posting/move-store.ts'
import type { HoldRow } from '../../server/money/ledger/store.ts'
import { settleRow } from '../ledger/support.ts'
import { openSessions, untilWaiting } from '../support/database/lock-account.ts'
import { createCaller, openDatabase, spend } from './support.ts'

const refusal = (pattern: RegExp) => (error: unknown) =>
  error instanceof OperatorError && pattern.test(error.message)

test('an account opens with its balance, in the books from the start', async (t) => {
  const sql = await openDatabase(t)
  const account = await createAccount(sql, {
    name: 'Acme',
    currency: 'USD',
    openingBalanceNanos: 12_500_000_000n,
    limits: { concurrent_calls: 5 },
    actor: 'me',
  })
  assert.match(account.id, /^acct_/)
  assert.equal(account.available, 12_500_000_000n)
  const [credit] = await sql`select kind, amount, reason, actor from credit`
  assert.deepEqual(
    { ...credit },
    { kind: 'top_up', amount: 12_500_000_000n, reason: 'opening balance', actor: 'me' },
  )
  const empty = await createAccount(sql, { name: 'Empty', actor: 'me' })
  assert.equal(empty.available, 0n)
  assert.deepEqual(
    (await listAccounts(sql)).map(({ name }) => name),
    ['Acme', 'Empty'],
  )
  assert.ok((await audit(sql)).ok)
})

test('account refusals name what is wrong', async (t) => {
  const sql = await openDatabase(t)
  const create = (wanted: object) => createAccount(sql, { name: 'x', actor: 'me', ...wanted })
  await assert.rejects(create({ name: ' ' }), refusal(/name/))
  for (const currency of ['yuan', 'DOL', 'XYZ', 'usd', 'XXX', '']) {
    await assert.rejects(create({ currency }), refusal(/currency/))
  }
  await assert.rejects(create({ openingBalanceNanos: -1n }), refusal(/must not be negative/))
  await assert.rejects(showAccount(sql, 'acct_no'), refusal(/no account acct_no/))
  await assert.rejects(setAccountStatus(sql, 'acct_no', 'suspended'), refusal(/no account/))
  await assert.rejects(setAccountLimits(sql, 'acct_no', {}), refusal(/no account/))
  assert.equal((await listAccounts(sql)).length, 0)
})

test('limits are set, kept and lifted one by one', async (t) => {
  const sql = await openDatabase(t)
  const { account } = await createCaller(sql)
  const set = async (change: Parameters<typeof setAccountLimits>[2]) =>
    (await setAccountLimits(sql, account.id, change)).limits
  assert.deepEqual(await set({ requests_per_minute: 60 }), { requests_per_minute: 60 })
  const both = { requests_per_minute: 60, concurrent_calls: 3 }
  assert.deepEqual(await set({ concurrent_calls: 3 }), both)
  assert.deepEqual(await set({ requests_per_minute: null }), { concurrent_calls: 3 })
})

test('of two changes of limits at once neither is lost', async (t) => {
  const sql = await openDatabase(t)
  const { account } = await createCaller(sql)
  const both = { requests_per_minute: 60, concurrent_calls: 3 }
  await openSessions(sql, 4)
  const changing = await sql.begin(async (transaction) => {
    await transaction`select from account where id = ${account.id} for update`
    const { requests_per_minute, concurrent_calls } = both
    const changes = [{ requests_per_minute }, { concurrent_calls }].map((change) =>
      setAccountLimits(sql, account.id, change),
    )
    await untilWaiting(sql, 2)
    return { changes }
  })
  await Promise.all(changing.changes)
  assert.deepEqual((await showAccount(sql, account.id)).limits, both)
})

test('a key is shown once and only its hash is stored', async (t) => {
  const sql = await openDatabase(t)
  const { account, key } = await createCaller(sql, { name: 'web' })
  const stored = JSON.stringify(
    await sql`select *, encode(hash, 'hex') as hex from api_key`,
    (_, v) => (typeof v === 'bigint' ? `${v}` : v),
  )
  assert.equal(stored.includes(key.key), false)
  const [listed] = await listKeys(sql, account.id)
  assert.equal(listed?.display, `${key.key.slice(0, 7)}…${key.key.slice(-4)}`)
  assert.equal('key' in (listed ?? {}), false)
  await assert.rejects(createKey(sql, { accountId: 'acct_no' }), refusal(/no account acct_no/))
  await assert.rejects(listKeys(sql, 'acct_no'), refusal(/no account acct_no/))
  const past = new Date(Date.now() - 1)
  await assert.rejects(
    createKey(sql, { accountId: account.id, expiresAt: past }),
    refusal(/future/),
  )
})

test('disabling and enabling are repeatable; unknown keys are refused', async (t) => {
  const sql = await openDatabase(t)
  const { key } = await createCaller(sql)
  const first = await setKeyDisabled(sql, key.id, true)
  const again = await setKeyDisabled(sql, key.id, true)
  assert.equal(first.state, 'disabled')
  assert.deepEqual(again.disabled_at, first.disabled_at)
  assert.equal((await setKeyDisabled(sql, key.id, false)).state, 'active')
  await assert.rejects(setKeyDisabled(sql, 'key_no', true), refusal(/no key key_no/))
  await assert.rejects(changeKey(sql, 'key_no', {}), refusal(/no key key_no/))
  await assert.rejects(rotateKey(sql, 'key_no', 0), refusal(/no key key_no/))
})

test('a first spend limit counts what the key has spent and holds', async (t) => {
  const sql = await openDatabase(t)
  const { account, key } = await createCaller(sql)
  const call = { accountId: account.id, keyId: key.id, held: 10n }
  await spend(sql, { ...call, charged: 4n })
  await spend(sql, { ...call, charged: 13n })
  await spend(sql, { ...call, charged: null })
  await spend(sql, { ...call, charged: null, open: true })
  const limited = await changeKey(sql, key.id, { spendLimitNanos: 100n })
  assert.deepEqual([limited.spent, limited.held], [17n, 10n])
  assert.ok((await audit(sql)).ok)
  // The open hold now moves the key's figures when it is settled.
  const [hold] = await sql<HoldRow[]>`select * from hold where state = 'open'`
  assert.ok(hold)
  await closeHolds(sql, [settleRow(hold, 6n)])
  const settled = await showKey(sql, key.id)
  assert.deepEqual([settled.spent, settled.held], [23n, 0n])
  await changeKey(sql, key.id, { spendLimitNanos: null })
  await spend(sql, { ...call, charged: 1n })
  const again = await changeKey(sql, key.id, { spendLimitNanos: 50n })
  assert.deepEqual([again.spent, again.held], [24n, 0n])
  assert.ok((await audit(sql)).ok)
})

test('a first spend limit beside a busy ledger loses nothing', async (t) => {
  const sql = await openDatabase(t)
  const { account, key } = await createCaller(sql)
  const call = { accountId: account.id, keyId: key.id, held: 10n, charged: 7n }
  const calls = Array.from({ length: 40 }, () => spend(sql, call))
  await Promise.all([...calls, changeKey(sql, key.id, { spendLimitNanos: 1_000n })])
  assert.ok((await audit(sql)).ok)
  await changeKey(sql, key.id, { spendLimitNanos: null })
  assert.equal((await changeKey(sql, key.id, { spendLimitNanos: 1_000n })).spent, 280n)
})

test('a rotation overlaps, inherits and happens once', async (t) => {
  const sql = await openDatabase(t)
  const { account, key } = await createCaller(sql, {
    name: 'web',
    models: ['a'],
    limits: { requests_per_minute: 9 },
    spendLimitNanos: 100n,
  })
  await changeKey(sql, key.id, { spendLimitNanos: null })
  await spend(sql, { accountId: account.id, keyId: key.id, held: 9n, charged: 9n })
  await changeKey(sql, key.id, { spendLimitNanos: 100n })
  const { created, old } = await rotateKey(sql, key.id, 3600)
  assert.notEqual(created.key, key.key)
  const { name, models, limits, spend_limit, spent, state } = created
  assert.deepEqual(
    { name, models, limits, spend_limit, spent, state },
    {
      name: 'web',
      models: ['a'],
      limits: { requests_per_minute: 9 },
      spend_limit: 100n,
      spent: 9n,
      state: 'active',
    },
  )
  assert.equal(old.replaced_by, created.id)
  const hours = ((old.expires_at?.getTime() ?? 0) - Date.now()) / 3_600_000
  assert.ok(hours > 0.9 && hours < 1.1)
  await assert.rejects(rotateKey(sql, key.id, 0), refusal(new RegExp(`use ${created.id}`)))
  const now = await rotateKey(sql, created.id, 0)
  assert.equal(now.old.state, 'expired')
  await setKeyDisabled(sql, now.created.id, true)
  await assert.rejects(rotateKey(sql, now.created.id, 0), refusal(/is disabled/))
  assert.ok((await audit(sql)).ok)
})

test('two rotations of one key at once: one wins', async (t) => {
  const sql = await openDatabase(t)
  const { account, key } = await createCaller(sql)
  const both = await Promise.allSettled([rotateKey(sql, key.id, 60), rotateKey(sql, key.id, 60)])
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.equal((await listKeys(sql, account.id)).length, 2)
})
