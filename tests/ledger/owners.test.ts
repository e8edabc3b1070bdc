/** Which processes count as dead: leases during outages of the database. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../server/base/lib/ids.ts'
import { measureStep } from '../../server/money/ledger/leases/lease-clock.ts'
import { endLease, renewLease, sweepHolds } from '../../server/money/ledger/leases/owner-store.ts'
import { startSweeper } from '../../server/money/ledger/leases/sweeper.ts'
import { takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import { readBalance, writeCheckpoints } from '../../server/money/ledger/store.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import {
  brokenInvariants,
  createCaller,
  holdRow,
  storedCheckpoint,
  type TestCaller,
} from './support.ts'

const TIMES = { leaseSeconds: 20, patienceSeconds: 10, quietSeconds: 600 }

describe('owners', () => {
  let database: TestDatabase
  let caller: TestCaller
  before(async () => {
    database = await createTestDatabase()
    caller = await createCaller(database.sql, 100_000n)
  })
  after(() => database.drop())

  const renew = (id: string) => renewLease(database.sql, { id, address: '' }, TIMES)
  const sweep = async (id: string) => (await sweepHolds(database.sql, id, TIMES, 500)).closed

  /** Moves all times of a process into the past. */
  const age = (id: string, seconds: number) => database.sql`
    update owner set lease_until = lease_until - make_interval(secs => ${seconds}),
      steady_since = steady_since - make_interval(secs => ${seconds}) where id = ${id}`

  async function openHold(ownerId: string, ageSeconds = 5) {
    const hold = holdRow(caller, { owner_id: ownerId })
    await takeHolds(database.sql, [hold])
    await database.sql`
      update hold set created_at = created_at - make_interval(secs => ${ageSeconds})
      where id = ${hold.id}`
    return hold
  }

  /** Ends these processes and closes their open holds. */
  async function finish(...ids: readonly string[]): Promise<void> {
    for (const id of ids) await endLease(database.sql, id)
    await sweep(newId('own'))
  }

  const stateOf = async (id: string) => {
    const [row] = await database.sql<{ state: string }[]>`select state from hold where id = ${id}`
    return row?.state
  }

  test('a process never closes its own calls, even if it renews late', async () => {
    const own = newId('own')
    await renew(own)
    const hold = await openHold(own)
    await age(own, 300)
    assert.equal(await sweep(own), 0)
    await renew(own)
    assert.equal(await sweep(own), 0)
    await endLease(database.sql, own)
    assert.equal(await sweep(own), 0, 'not even while it stops')
    assert.equal(await stateOf(hold.id), 'open')
    await finish(own)
  })

  test('after an outage for all, no process counts as dead for a whole lease', async () => {
    const [witness, other] = [newId('own'), newId('own')]
    await renew(witness)
    await renew(other)
    const hold = await openHold(other)
    for (const id of [witness, other]) await age(id, 60)
    assert.equal(await sweep(witness), 0, 'its own lease has run out as well')
    await renew(witness)
    assert.equal(await sweep(witness), 0, 'its renewals had a gap')
    await age(witness, 5)
    await renew(witness)
    assert.equal(await sweep(witness), 0, 'for less than a lease it has been steady')
    assert.equal(await stateOf(hold.id), 'open')
    await renew(other)
    await finish(witness, other)
  })

  test('a process silent for a lease is dead: its calls are closed at their checkpoint', async () => {
    const [witness, dead] = [newId('own'), newId('own')]
    await renew(witness)
    await renew(dead)
    const [watched, fresh] = [await openHold(dead), await openHold(dead)]
    const checkpoint = storedCheckpoint(40n, { lines: [{ unit: 'call' }] })
    await writeCheckpoints(database.sql, [
      { hold_id: watched.id, account_id: watched.account_id, checkpoint },
    ])
    await database.sql`
      update owner set steady_since = steady_since - interval '25 s' where id = ${witness}`
    assert.equal(await sweep(witness), 0, 'its lease still runs')
    await database.sql`
      update owner set lease_until = clock_timestamp() - interval '1 s' where id = ${dead}`
    assert.equal(await sweep(witness), 2)
    assert.equal(await stateOf(watched.id), 'settled')
    assert.equal(await stateOf(fresh.id), 'released')
    await finish(witness)
  })

  test('a clock that was set back keeps no call of a dead process open', async () => {
    const [witness, dead] = [newId('own'), newId('own')]
    await renew(witness)
    await renew(dead)
    const hold = await openHold(dead, -3_600)
    await endLease(database.sql, dead)
    assert.equal(await sweep(witness), 1)
    assert.equal(await stateOf(hold.id), 'released')
    await finish(witness)
  })

  test('a clock of the database that was set is in the log', async () => {
    const warn = async (aheadMs: number) => {
      const warnings: string[] = []
      const sweeper = await startSweeper({
        sql: database.sql,
        ownerId: newId('own'),
        address: '',
        exclusive: false,
        renewMs: 60_000,
        leaseSeconds: 20,
        isolatedMs: 60_000,
        clock: {
          sample: () => undefined,
          now: () => new Date(Date.now() + aheadMs),
          aheadMs: () => aheadMs,
        },
        log: {
          info: () => undefined,
          warn: (fields: object, text: string) => void warnings.push(JSON.stringify(fields) + text),
        },
      })
      await sweeper.stop()
      return warnings
    }
    const [back] = await warn(3_600_500)
    assert.match(
      back ?? '',
      /^\{"seconds":-3(59|60)\d\}the clock of the database moved against that of this process$/,
    )
    const [ahead] = await warn(-3_600_500)
    assert.match(ahead ?? '', /^\{"seconds":3(59|60)\d\}the clock/)
    assert.deepEqual(await warn(0), [])
  })

  test('a slow answer is no clock that was set', () => {
    const at = new Date('2026-11-27T10:00:00Z')
    assert.equal(measureStep(new Date(at.getTime() + 7_000), at, 8_000), 0)
    assert.equal(measureStep(new Date(at.getTime() + 9_000), at, 8_000), 1_000)
    assert.equal(measureStep(new Date(at.getTime() - 9_000), at, 8_000), -9_000)
  })

  test('a delayed sweep decides by the time at which it runs', async () => {
    const [witness, other] = [newId('own'), newId('own')]
    await renew(witness)
    await renew(other)
    await age(witness, 9)
    await database.sql`
      update owner set steady_since = steady_since - interval '60 s' where id = ${witness}`
    const hold = await openHold(other)
    await database.sql`
      update owner set lease_until = clock_timestamp() - interval '1 s' where id = ${other}`
    await age(witness, 2)
    assert.equal(await sweep(witness), 0, 'the witness itself last renewed 11 s ago')
    assert.equal(await stateOf(hold.id), 'open')
    await finish(witness, other)
  })

  test('a hold of an unknown process waits for a whole lease', async () => {
    const witness = newId('own')
    await renew(witness)
    await database.sql`
      update owner set steady_since = steady_since - interval '60 s' where id = ${witness}`
    const [young, old] = [await openHold(newId('own'), 5), await openHold(newId('own'), 30)]
    assert.equal(await sweep(witness), 1)
    assert.equal(await stateOf(young.id), 'open')
    assert.equal(await stateOf(old.id), 'released')
    await database.sql`update hold set owner_id = ${witness} where id = ${young.id}`
    await finish(witness)
  })

  test('a clock that was set back keeps no process alive', async () => {
    const [witness, dead] = [newId('own'), newId('own')]
    await renew(dead)
    await age(dead, -7200)
    await renew(witness)
    await sweep(witness)
    const [row] = await database.sql<{ left: number }[]>`
      select extract(epoch from lease_until - clock_timestamp())::float8 as left
      from owner where id = ${dead}`
    assert.ok((row?.left ?? 99) <= 20, `its lease runs ${row?.left} s`)
    await finish(witness, dead)
  })

  test('holds of a locked account are closed later, the others now', async () => {
    const gone = newId('own')
    await renew(gone)
    const other = await createCaller(database.sql)
    const locked = holdRow(other, { owner_id: gone })
    await takeHolds(database.sql, [locked])
    const open = await openHold(gone)
    await database.sql`update hold set created_at = created_at - interval '5 s'`
    await endLease(database.sql, gone)
    await database.sql.begin(async (transaction) => {
      await transaction`select 1 from balance where account_id = ${other.accountId} for update`
      assert.equal(await sweep(newId('own')), 1)
    })
    assert.equal(await stateOf(open.id), 'released')
    assert.equal(await stateOf(locked.id), 'open')
    assert.equal(await sweep(newId('own')), 1)
  })

  test('the audit is clean', async () => {
    assert.deepEqual(await brokenInvariants(database.sql), [])
    assert.equal((await readBalance(database.sql, caller.accountId))?.held, 0n)
  })
})
