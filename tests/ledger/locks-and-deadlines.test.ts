/**
 * A locked account delays no other; a hold that reaches the ledger after its deadline is refused;
 * and a database that lacks acknowledged writes is detected.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { isUnavailable } from '../../server/base/database/unavailable.ts'
import { GatewayError } from '../../server/base/lib/errors.ts'
import { newId, newRequestId } from '../../server/base/lib/ids.ts'
import type { Hold } from '../../server/money/ledger/holds/hold.ts'
import { type Continuity, createContinuity } from '../../server/money/ledger/leases/continuity.ts'
import { createDatabaseClock } from '../../server/money/ledger/leases/lease-clock.ts'
import { findOwnHolds, renewLease } from '../../server/money/ledger/leases/owner-store.ts'
import { startSweeper } from '../../server/money/ledger/leases/sweeper.ts'
import { createLedger, type Ledger } from '../../server/money/ledger/ledger.ts'
import { closeHolds, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import { createSettlements } from '../../server/money/ledger/posting/settlements.ts'
import type { HoldRequest } from '../../server/money/ledger/requests.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import {
  brokenInvariants,
  createCaller,
  holdRow,
  quiet,
  settleRow,
  type TestCaller,
} from './support.ts'

describe('locks and deadlines', () => {
  let database: TestDatabase
  let ledger: Ledger
  let continuity: Continuity
  let caller: TestCaller
  let other: TestCaller
  let surprises: string[]
  let said: { fields: Record<string, unknown>; text: string }[]
  const clock = createDatabaseClock(() => performance.now())
  before(async () => {
    database = await createTestDatabase()
    caller = await createCaller(database.sql, 100_000n)
    other = await createCaller(database.sql, 100_000n)
  })
  after(() => database.drop())
  beforeEach(() => {
    const { sql } = database
    surprises = []
    said = []
    const say = (fields: object, text: string) => said.push({ fields: { ...fields }, text })
    const log = { warn: say, error: say }
    continuity = createContinuity({ log })
    const onSurprise = (operation: string, verdict: string) =>
      surprises.push(`${operation} ${verdict}`)
    const known = { sql, ownerId: newId('own'), isUnavailable, log, clock, continuity, onSurprise }
    ledger = createLedger(known)
  })
  afterEach(() => ledger.stop())

  const request = ({ accountId, keyId }: TestCaller): HoldRequest => ({
    requestId: newRequestId(),
    accountId,
    keyId,
    endpoint: 'test',
    model: 'm',
    priceVersion: null,
    amountNanos: 100n,
    estimate: {},
    spendLimitNanos: null,
    idempotency: null,
  })
  const take = async (of: TestCaller): Promise<Hold> => {
    const result = await ledger.hold(request(of))
    assert.ok('hold' in result)
    return result.hold
  }
  const settle = (hold: Hold) =>
    ledger.settle(hold, {
      chargeNanos: 60n,
      status: 'succeeded',
      basis: 'usage',
      attempts: [],
      lines: [],
    })
  const stateOf = async (id: string) => {
    const [row] = await database.sql<{ state: string }[]>`select state from hold where id = ${id}`
    return row?.state
  }
  const whileLocked = (of: TestCaller, work: () => Promise<void>) =>
    database.sql.begin(async (transaction) => {
      await transaction`select 1 from balance where account_id = ${of.accountId} for update`
      await work()
    })

  test('requests that cost nothing are refused for the locked account alone', async () => {
    const rate = ({ accountId, keyId }: TestCaller) => {
      const limits = { tokens: 0, subjects: [{ name: `key:${keyId}`, requests: 9 }] }
      return ledger.rates.take({ accountId, holdId: null, limits })
    }
    await whileLocked(caller, async () => {
      const [locked, free] = await Promise.allSettled([rate(caller), rate(other)])
      assert.equal(locked.status === 'rejected' && locked.reason.row, 'unavailable')
      assert.deepEqual(free, { status: 'fulfilled', value: 0 })
    })
    assert.equal(await rate(caller), 0)
  })

  test('a locked account gets 503, and calls of other accounts succeed', async () => {
    const mine = await take(caller)
    const ending: Promise<string>[] = []
    await whileLocked(caller, async () => {
      ending.push(settle(mine))
      for (let round = 0; round < 3; round += 1) {
        const refused = assert.rejects(ledger.hold(request(caller)), { row: 'unavailable' })
        const holds = await Promise.all([other, other, other].map(take))
        assert.deepEqual(await Promise.all(holds.map(settle)), ['closed', 'closed', 'closed'])
        const seen: string[] = []
        for (const { accountId } of [caller, other]) {
          void ledger.flushed(accountId).then(() => seen.push(accountId))
        }
        // For as long as a hold waits for a lock.
        await refused
        assert.deepEqual(seen, [other.accountId], 'who reads the other account waits for nothing')
      }
      assert.equal(await stateOf(mine.id), 'open', 'the settlement of the locked account waits')
    })
    assert.deepEqual(await Promise.all(ending), ['closed'])
    assert.equal(await settle(await take(caller)), 'closed', 'afterwards all is as before')
  })

  test('settlements that are retried wait for their own account only', async () => {
    const settlements = createSettlements({
      sql: database.sql,
      isUnavailable,
      log: quiet,
      settleQueueMax: 100,
    })
    const [stuck, free] = [holdRow(caller), holdRow(other)]
    await takeHolds(database.sql, [stuck, free])
    let waiting: Promise<string> | undefined
    await whileLocked(caller, async () => {
      waiting = settlements.add(settleRow(stuck, 5n))
      assert.equal(await settlements.add(settleRow(free, 5n)), 'closed')
    })
    assert.equal(await waiting, 'closed')
    await settlements.flushed()
    assert.equal(settlements.size(), 0)
  })

  test('beside a settlement that is refused a locked account still delays no other', async () => {
    const { sql } = database
    const settlements = createSettlements({ sql, isUnavailable, log: quiet, settleQueueMax: 100 })
    const [stuck, odd, free] = [holdRow(caller), holdRow(other), holdRow(other)]
    await takeHolds(sql, [stuck, odd, free])
    let waiting: Promise<string> | undefined
    await whileLocked(caller, async () => {
      // They share a batch, which the cost fails before any lock is waited for.
      waiting = settlements.add(settleRow(stuck, 5n))
      const refused = settlements.add(settleRow(odd, 5n, { upstream_cost: '9'.repeat(20) }))
      assert.equal(await settlements.add(settleRow(free, 5n)), 'closed')
      assert.equal(await refused, 'closed', 'without its details')
    })
    assert.equal(await waiting, 'closed')
    await settlements.flushed()
  })

  test('a settlement that the books cannot hold delays its own account only', async () => {
    const { sql } = database
    const settlements = createSettlements({ sql, isUnavailable, log: quiet, settleQueueMax: 100 })
    const [refused, free, later] = [holdRow(caller), holdRow(other), holdRow(other)]
    await takeHolds(sql, [refused, free, later])
    const { accountId } = caller
    const setDebt = (debt: bigint) =>
      sql`update balance set debt = ${debt.toString()} where account_id = ${accountId}`
    await setDebt(2n ** 63n - 1n)
    const waiting = settlements.add(settleRow(refused, 1_000_000n))
    assert.equal(await settlements.add(settleRow(free, 5n)), 'closed')
    assert.equal(await settlements.add(settleRow(later, 5n)), 'closed')
    await setDebt(0n)
    assert.equal(await waiting, 'closed')
    await settlements.flushed()
    await sql`select ledger_credit('cred_back', ${accountId}, 'top_up', 2000000, 'x', 'x', null)`
  })

  test('holds that the database reaches after their deadline are refused', async () => {
    const rows = [holdRow(caller), holdRow(other)]
    const late = await takeHolds(database.sql, rows, new Date(Date.now() - 60_000))
    assert.deepEqual(
      rows.map(({ id }) => late.get(id)),
      ['late', 'late'],
    )
    assert.equal(await stateOf(rows[0]?.id ?? ''), undefined)
    const inTime = await takeHolds(database.sql, rows, new Date(Date.now() + 60_000))
    assert.equal(inTime.get(rows[0]?.id ?? ''), 'held')
    await closeHolds(
      database.sql,
      rows.map((row) => settleRow(row, null)),
    )
  })

  test('the deadline is checked once the balance is locked, so a release comes last', async () => {
    const { sql } = database
    const row = holdRow(caller)
    const { at } = await renewLease(
      sql,
      { id: newId('own'), address: '' },
      { leaseSeconds: 20, patienceSeconds: 10 },
    )
    const deadline = new Date(at.getTime() + 150)
    // The server gives the lock back by itself: to whoever waits for it, patience is short.
    const locked = sql`
      with mine as materialized (
        select 1 from balance where account_id = ${caller.accountId} for update)
      select pg_sleep(extract(epoch from ${deadline}::timestamptz - clock_timestamp())) from mine`
    const released = locked.execute()
    await until('the lock', async () => {
      const [now] = await sql<{ isReady: boolean }[]>`
        select clock_timestamp() > ${deadline} or exists (
          select from pg_stat_activity
          where datname = current_database() and wait_event = 'PgSleep') as "isReady"`
      return now?.isReady
    })
    assert.equal((await takeHolds(sql, [row], deadline)).get(row.id), 'late')
    await released
  })

  test('a call whose hold came late gets 503, and it is logged and counted', async () => {
    const sentMs = performance.now()
    clock.sample(new Date(Date.now() - 3_600_000), sentMs, sentMs)
    const refused = request(caller)
    await assert.rejects(ledger.hold(refused), { row: 'unavailable' })
    assert.deepEqual(surprises, ['hold late'])
    assert.equal(said[0]?.fields.request_id, refused.requestId)
    assert.equal(said[0]?.fields.amount, '0.0000001')
    clock.sample(new Date(), performance.now(), performance.now())
    await settle(await take(caller))
  })

  test('a call that can wait tries a hold that came late again, since none was taken', async () => {
    const sentMs = performance.now()
    clock.sample(new Date(Date.now() - 3_600_000), sentMs, sentMs)
    const taken = await ledger.hold(request(caller), (attempt) =>
      attempt().catch((error: unknown) => {
        assert.ok(error instanceof GatewayError && error.details.cause === undefined)
        clock.sample(new Date(), performance.now(), performance.now())
        return attempt()
      }),
    )
    assert.ok('hold' in taken)
    assert.deepEqual(surprises, ['hold late'])
    await settle(taken.hold)
  })

  describe('the clock of the database set forward', () => {
    const behind = () =>
      clock.sample(new Date(Date.now() - 3_600_000), performance.now(), performance.now())
    const openWith = (renewLease: () => Promise<void>) => {
      const { sql } = database
      const log = { warn: () => undefined, error: () => undefined }
      const onSurprise = (operation: string, verdict: string) =>
        surprises.push(`${operation} ${verdict}`)
      return createLedger({
        sql,
        ownerId: newId('own'),
        isUnavailable,
        log,
        clock,
        onSurprise,
        renewLease,
      })
    }

    test('calls are held by a new sample, one for all', async () => {
      const { sql } = database
      const log = { info: () => undefined, warn: () => undefined }
      const lease = { sql, ownerId: newId('own'), address: '', exclusive: false, log, clock }
      const times = { renewMs: 600_000, leaseSeconds: 20, isolatedMs: 600_000 }
      const sweeper = await startSweeper({ ...lease, ...times })
      const calls = openWith(sweeper.renew)
      behind()
      const taken = await Promise.all(
        [caller, other, caller].map((one) => calls.hold(request(one))),
      )
      for (const one of taken) {
        assert.ok('hold' in one)
        await settle(one.hold)
      }
      assert.deepEqual(surprises, [])
      const [owner] = await sql<{ renewals: bigint }[]>`
        select renewals from owner where id = ${lease.ownerId}`
      assert.equal(owner?.renewals, 2n)
      await sweeper.stop()
      await calls.stop()
    })

    for (const [name, sample] of [
      ['is as it was', async () => undefined],
      ['cannot be read', () => Promise.reject(new Error('away'))],
    ] as const) {
      test(`a late hold is not sent again if the clock ${name}`, async () => {
        const calls = openWith(sample)
        behind()
        await assert.rejects(calls.hold(request(caller)), { row: 'unavailable' })
        assert.deepEqual(surprises, ['hold late'])
        clock.sample(new Date(), performance.now(), performance.now())
        await calls.stop()
      })
    }
  })

  test('a second settlement is logged with its amount', async () => {
    const hold = await take(caller)
    await settle(hold)
    assert.equal(await settle(hold), 'already')
    assert.deepEqual(surprises, ['settlement already'])
    assert.equal(said[0]?.fields.amount, '0.00000006')
    assert.equal(continuity.broken(), undefined)
  })

  test('a missing acknowledged hold proves an earlier state of the database', async () => {
    const hold = await take(caller)
    await database.sql.begin(async (transaction) => {
      await transaction`alter table entry disable trigger entry_append_only`
      await transaction`delete from entry where posting = ${hold.id}`
      await transaction`delete from hold where id = ${hold.id}`
      await transaction`
        update balance set available = available + 100, held = held - 100
        where account_id = ${caller.accountId}`
      await transaction`alter table entry enable trigger entry_append_only`
    })
    assert.equal(await settle(hold), 'unknown')
    assert.deepEqual(surprises, ['settlement unknown'])
    assert.match(continuity.broken() ?? '', /returned to an earlier state/)
    assert.ok(said.some(({ fields }) => fields.amount === '0.00000006'))
  })

  test('fewer renewals or entries than before prove an earlier state of the database', () => {
    const at = new Date()
    const watch = (...seen: readonly (readonly [bigint, bigint])[]) => {
      let calls = 0
      const watched = createContinuity({
        log: quiet,
        onBroken: () => {
          calls += 1
        },
      })
      for (const [renewed, newest_entry] of seen) watched.compare({ at, renewed, newest_entry })
      assert.equal(calls, watched.broken() === undefined ? 0 : 1)
      return watched.broken() !== undefined
    }
    assert.equal(watch([1n, 0n], [2n, 0n], [5n, 9n], [6n, 9n]), false)
    assert.equal(watch([1n, 5n], [2n, 9n], [1n, 9n]), true)
    assert.equal(watch([7n, 5n], [7n, 5n]), true)
    assert.equal(watch([1n, 5n], [2n, 4n], [3n, 40n]), true)
  })

  test('open holds of this process are found by their age', async () => {
    const owner = newId('own')
    const [old, young] = [
      holdRow(caller, { owner_id: owner }),
      holdRow(caller, { owner_id: owner }),
    ]
    await takeHolds(database.sql, [old, young])
    await database.sql`
      update hold set created_at = created_at - interval '2 minutes' where id = ${old.id}`
    const found = await findOwnHolds(database.sql, owner, 60)
    assert.deepEqual(
      found.map(({ id }) => id),
      [old.id],
    )
    await closeHolds(
      database.sql,
      [old, young].map((row) => settleRow(row, null)),
    )
  })

  test('the audit is clean', async () => {
    await ledger.flushed()
    assert.deepEqual(await brokenInvariants(database.sql), [])
  })
})
