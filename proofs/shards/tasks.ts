/**
 * Tasks: a task and its hold change in one transaction, so it runs in the account's database, as a
 * gateway with a pool for each database would run it, and not through the router.
 */
import type { Sql } from 'postgres'
import { newId, newRequestId } from '../../server/base/lib/ids.ts'
import { holdForTask, settleTask } from '../../server/money/ledger/holds/task-holds.ts'
import { closeTask, insertTask, readClaimedTask } from '../../server/work/tasks/store.ts'
import type { Account } from './load.ts'

const HOLD_NANOS = 1_000n
const DAY_MS = 86_400_000
const UNIQUE = '23505'

/** Returns functions that create and end a task; each may be called until one call succeeds. */
export function planTask(sql: Sql, account: Account, chargeNanos: bigint) {
  const own = { id: newId('task'), account_id: account.id }
  const request = {
    requestId: newRequestId(),
    accountId: account.id,
    keyId: `key_${account.id}`,
    endpoint: 'test',
    model: 'm',
  }

  async function create(): Promise<void> {
    await sql.begin(async (transaction) => {
      const held = await holdForTask(transaction, own.id, {
        ...request,
        priceVersion: null,
        amountNanos: HOLD_NANOS,
        estimate: {},
        spendLimitNanos: null,
        idempotency: null,
      })
      if ('refused' in held) throw new Error(`the hold of a task is refused: ${held.refused}`)
      const attempt = { id: newId('att'), taskId: own.id, number: 1, channelId: 'c' }
      const upstream = { channelVersion: 1, upstreamModel: 'm', upstreamCostVersion: null }
      await insertTask(
        transaction,
        {
          ...request,
          id: own.id,
          kind: 'video',
          holdId: held.holdId,
          request: {},
          prepared: { quantities: {}, facts: {} },
          webhookUrl: null,
          quote: null,
          ageMsMax: DAY_MS,
          state: 'queued',
          dueInMs: DAY_MS,
        },
        { ...attempt, ...upstream },
      )
    })
  }

  return {
    /** Its row says whether an answer was lost. */
    async create(): Promise<void> {
      await create().catch((error: unknown) => {
        if (!(error instanceof Error && 'code' in error && error.code === UNIQUE)) throw error
      })
    },
    async end(): Promise<void> {
      await sql.begin(async (transaction) => {
        const task = await readClaimedTask(transaction, own)
        if (!task) throw new Error(`${own.id} is not there`)
        const end = { result: {}, usage: null, code: null, message: null, silent: false }
        const ended = await closeTask(transaction, task, { ...end, state: 'succeeded' })
        if (!ended) return
        await settleTask(transaction, task, {
          chargeNanos,
          status: 'succeeded',
          basis: 'params',
          review: false,
          lines: [{ unit: 'video', quantity: 1, amount: chargeNanos.toString() }],
          cost: null,
          attempts: [],
        })
      })
    },
  }
}
