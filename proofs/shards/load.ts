/**
 * Holds, settlements, releases, overruns, limits, Idempotency-Keys, tasks and refunds, sent by the
 * ledger's own statements. Where an answer was lost the same is sent again, as a gateway does,
 * until there is one: then each account's balance is known to the nano-unit.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { holdIdOf, newId, newRequestId } from '../../server/base/lib/ids.ts'
import { closeHolds, takeHolds } from '../../server/money/ledger/posting/move-store.ts'
import { type HoldRow, postCredit, type SettleRow } from '../../server/money/ledger/store.ts'
import type { Random } from '../../testbed/random.ts'
import { planTask } from './tasks.ts'

export interface Account {
  readonly id: string
  readonly shard: number
  /** As the database must have it once all is settled. */
  available: bigint
  /** Calls that were charged or released. */
  calls: number
}

export interface Counts {
  holds: number
  settlements: number
  credits: number
  tasks: number
  /** Answers that were lost, after which the same was sent again. */
  lost: number
}

/** Outcomes that are no accident: the same statement fails again. */
const FAULTS = /^(?:22|23|42|P0)/
const PAUSE_MS = 50

interface Databases {
  readonly router: Sql
  readonly shards: readonly Sql[]
}

export function startLoad(
  databases: Databases,
  accounts: readonly Account[],
  { workers, random }: { readonly workers: number; readonly random: Random },
) {
  const counts: Counts = { holds: 0, settlements: 0, credits: 0, tasks: 0, lost: 0 }
  const ways = [
    ...waysOfCalls(createSender(databases.router, counts), random),
    ...waysOfMoney(createSender(databases.router, counts), random, databases),
  ]
  let isStopped = false
  const running = Array.from({ length: workers }, async () => {
    while (!isStopped) {
      const account = accounts[random.integer(0, accounts.length - 1)]
      const way = ways[random.integer(0, ways.length - 1)]
      if (account && way) await way(account)
    }
  })
  return {
    counts,
    /** Resolves when every answer is known. */
    async stop(): Promise<void> {
      isStopped = true
      await Promise.all(running)
    },
  }
}

type Sender = ReturnType<typeof createSender>
type Way = (account: Account) => Promise<void>

function createSender(sql: Sql, counts: Counts) {
  /** Sends until there is an answer. */
  async function certain<T>(send: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await send()
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : ''
        if (code === '' || FAULTS.test(code)) throw error
        counts.lost += 1
        await sleep(PAUSE_MS)
      }
    }
  }

  /** Takes holds; returns those that were taken. */
  async function take(rows: readonly HoldRow[]): Promise<readonly HoldRow[]> {
    const verdicts = await certain(() => takeHolds(sql, rows))
    const taken = rows.filter(({ id }) => {
      const verdict = verdicts.get(id)
      return verdict === 'held' || verdict === 'already'
    })
    counts.holds += taken.length
    return taken
  }

  async function close(account: Account, rows: readonly SettleRow[]): Promise<void> {
    if (rows.length === 0) return
    const verdicts = await certain(() => closeHolds(sql, rows))
    for (const row of rows) {
      const verdict = verdicts.get(row.hold_id)
      if (verdict !== 'closed' && verdict !== 'already') throw new Error(`a hold is ${verdict}`)
      account.available -= BigInt(row.charge ?? 0)
      account.calls += 1
    }
    counts.settlements += rows.length
  }

  return { sql, counts, certain, take, close }
}

/** Calls: the ways of a hold, by the ledger's functions alone. */
function waysOfCalls({ sql, certain, take, close }: Sender, random: Random): Way[] {
  const below = (most: number) => random.integer(0, most - 1)
  const partOf = ({ amount }: HoldRow) => BigInt(below(Number(amount)))
  return [
    async function one(account) {
      for (const hold of await take([holdOf(account)]))
        await close(account, [settle(hold, partOf(hold))])
    },
    async function many(account) {
      const taken = await take(Array.from({ length: 1 + below(8) }, () => holdOf(account)))
      await close(
        account,
        taken.map((hold) => settle(hold, partOf(hold))),
      )
    },
    async function released(account) {
      const taken = await take([holdOf(account), holdOf(account)])
      await close(
        account,
        taken.map((hold) => settle(hold, null)),
      )
    },
    async function overrun(account) {
      for (const hold of await take([holdOf(account)])) {
        await close(account, [settle(hold, BigInt(hold.amount) + BigInt(below(1_000)))])
      }
    },
    async function limited(account) {
      const subjects = [
        { name: `account:${account.id}`, requests: 100_000, tokens: 1_000_000_000, calls: 1_000 },
      ]
      const limits = { tokens: 10, subjects }
      const taken = await take([holdOf(account, { limits }), holdOf(account, { limits })])
      const returned = { returned_tokens: { tokens: 5, names: [`account:${account.id}`] } }
      await close(
        account,
        taken.map((hold) => ({ ...settle(hold, partOf(hold)), ...returned })),
      )
    },
    async function named(account) {
      const key = { idempotency_key: newId('req'), route: 'POST /v1/test', fingerprint: 'ab' }
      const both = await Promise.all([0, 1].map(() => take([holdOf(account, key)])))
      const taken = both.flat()
      if (taken.length !== 1) throw new Error(`${taken.length} holds under one Idempotency-Key`)
      await close(
        account,
        taken.map((hold) => settle(hold, partOf(hold))),
      )
    },
    async function twice(account) {
      for (const hold of await take([holdOf(account)])) {
        const row = settle(hold, partOf(hold))
        await Promise.all([certain(() => closeHolds(sql, [row])), close(account, [row])])
      }
    },
  ]
}

function waysOfMoney(
  { sql, counts, certain }: Sender,
  random: Random,
  { shards }: Databases,
): Way[] {
  return [
    async function task(account) {
      const charge = BigInt(random.integer(0, 1_000))
      const shard = shards[account.shard]
      if (!shard) throw new Error('an account of no database')
      const planned = planTask(shard, account, charge)
      await certain(planned.create)
      await certain(planned.end)
      account.available -= charge
      account.calls += 1
      counts.tasks += 1
    },
    async function refund(account) {
      const nanos = BigInt(random.integer(-300, 699))
      if (nanos === 0n) return
      const credit = { id: newRequestId(), accountId: account.id, kind: 'adjustment' as const }
      const more = { amountNanos: nanos, reason: 'refund', actor: 'proof', eventId: null }
      await certain(() => postCredit(sql, { ...credit, ...more }))
      account.available += nanos
      counts.credits += 1
    },
  ]
}

function holdOf(account: Account, more: Partial<HoldRow> = {}): HoldRow {
  const requestId = newRequestId()
  return {
    id: holdIdOf(requestId),
    request_id: requestId,
    account_id: account.id,
    key_id: `key_${account.id}`,
    owner_id: 'proof',
    task_id: null,
    endpoint: 'test',
    model: 'm',
    price_version: null,
    amount: '1000',
    estimate: {},
    spend_limit: null,
    idempotency_key: null,
    route: null,
    fingerprint: null,
    ...more,
  }
}

function settle(hold: HoldRow, charge: bigint | null): SettleRow {
  return {
    hold_id: hold.id,
    account_id: hold.account_id,
    held: hold.amount,
    charge: charge?.toString() ?? null,
    status: charge === null ? 'failed' : 'succeeded',
    basis: charge === null ? 'none' : 'usage',
    review: false,
    lines: charge === null ? [] : [{ unit: 'call', quantity: 1, amount: charge.toString() }],
    attempts: [],
    upstream_cost: null,
    upstream_cost_version: null,
    error: null,
    task_id: null,
    answer: null,
  }
}
