/** Who calls: the cache in front of the keys, on real PostgreSQL. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewayError } from '../../server/base/lib/errors.ts'
import { createApiKey, presentKey } from '../../server/base/lib/secrets/api-key.ts'
import { setAccountLimits, setAccountStatus } from '../../server/money/accounts/manage-accounts.ts'
import { changeKey, createKey, setKeyDisabled } from '../../server/money/accounts/manage-keys.ts'
import { until } from '../support/until.ts'
import { counted, createCaller, deaf, openDatabase, startInstance } from './support.ts'

test('a key identifies its caller, with everything that the pipeline needs', async (t) => {
  const sql = await openDatabase(t)
  const { account, key } = await createCaller(sql, {
    models: ['a', 'b/c'],
    limits: { concurrent_calls: 2 },
    spendLimitNanos: 5n,
  })
  await setAccountLimits(sql, account.id, { requests_per_minute: 60 })
  const accounts = startInstance(t, sql)
  assert.deepEqual(await accounts.identify(presentKey(key.key)), {
    caller: {
      accountId: account.id,
      accountLimits: { requests_per_minute: 60 },
      currency: 'CNY',
      priceList: null,
      keyId: key.id,
      keyLimits: { concurrent_calls: 2 },
      models: ['a', 'b/c'],
      spendLimitNanos: 5n,
    },
  })
})

test('unknown, disabled, expired and suspended keys are distinguished', async (t) => {
  const sql = await openDatabase(t)
  const { account, key } = await createCaller(sql)
  const soon = await createKey(sql, {
    accountId: account.id,
    expiresAt: new Date(Date.now() + 60_000),
  })
  let now = 0
  const accounts = startInstance(t, sql, () => now)
  assert.deepEqual(await accounts.identify(presentKey(createApiKey())), { refused: 'unknown' })
  assert.ok('caller' in (await accounts.identify(presentKey(soon.key))))
  now = 3_000
  await sql`update api_key set expires_at = now() where id = ${soon.id}`
  now = 10_000
  assert.deepEqual(await accounts.identify(presentKey(soon.key)), { refused: 'expired' })
  await setKeyDisabled(sql, key.id, true)
  now = 20_000
  assert.deepEqual(await accounts.identify(presentKey(key.key)), { refused: 'disabled' })
  await setKeyDisabled(sql, key.id, false)
  await setAccountStatus(sql, account.id, 'suspended')
  now = 30_000
  assert.deepEqual(await accounts.identify(presentKey(key.key)), { refused: 'suspended' })
})

test('a key expires on time even while it is served from the cache', async (t) => {
  const sql = await openDatabase(t)
  let now = 0
  // The notification of its creation may come late, and empties the cache.
  const accounts = startInstance(t, deaf(sql), () => now)
  const { key } = await createCaller(sql)
  await sql`update api_key set expires_at = now() + interval '3.9 seconds' where id = ${key.id}`
  assert.ok('caller' in (await accounts.identify(presentKey(key.key))))
  now = 3_901
  assert.deepEqual(await accounts.identify(presentKey(key.key)), { refused: 'expired' })
})

test('callers of one key share one look-up, and later ones need none', async (t) => {
  const sql = await openDatabase(t)
  const { key } = await createCaller(sql)
  // Beginning to listen empties the cache, at any moment, and so does an age of four seconds.
  const { sql: watched, state } = counted(deaf(sql))
  const accounts = startInstance(t, watched, () => 0)
  const all = await Promise.all(
    Array.from({ length: 500 }, () => accounts.identify(presentKey(key.key))),
  )
  assert.ok(all.every((found) => 'caller' in found))
  await accounts.identify(presentKey(key.key))
  assert.equal(state.queries, 1)
})

test('many keys at once are read in a few queries, and guesses are not read again', async (t) => {
  const sql = await openDatabase(t)
  const { sql: watched, state } = counted(deaf(sql))
  const accounts = startInstance(t, watched, () => 0)
  const guesses = Array.from({ length: 300 }, createApiKey)
  for (let round = 0; round < 2; round += 1) {
    const all = await Promise.all(guesses.map((guess) => accounts.identify(presentKey(guess))))
    assert.ok(all.every((found) => 'refused' in found && found.refused === 'unknown'))
  }
  assert.ok(state.queries <= 2, `${state.queries} queries`)
})

for (const hearing of ['hearing', 'deaf'] as const) {
  test(`revoked, suspended and changed keys: two ${hearing} instances notice`, async (t) => {
    const sql = await openDatabase(t)
    const { account, key } = await createCaller(sql)
    const other = await createKey(sql, { accountId: account.id })
    const view = hearing === 'deaf' ? deaf(sql) : sql
    const instances = [startInstance(t, view), startInstance(t, view)]
    const seen = async (text: string) =>
      (await Promise.all(instances.map((one) => one.identify(presentKey(text))))).map((found) =>
        'refused' in found ? found.refused : String(found.caller.spendLimitNanos),
      )
    const becomes = (text: string, expected: string) =>
      until(expected, async () => (await seen(text)).every((one) => one === expected))
    await becomes(key.key, 'null')
    await becomes(other.key, 'null')
    await changeKey(sql, key.id, { spendLimitNanos: 7n })
    await becomes(key.key, '7')
    await setKeyDisabled(sql, key.id, true)
    await becomes(key.key, 'disabled')
    await setAccountStatus(sql, account.id, 'suspended')
    await becomes(other.key, 'suspended')
    await setAccountStatus(sql, account.id, 'active')
    await becomes(other.key, 'null')
  })
}

test('a look-up that a change overtook is neither cached nor shared', async (t) => {
  const sql = await openDatabase(t)
  const { key } = await createCaller(sql)
  const { sql: watched, state } = counted(sql)
  const accounts = startInstance(t, watched, () => 0)
  await until('listening', () => state.isListening)
  // Connections are opened before the look-up, whose time is limited.
  await Promise.all(Array.from({ length: 4 }, () => sql`select 1`))
  const { promise, resolve: open } = Promise.withResolvers<void>()
  state.gate = promise
  const early = accounts.identify(presentKey(key.key))
  await until('the answer of PostgreSQL', () => state.answers === 1)
  state.gate = undefined
  const { notifications } = state
  await setKeyDisabled(sql, key.id, true)
  await until('the notification', () => state.notifications > notifications)
  const refused = { refused: 'disabled' }
  const late = accounts.identify(presentKey(key.key))
  open()
  assert.ok('caller' in (await early))
  assert.deepEqual(await late, refused)
  assert.deepEqual(await accounts.identify(presentKey(key.key)), refused)
})

test('an instance whose listening connection was cut listens again', async (t) => {
  const sql = await openDatabase(t)
  const { key } = await createCaller(sql)
  const accounts = startInstance(t, sql, () => 0)
  assert.ok('caller' in (await accounts.identify(presentKey(key.key))))
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query ilike 'listen%'`
  await setKeyDisabled(sql, key.id, true)
  // The clock stands still: only the renewed subscription can forget the key.
  await until('the refusal', async () => {
    return 'refused' in (await accounts.identify(presentKey(key.key)))
  })
})

test('without a database a known caller is served for five seconds, then 503', async (t) => {
  const sql = await openDatabase(t)
  const { key } = await createCaller(sql)
  const { sql: watched, state } = counted(deaf(sql))
  let now = 0
  const accounts = startInstance(t, watched, () => now)
  await accounts.identify(presentKey(key.key))
  state.failing = true
  now = 5_000
  assert.ok('caller' in (await accounts.identify(presentKey(key.key))))
  now = 5_001
  const unavailable = (error: unknown) =>
    error instanceof GatewayError &&
    error.row === 'unavailable' &&
    error.details.retryAfterSeconds === 2
  await assert.rejects(async () => accounts.identify(presentKey(key.key)), unavailable)
  await assert.rejects(async () => accounts.identify(presentKey(createApiKey())), unavailable)
  state.failing = false
  assert.ok('caller' in (await accounts.identify(presentKey(key.key))))
  state.hanging = true
  await assert.rejects(async () => accounts.identify(presentKey(createApiKey())), unavailable)
})
