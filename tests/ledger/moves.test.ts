/** Settlements and holds of one moment share a statement, without affecting each other. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { isUnavailable } from '../../server/base/database/unavailable.ts'
import { newId, newRequestId } from '../../server/base/lib/ids.ts'
import { QueueFull } from '../../server/base/lib/queues/batcher.ts'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import type { Hold } from '../../server/money/ledger/holds/hold.ts'
import { createLedger, type Ledger } from '../../server/money/ledger/ledger.ts'
import type { HoldRequest } from '../../server/money/ledger/requests.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'

describe('moves', () => {
  let database: TestDatabase
  let ledger: Ledger
  let accountId: string
  const refusals: string[] = []
  const warnings: string[] = []
  before(async () => {
    database = await createTestDatabase()
  })
  after(() => database.drop())
  beforeEach(async () => {
    const { sql } = database
    const log = {
      warn: (_: object, text: string) => warnings.push(text),
      error: (_: object, text: string) => refusals.push(text),
    }
    ledger = createLedger({ sql, ownerId: newId('own'), isUnavailable, log, holdQueueMax: 3 })
    const opening = { name: 'test', openingBalanceNanos: 1_000n, actor: 'test' }
    accountId = (await createAccount(sql, opening)).id
  })

  const request = (): HoldRequest => ({
    requestId: newRequestId(),
    accountId,
    keyId: 'key',
    endpoint: 'test',
    model: 'm',
    priceVersion: null,
    amountNanos: 100n,
    estimate: {},
    spendLimitNanos: null,
    idempotency: null,
  })
  const take = async (): Promise<Hold> => {
    const result = await ledger.hold(request())
    assert.ok('hold' in result)
    return result.hold
  }
  const close = (hold: Hold, costNanos = 1n) =>
    ledger.settle(hold, {
      chargeNanos: 60n,
      status: 'succeeded',
      basis: 'usage',
      attempts: [],
      lines: [],
      cost: { nanos: costNanos, version: 1n },
    })

  test('a settlement and a hold share one commit', async () => {
    const first = await take()
    const [verdict, second] = await Promise.all([close(first), take()])
    assert.equal(verdict, 'closed')
    const commits = await database.sql`
      select distinct xmin::text from entry where (posting, step) in (
        (${first.id}, 'charge'), (${first.id}, 'return'), (${second.id}, 'hold'))`
    assert.equal(commits.length, 1)
  })

  test('an amount that a settlement returns is available to holds beside it', async () => {
    const big = await ledger.hold({ ...request(), amountNanos: 1_000n })
    assert.ok('hold' in big)
    const released = { chargeNanos: null, status: 'failed', basis: 'none' } as const
    const ending = ledger.settle(big.hold, { ...released, lines: [], attempts: [] })
    await Promise.all([ending, take()])
  })

  test('a hold of more than the books can hold is refused, and does not fail the others', async () => {
    const beyond = ledger.hold({ ...request(), amountNanos: 2n ** 63n })
    const [refused] = await Promise.all([beyond, take()])
    assert.deepEqual(refused, { refused: 'insufficient' })
  })

  test('a settlement that the database refuses does not fail the others', async () => {
    const [good, bad] = [await take(), await take()]
    const verdicts = Promise.all([close(good), close(bad, -1n)])
    await Promise.all([verdicts, take()])
    assert.deepEqual(await verdicts, ['closed', 'closed'])
    assert.deepEqual(refusals.splice(0), ['settlement refused: closing without details'])
    const [row] = await database.sql`select review, charged from call where hold_id = ${bad.id}`
    assert.deepEqual({ ...row }, { review: true, charged: 60n })
  })

  test('a charge beyond what the books can hold is reduced, committed and reviewed', async () => {
    const { sql } = database
    const account = { name: 'beyond', openingBalanceNanos: 1_000n, actor: 'test' }
    const beyond = { ...request(), accountId: (await createAccount(sql, account)).id }
    const result = await ledger.hold(beyond)
    assert.ok('hold' in result)
    const settlement = { status: 'succeeded', basis: 'usage', lines: [], attempts: [] } as const
    const verdict = await ledger.settle(result.hold, { ...settlement, chargeNanos: 2n ** 64n })
    assert.equal(verdict, 'closed')
    const [row] = await sql`
      select c.charged, c.review, b.held, b.debt
      from call c join balance b on b.account_id = c.account_id where hold_id = ${result.hold.id}`
    const charged = 10n ** 18n - 1n
    assert.deepEqual({ ...row }, { charged, review: true, held: 0n, debt: charged - 1_000n })
  })

  test('a checkpoint beyond what the books can hold does not fail the sweep', async () => {
    const { sql } = database
    const [odd, hold] = [await take(), await take()]
    ledger.watch(odd, () => {
      throw new Error('a charge that cannot be read holds up no other')
    })
    ledger.watch(hold, () => ({ chargeNanos: 2n ** 64n, lines: [] }))
    const stored = await until('the checkpoint', async () => {
      assert.ok(!warnings.includes('checkpoints could not be written'))
      const [row] = await sql<{ charge: bigint }[]>`
        select (checkpoint ->> 'charge')::bigint as charge from hold
        where id = ${hold.id} and checkpoint is not null`
      return row?.charge
    })
    assert.equal(stored, 2n ** 63n - 1n)
    for (const one of [odd, hold]) assert.equal(await close(one), 'closed')
  })

  test('a hold is closed once', async () => {
    const hold = await take()
    const verdicts = await Promise.all([close(hold), close(hold)])
    assert.deepEqual(verdicts.toSorted(), ['already', 'closed'])
  })

  test('holds beyond the queue limit are rejected', async () => {
    const results = await Promise.allSettled(Array.from({ length: 5 }, take))
    assert.equal(results.filter(({ status }) => status === 'rejected').length, 2)
  })

  test('holds that were taken, failed or timed out no longer wait', async () => {
    for (let round = 0; round < 4; round += 1) await take()
    const fail = () => ledger.hold({ ...request(), priceVersion: 2n ** 70n })
    for (let round = 0; round < 4; round += 1) await assert.rejects(fail(), /out of range/)
    await database.sql.begin(async (sql) => {
      await sql`select from balance where account_id = ${accountId} for update`
      const late = await Promise.allSettled(Array.from({ length: 3 }, take))
      assert.ok(late.every(({ status }) => status === 'rejected'))
    })
    await Promise.all(Array.from({ length: 3 }, take))
  })

  test('a hold that the database has answered is not refused by a process that stalled', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const answered = Promise.withResolvers<void>()
    const read = Promise.withResolvers<void>()
    /** The socket has the answer of a statement, and nobody has read it. */
    const unread = new Proxy(database.sql, {
      get(target, key) {
        if (key !== 'unsafe') return Reflect.get(target, key)
        return async (...parameters: Parameters<typeof target.unsafe>) => {
          const rows = await target.unsafe(...parameters)
          answered.resolve()
          await read.promise
          return rows
        }
      },
    })
    const log = { warn: () => undefined, error: () => undefined }
    const own = createLedger({ sql: unread, ownerId: newId('own'), isUnavailable, log })
    const taking = own.hold(request())
    await answered.promise
    t.mock.timers.tick(10_000)
    read.resolve()
    const taken = await taking
    assert.ok('hold' in taken)
    assert.equal(await close(taken.hold), 'closed')
    await own.stop()
  })

  test('a hold whose commit was lost is released, though its repetition met a full queue', async () => {
    const { sql } = database
    const log = { warn: () => undefined, error: () => undefined }
    const leakCheckMs = 3_600_000
    const own = createLedger({ sql, ownerId: newId('own'), isUnavailable, log, leakCheckMs })
    const asked = request()
    const taking = own.hold(asked, async (attempt) => {
      await attempt()
      const lost = async () => await Promise.reject(new QueueFull('queue is full'))
      return await lost()
    })
    await assert.rejects(taking, { row: 'unavailable' })
    const state = async () =>
      (await sql`select state from hold where request_id = ${asked.requestId}`)[0]?.state
    assert.equal(await state(), 'open')
    await until('its release', async () => (await state()) === 'released')
    await own.stop()
  })

  test('the audit is clean', async () => {
    await ledger.flushed()
    const broken = (await audit(database.sql)).checks.filter((check) => !check.ok)
    assert.deepEqual(broken, [])
  })
})
