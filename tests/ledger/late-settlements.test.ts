/** Settlements of calls that were closed as lost: the difference is posted once. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { isUnavailable } from '../../server/base/database/unavailable.ts'
import { newId } from '../../server/base/lib/ids.ts'
import { changeKey, rotateKey, showKey } from '../../server/money/accounts/manage-keys.ts'
import { createCorrections } from '../../server/money/ledger/holds/corrections.ts'
import { endLease, renewLease, sweepHolds } from '../../server/money/ledger/leases/owner-store.ts'
import { closeHolds, correctLost, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import {
  findAnswer,
  type HoldRow,
  postCredit,
  readBalance,
  writeCheckpoints,
} from '../../server/money/ledger/store.ts'
import { countEndedCalls } from '../../server/money/usage/rollup-store.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import {
  brokenInvariants,
  createCaller,
  holdRow,
  quiet,
  settleRow,
  storedCheckpoint,
  type TestCaller,
} from './support.ts'

const TIMES = { leaseSeconds: 20, patienceSeconds: 10, quietSeconds: 600 }
const LINES = [{ unit: 'call', quantity: 1 }]

describe('a settlement of a call that was closed as lost', () => {
  let database: TestDatabase
  before(async () => {
    database = await createTestDatabase()
  })
  after(() => database.drop())

  /** Returns a hold whose process died, closed at its checkpoint once `meanwhile` has happened. */
  async function lose(
    caller: TestCaller,
    checkpoint: bigint | null,
    more: Partial<HoldRow> = {},
    meanwhile?: () => Promise<void>,
  ) {
    const { sql } = database
    const owner = newId('own')
    await renewLease(sql, { id: owner, address: '' }, TIMES)
    const hold = holdRow(caller, { owner_id: owner, ...more })
    await takeHolds(sql, [hold])
    if (checkpoint !== null) {
      await writeCheckpoints(sql, [
        { hold_id: hold.id, account_id: hold.account_id, checkpoint: storedCheckpoint(checkpoint) },
      ])
    }
    await meanwhile?.()
    await sql`update hold set created_at = created_at - interval '5 s' where id = ${hold.id}`
    await endLease(sql, owner)
    assert.equal((await sweepHolds(sql, newId('own'), TIMES, 500)).closed, 1)
    return hold
  }

  async function readCall({ id }: HoldRow) {
    const [row] = await database.sql<
      { status: string; charged: bigint; debt: bigint; lost_charge: bigint | null }[]
    >`select status, charged, debt, lost_charge from call where hold_id = ${id}`
    return { ...row }
  }

  async function moneyOf({ accountId }: TestCaller) {
    const { available, debt } = (await readBalance(database.sql, accountId)) ?? {}
    return { available, debt }
  }

  /** Charges a hold of 100 that much. */
  async function overrun(caller: TestCaller, charge: bigint) {
    const hold = holdRow(caller)
    await takeHolds(database.sql, [hold])
    await closeHolds(database.sql, [settleRow(hold, charge)])
  }

  const correct = (hold: HoldRow, owed: bigint | null) =>
    correctLost(database.sql, settleRow(hold, owed, { lines: LINES }))

  test('the difference is charged, once', async () => {
    const caller = await createCaller(database.sql)
    const hold = await lose(caller, 40n)
    const row = settleRow(hold, 90n)
    assert.equal((await closeHolds(database.sql, [row])).get(hold.id), 'already')
    const verdicts = await Promise.all([1, 2, 3].map(() => correct(hold, 90n)))
    assert.deepEqual(verdicts.toSorted(), ['already', 'already', 'corrected'])
    const recorded = { status: 'succeeded', charged: 90n, debt: 0n, lost_charge: 40n }
    assert.deepEqual(await readCall(hold), recorded)
    assert.equal((await readBalance(database.sql, caller.accountId))?.available, 910n)
  })

  test('a correction that the database refuses delays no other of its account', async () => {
    const { sql } = database
    const caller = await createCaller(sql)
    const [refused, other] = [await lose(caller, 40n), await lose(caller, 40n)]
    const corrections = createCorrections({ sql, isUnavailable, log: quiet })
    // What the first would charge does not fit into the debt.
    const setDebt = (debt: bigint) =>
      sql`update balance set debt = ${debt.toString()} where account_id = ${caller.accountId}`
    await setDebt(2n ** 63n - 1_000n)
    const waiting = corrections.add(settleRow(refused, 5_000n))
    assert.equal(await corrections.add(settleRow(other, 90n)), 'corrected')
    await setDebt(0n)
    assert.equal(await waiting, 'corrected')
    await corrections.flushed()
  })

  test('an excess is returned, down to a charge of zero', async () => {
    const caller = await createCaller(database.sql)
    assert.equal(await correct(await lose(caller, 70n), 20n), 'corrected')
    const released = await lose(caller, 30n)
    assert.equal(await correct(released, null), 'corrected')
    assert.equal((await readCall(released)).status, 'failed')
    assert.equal((await readBalance(database.sql, caller.accountId))?.available, 980n)
  })

  test('a difference beyond the balance becomes debt, as in any settlement', async () => {
    const caller = await createCaller(database.sql, 100n)
    const hold = await lose(caller, 60n)
    assert.equal(await correct(hold, 250n), 'corrected')
    const recorded = { status: 'succeeded', charged: 250n, debt: 150n, lost_charge: 60n }
    assert.deepEqual(await readCall(hold), recorded)
    assert.deepEqual(await moneyOf(caller), { available: 0n, debt: 150n })
  })

  test('an excess pays a debt first, also where the end of its hold has paid some', async () => {
    const caller = await createCaller(database.sql, 400n)
    const hold = await lose(caller, 150n, { amount: '200' }, () => overrun(caller, 300n))
    assert.deepEqual(await moneyOf(caller), { available: 0n, debt: 50n })
    assert.equal(await correct(hold, 20n), 'corrected')
    assert.deepEqual(await moneyOf(caller), { available: 80n, debt: 0n })
    const steps = await database.sql`select step, source, destination, amount from entry
      where posting = ${hold.id} and amount <> 200 order by id`
    assert.deepEqual(
      steps.map((row) => Object.values(row).join(' ')),
      [
        'charge held revenue 150',
        'return held available 50',
        'repay available debt 50',
        'correction_debt revenue debt 50',
        'correction_return revenue available 80',
      ],
    )
  })

  test('only a lost call is corrected', async () => {
    const caller = await createCaller(database.sql)
    const hold = holdRow(caller)
    assert.equal(await correct(hold, 5n), 'unknown')
    await takeHolds(database.sql, [hold])
    assert.equal(await correct(hold, 5n), 'already', 'it is open')
    await closeHolds(database.sql, [settleRow(hold, 5n)])
    assert.equal(await correct(hold, 50n), 'already')
    assert.equal((await readCall(hold)).charged, 5n)
  })

  test('the spend of a limited key is corrected too', async () => {
    const caller = await createCaller(database.sql)
    const hold = await lose(caller, 40n, { spend_limit: '500' })
    await correct(hold, 90n)
    const [row] = await database.sql`
      select held, spent from key_spend where key_id = ${caller.keyId}`
    assert.deepEqual({ ...row }, { held: 0n, spent: 90n })
  })

  async function readSpend(keyId: string) {
    const { spent, held } = await showKey(database.sql, keyId)
    return { spent, held }
  }

  test('the counter shared by rotated keys is corrected, whichever sent the call', async () => {
    const { sql } = database
    const caller = await createCaller(sql)
    await changeKey(sql, caller.keyId, { spendLimitNanos: 500n })
    const byFirst = await lose(caller, 40n, { spend_limit: '500' })
    const { created } = await rotateKey(sql, caller.keyId, 3600)
    const rotated = { ...caller, keyId: created.id }
    const bySecond = await lose(rotated, 30n, { spend_limit: '500' })
    assert.deepEqual(await readSpend(created.id), { spent: 70n, held: 0n })
    assert.equal(await correct(byFirst, 90n), 'corrected')
    assert.equal(await correct(bySecond, 10n), 'corrected')
    for (const id of [caller.keyId, created.id]) {
      assert.deepEqual(await readSpend(id), { spent: 100n, held: 0n })
    }
    const counters = await sql`
      select key_id from key_spend where key_id in (${caller.keyId}, ${created.id})`
    assert.deepEqual(
      counters.map(({ key_id }) => key_id),
      [caller.keyId],
    )
    const tooMuch = holdRow(rotated, { amount: '401', spend_limit: '500' })
    const rest = holdRow(caller, { amount: '400', spend_limit: '500' })
    const verdicts = [await takeHolds(sql, [tooMuch]), await takeHolds(sql, [rest])]
    assert.equal(verdicts[0]?.get(tooMuch.id), `budget:${tooMuch.key_id} `)
    assert.equal(verdicts[1]?.get(rest.id), 'held')
    await closeHolds(sql, [settleRow(rest, null)])
    assert.deepEqual(await brokenInvariants(sql), [])
  })

  test('a spend limit that was set after the call was closed counts the difference', async () => {
    const { sql } = database
    const caller = await createCaller(sql)
    const hold = await lose(caller, 40n)
    const { created } = await rotateKey(sql, caller.keyId, 3600)
    await changeKey(sql, created.id, { spendLimitNanos: 500n })
    assert.deepEqual(await readSpend(created.id), { spent: 40n, held: 0n })
    assert.equal(await correct(hold, 90n), 'corrected')
    assert.deepEqual(await readSpend(created.id), { spent: 90n, held: 0n })
    assert.deepEqual(await brokenInvariants(sql), [])
  })

  test('hourly figures count a call once, with its final charge', async () => {
    const { sql } = database
    const caller = await createCaller(sql)
    const figures = async () => {
      while (await countEndedCalls(sql, 3600));
      const [row] = await sql`
        select p.calls, p.errors, p.charged, h.charged as of_hour, k.charged as of_key,
          t.charged as of_tags
        from usage_part p join usage_hour h using (account_id) join key_use k using (account_id)
          join usage_tags t using (account_id)
        where account_id = ${caller.accountId} and part = 'all'`
      return { ...row }
    }
    const untilCounted = (calls: bigint, errors: bigint, charged: bigint) => {
      const sums = { of_hour: charged, of_key: charged, of_tags: charged }
      const expected = { calls, errors, charged, ...sums }
      return until('figures', async () => {
        return isDeepStrictEqual(await figures(), expected) || undefined
      })
    }
    const loseTagged = async (charged: bigint) => {
      const hold = await lose(caller, charged)
      await sql`update call set labels = '{"tags": ["b", "a"]}' where hold_id = ${hold.id}`
      return hold
    }
    const counted = await loseTagged(40n)
    await untilCounted(1n, 1n, 40n)
    const uncounted = await loseTagged(10n)
    assert.equal(await correct(counted, 90n), 'corrected')
    assert.equal(await correct(uncounted, 20n), 'corrected')
    await untilCounted(2n, 0n, 110n)
    const [row] = await sql`select sum(calls) as calls, sum(charged) as charged from channel_hour`
    const [all] = await sql`select count(*) as calls, sum(charged) as charged from call`
    assert.deepEqual({ ...row, calls: String(row?.calls) }, { ...all, calls: String(all?.calls) })
  })

  test('any charge, checkpoint and balance keep the books consistent', async () => {
    const amounts = fc.bigInt({ min: 0n, max: 300n })
    const property = fc.asyncProperty(
      fc.option(amounts),
      fc.option(amounts),
      amounts,
      amounts,
      fc.boolean(),
      async (checkpoint, owed, more, other, topUp) => {
        const opening = 200n + more
        const caller = await createCaller(database.sql, opening)
        const hold = await lose(caller, checkpoint, {}, () => overrun(caller, 3n * other))
        if (topUp) {
          await postCredit(database.sql, {
            id: newId('cred'),
            accountId: caller.accountId,
            kind: 'top_up',
            amountNanos: 7n,
            reason: 'test',
            actor: 'test',
            eventId: null,
          })
        }
        assert.equal(await correct(hold, owed), 'corrected')
        assert.equal(await correct(hold, owed), 'already')
        const balance = await readBalance(database.sql, caller.accountId)
        const worth = (balance?.available ?? 0n) - (balance?.debt ?? 0n)
        assert.equal(worth, opening + (topUp ? 7n : 0n) - (owed ?? 0n) - 3n * other)
        assert.ok(balance?.available === 0n || balance?.debt === 0n)
        assert.equal(balance?.held, 0n)
      },
    )
    await fc.assert(property, { numRuns: 60 })
  })

  describe('an Idempotency-Key', () => {
    const claim = { route: 'r', fingerprint: 'aa' }
    const keyed = (key: string) => ({ idempotency_key: key, ...claim })
    const state = async (caller: TestCaller, key: string) =>
      (await findAnswer(database.sql, caller.accountId, key))?.state

    test('stays in use once its request was charged', async () => {
      const caller = await createCaller(database.sql)
      await lose(caller, 40n, keyed('charged'))
      assert.equal(await state(caller, 'charged'), 'streamed')
      const again = holdRow(caller, keyed('charged'))
      assert.equal((await takeHolds(database.sql, [again])).get(again.id), 'duplicate')
    })

    test('becomes free if the process died and nothing was charged', async () => {
      const caller = await createCaller(database.sql)
      await lose(caller, null, keyed('free'))
      assert.equal(await state(caller, 'free'), undefined)
      await lose(caller, 0n, keyed('zero'))
      assert.equal(await state(caller, 'zero'), undefined)
    })

    test('that became free is taken again by a late charge', async () => {
      const caller = await createCaller(database.sql)
      const hold = await lose(caller, null, keyed('late'))
      const answer = { key: 'late', state: 'streamed', ...claim } as const
      const row = settleRow(hold, 50n, { answer })
      assert.equal(await correctLost(database.sql, row), 'corrected')
      assert.equal(await state(caller, 'late'), 'streamed')
    })

    test('is charged once: if another request took it, the late charge is not posted', async () => {
      const caller = await createCaller(database.sql)
      const hold = await lose(caller, null, keyed('twice'))
      const second = holdRow(caller, keyed('twice'))
      assert.equal((await takeHolds(database.sql, [second])).get(second.id), 'held')
      const answer = { key: 'twice', state: 'streamed', ...claim } as const
      const row = settleRow(hold, 50n, { answer })
      assert.equal(await correctLost(database.sql, row), 'superseded')
      assert.equal((await readCall(hold)).charged, 0n)
      await closeHolds(database.sql, [settleRow(second, 50n)])
    })

    test('of a process that may still run stays in use', async () => {
      const { sql } = database
      const [caller, witness, silent] = [await createCaller(sql), newId('own'), newId('own')]
      for (const id of [witness, silent]) await renewLease(sql, { id, address: '' }, TIMES)
      const hold = holdRow(caller, { owner_id: silent, ...keyed('paused') })
      await takeHolds(sql, [hold])
      await sql`update hold set created_at = created_at - interval '1 hour' where id = ${hold.id}`
      await sql`update owner set steady_since = steady_since - interval '60 s'`
      const silence = (seconds: number) => sql`
        update owner set lease_until = clock_timestamp() + interval '20 s'
          - make_interval(secs => ${seconds}) where id = ${silent}`
      await silence(30)
      assert.equal((await sweepHolds(sql, witness, TIMES, 500)).closed, 1)
      assert.equal(await state(caller, 'paused'), 'lost')
      const again = holdRow(caller, keyed('paused'))
      assert.equal((await takeHolds(sql, [again])).get(again.id), 'duplicate')
      await silence(700)
      await sweepHolds(sql, witness, TIMES, 500)
      assert.equal(await state(caller, 'paused'), undefined)
    })
  })

  test('the audit is clean', async () => {
    assert.deepEqual(await brokenInvariants(database.sql), [])
  })
})
