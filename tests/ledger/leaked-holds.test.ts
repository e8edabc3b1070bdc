/** Leaked holds are released once, and a process that was wrongly taken for dead charges once. */
import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { Sql } from 'postgres'
import { openProxy } from '../../proofs/outage/proxy.ts'
import { connect } from '../../server/base/database/connection/client.ts'
import { isUnavailable } from '../../server/base/database/unavailable.ts'
import { holdIdOf, newId, newRequestId } from '../../server/base/lib/ids.ts'
import type { Hold } from '../../server/money/ledger/holds/hold.ts'
import { createContinuity } from '../../server/money/ledger/leases/continuity.ts'
import { startSweeper } from '../../server/money/ledger/leases/sweeper.ts'
import { createLedger, type Ledger } from '../../server/money/ledger/ledger.ts'
import { closeHolds, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import type { HoldRequest } from '../../server/money/ledger/requests.ts'
import { findAnswer, readBalance } from '../../server/money/ledger/store.ts'
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

/** Leases outlast any pause of the machine; a test ends the one that it wants to end. */
const OFTEN = { renewMs: 100, leaseSeconds: 60, isolatedMs: 300_000 }

describe('leaked holds', () => {
  let database: TestDatabase
  let sql: Sql
  let caller: TestCaller
  before(async () => {
    database = await createTestDatabase()
    sql = database.sql
    caller = await createCaller(sql, 100_000n)
  })
  after(() => database.drop())

  const open = (over: Sql, ownerId: string, more: object = {}): Ledger =>
    createLedger({ sql: over, ownerId, isUnavailable, log: quiet, leakCheckMs: 50, ...more })

  const request = (more: Partial<HoldRequest> = {}): HoldRequest => ({
    requestId: newRequestId(),
    accountId: caller.accountId,
    keyId: caller.keyId,
    endpoint: 'test',
    model: 'm',
    priceVersion: null,
    amountNanos: 100n,
    estimate: {},
    spendLimitNanos: null,
    idempotency: null,
    ...more,
  })

  async function take(ledger: Ledger): Promise<Hold> {
    const taken = await ledger.hold(request())
    assert.ok('hold' in taken)
    return taken.hold
  }

  /** Opens a ledger that releases a hold of unknown outcome at once, behind a proxy. */
  async function openUnheard(t: TestContext) {
    const proxy = await openProxy(database.place)
    const proxied = connect({ url: proxy.url })
    const ledger = open(proxied, newId('own'), { releaseAfterMs: 0, leakCheckMs: 3_600_000 })
    t.after(async () => {
      await ledger.stop()
      await proxied.end({ timeout: 1 })
      await proxy.close()
    })
    return { ledger, proxy }
  }

  const settle = (ledger: Ledger, hold: Hold) =>
    ledger.settle(hold, {
      chargeNanos: 60n,
      status: 'succeeded',
      basis: 'usage',
      attempts: [],
      lines: [],
    })

  const age = (holdId: string) => sql`
    update hold set created_at = created_at - interval '2 minutes' where id = ${holdId}`

  async function steps(holdId: string): Promise<string[]> {
    const rows = await sql<{ step: string; amount: bigint }[]>`
      select step, amount from entry where posting = ${holdId} order by id`
    return rows.map(({ step, amount }) => `${step} ${amount}`)
  }

  const untilClosed = (holdId: string) =>
    until('its end', async () => {
      const [row] = await sql`select 1 from hold where id = ${holdId} and state <> 'open'`
      return row
    })

  test('a hold without a call is released once, and frees its Idempotency-Key', async () => {
    const ownerId = newId('own')
    const key = { idempotency_key: 'leaked', route: 'r', fingerprint: 'aa' }
    const leaked = holdRow(caller, { owner_id: ownerId, ...key })
    await takeHolds(sql, [leaked])
    await age(leaked.id)
    const young = holdRow(caller, { owner_id: ownerId })
    await takeHolds(sql, [young])
    const ledger = open(sql, ownerId)
    const mine = await take(ledger)
    await age(mine.id)
    await untilClosed(leaked.id)
    assert.deepEqual(await steps(leaked.id), ['hold 100', 'return 100'])
    assert.equal(await findAnswer(sql, caller.accountId, 'leaked'), undefined)
    // A late settlement is refused, and nothing is charged for the released hold.
    assert.equal((await closeHolds(sql, [settleRow(leaked, 60n)])).get(leaked.id), 'already')
    assert.deepEqual(await steps(leaked.id), ['hold 100', 'return 100'])
    assert.equal(await settle(ledger, mine), 'closed', 'a hold of a running call is not released')
    assert.deepEqual(await steps(young.id), ['hold 100'], 'its call may not know of it yet')
    await ledger.stop()
    await closeHolds(sql, [settleRow(young, null)])
  })

  for (const isNoticed of [true, false]) {
    const when = isNoticed ? '' : ' since the last renewal of the lease'
    test(`a database that returned to an earlier state${when} releases nothing`, async () => {
      const [ownerId, other] = [newId('own'), newId('own')]
      const leaked = holdRow(caller, { owner_id: ownerId })
      const others = holdRow(caller, { owner_id: other })
      await takeHolds(sql, [leaked, others])
      await age(leaked.id)
      await age(others.id)
      const continuity = createContinuity({ log: quiet })
      if (isNoticed) continuity.lost('another')
      const renewal = { at: new Date(), renewed: 9n, newest_entry: 9n }
      continuity.compare(renewal)
      const renewLease = async () => continuity.compare({ ...renewal, renewed: 3n })
      const ledger = open(sql, ownerId, { continuity, renewLease })
      // The witness checks as often and started later.
      const witness = open(sql, other)
      await untilClosed(others.id)
      await ledger.stop()
      await witness.stop()
      assert.deepEqual(await steps(leaked.id), ['hold 100'])
      await closeHolds(sql, [settleRow(leaked, null)])
    })
  }

  test('a process taken for dead before it sent: released once, then charged once', async (t) => {
    const proxy = await openProxy(database.place)
    const cutSql = connect({ url: proxy.url })
    const cutOwner = newId('own')
    const known = { address: '', exclusive: false, log: quiet, ...OFTEN }
    const cutSweeper = await startSweeper({ ...known, sql: cutSql, ownerId: cutOwner })
    const witnessId = newId('own')
    const witness = await startSweeper({ ...known, sql, ownerId: witnessId })
    const ledger = open(cutSql, cutOwner)
    t.after(async () => {
      await cutSweeper.stop()
      await witness.stop()
      await ledger.stop()
      await cutSql.end({ timeout: 1 })
      await proxy.close()
    })
    const before = await readBalance(sql, caller.accountId)
    const hold = await take(ledger)
    const mend = proxy.cut()
    // As a lease later: the process has not renewed, and the witness has throughout.
    await sql`
      update owner set lease_until = case when id = ${cutOwner} then now() else lease_until end,
        steady_since = steady_since - interval '2 minutes'
      where id in (${cutOwner}, ${witnessId})`
    await untilClosed(hold.id)
    assert.deepEqual(await steps(hold.id), ['hold 100', 'return 100'])
    const refunded = await readBalance(sql, caller.accountId)
    assert.equal(refunded?.available, before?.available)
    const settling = settle(ledger, hold)
    mend()
    assert.equal(await settling, 'corrected')
    assert.deepEqual(await steps(hold.id), ['hold 100', 'return 100', 'correction 60'])
    assert.equal(await settle(ledger, hold), 'already', 'and not again')
    assert.deepEqual(await steps(hold.id), ['hold 100', 'return 100', 'correction 60'])
    const [row] =
      await sql`select status, charged, lost_charge from call where hold_id = ${hold.id}`
    assert.deepEqual({ ...row }, { status: 'succeeded', charged: 60n, lost_charge: 0n })
  })

  test('a hold that was committed unheard is released, and frees its Idempotency-Key', async (t) => {
    const { ledger, proxy } = await openUnheard(t)
    const idempotency = { key: 'unheard', route: 'r', fingerprint: Buffer.from('aa') }
    const unheard = request({ idempotency })
    const lost = proxy.loseAnswer('SELECT')
    await assert.rejects(ledger.hold(unheard), /temporarily unavailable/)
    await lost
    const holdId = holdIdOf(unheard.requestId)
    await untilClosed(holdId)
    assert.deepEqual(await steps(holdId), ['hold 100', 'return 100'])
    assert.equal(await findAnswer(sql, caller.accountId, 'unheard'), undefined)
  })

  test('a hold that a retry finds is not released', async (t) => {
    const { ledger, proxy } = await openUnheard(t)
    const unheard = request()
    const lost = proxy.loseAnswer('SELECT')
    const attempts: unknown[] = []
    const taken = await ledger.hold(unheard, (attempt) =>
      attempt().catch(async (error) => {
        attempts.push(error)
        // A release, which is due at once, would be sent before the retry.
        await readBalance(sql, caller.accountId)
        return await attempt()
      }),
    )
    await lost
    assert.equal(attempts.length, 1)
    assert.ok('hold' in taken)
    assert.equal(await settle(ledger, taken.hold), 'closed')
    assert.deepEqual(await steps(taken.hold.id), ['hold 100', 'charge 60', 'return 40'])
  })

  test('the audit is clean', async () => {
    assert.deepEqual(await brokenInvariants(sql), [])
  })
})
