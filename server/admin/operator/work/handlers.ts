/** Calls, tasks and deliveries of all accounts. */
import { z } from 'zod'
import { readDroppedFilter } from '../../../endpoints/webhooks/webhook-schemas.ts'
import { formatAmount } from '../../../lib/money.ts'
import type { HandlersOf } from '../../handler.ts'
import { toPage } from '../../page.ts'
import type { operatorWorkContract } from './contract.ts'
import { selectCallPage, selectDeliveryPage, selectTaskPage } from './store.ts'

const OPEN_STATES = ['submitting', 'queued', 'processing']

const iso = (time: Date | null) => time?.toISOString() ?? null

const storedTry = z.object({
  channel: z.string(),
  outcome: z.string(),
  status: z.number().nullable().default(null),
  reason: z.string().nullable().default(null),
  milliseconds: z.number().nullable().default(null),
})

/** Attempts of another form are skipped. */
function showTries(stored: unknown): z.output<typeof storedTry>[] {
  if (!Array.isArray(stored)) return []
  return stored.flatMap((one) => storedTry.safeParse(one).data ?? [])
}

export const operatorWorkHandlers: HandlersOf<typeof operatorWorkContract> = {
  async 'GET /operator/calls'({ query }, { sql, ledger }) {
    await ledger.flushed()
    const { limit, cursor, request_id: requestId, ...rest } = query
    const filter = { ...rest, requestId, after: cursor, limit: limit + 1 }
    const rows = await selectCallPage(sql, filter)
    return toPage(
      rows,
      limit,
      (row) => row.request_id,
      (row) => ({
        ...row,
        tries: showTries(row.tries),
        created_at: row.created_at.toISOString(),
        finished_at: row.finished_at.toISOString(),
        held: formatAmount(row.held),
        charged: formatAmount(row.charged),
        upstream_cost: row.upstream_cost === null ? null : formatAmount(row.upstream_cost),
        margin: row.upstream_cost === null ? null : formatAmount(row.charged - row.upstream_cost),
      }),
    )
  },

  async 'GET /operator/tasks'({ query }, { sql }) {
    const { limit, cursor, status, ...rest } = query
    const states = status === 'open' ? OPEN_STATES : status && [status]
    const filter = { ...rest, states, after: cursor, limit: limit + 1 }
    const rows = await selectTaskPage(sql, filter)
    return toPage(
      rows,
      limit,
      ({ id }) => id,
      (row) => {
        const { state, channel_id: channel, due_at: dueAt, ...shown } = row
        return {
          ...shown,
          status: state,
          channel,
          next_poll_at: iso(dueAt),
          created_at: row.created_at.toISOString(),
          finished_at: iso(row.finished_at),
        }
      },
    )
  },

  async 'GET /operator/deliveries'({ query }, { sql }) {
    const { limit, cursor, task_id: taskId, account, ...rest } = query
    const filter = {
      ...rest,
      accountId: account || undefined,
      taskId,
      after: cursor,
      limit: limit + 1,
    }
    const rows = await selectDeliveryPage(sql, filter)
    return toPage(
      rows,
      limit,
      ({ id }) => id,
      (row) => ({
        ...row,
        created_at: row.created_at.toISOString(),
        finished_at: iso(row.finished_at),
      }),
    )
  },

  async 'POST /operator/deliveries/redeliver'({ body, note }, { webhooks }) {
    const filter = { ...readDroppedFilter(body), accountId: body.account || undefined }
    const answer = await webhooks.redeliverDropped(filter, body.dry_run === true)
    note({ ...body, redelivered: answer.redelivered })
    return answer
  },
}
