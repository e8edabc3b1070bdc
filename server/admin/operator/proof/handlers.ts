/** The proof that the books are consistent: figures at once, the whole audit on demand. */

import { audit } from '../../../ledger/audit/audit.ts'
import { readCheckpointSummary, readSealedSummary } from '../../../ledger/books/summary.ts'
import { GatewayError } from '../../../lib/errors.ts'
import { formatAmount } from '../../../lib/money.ts'
import { readCommandSuccesses } from '../../../usage/command-run-store.ts'
import type { HandlersOf } from '../../handler.ts'
import { toPage } from '../../page.ts'
import type { operatorProofContract } from './contract.ts'
import {
  selectCounts,
  selectOldestHolds,
  selectOpenHolds,
  selectToppedUp,
  selectTotals,
  selectUnchargedCosts,
} from './store.ts'

interface LastAudit {
  readonly at: string
  readonly ok: boolean
  readonly milliseconds: number
  readonly broken: string[]
}

const OLDEST_MAX = 20

/** An audit reads every row, so a process runs one at a time. */
let running = false
let last: LastAudit | null = null

export const operatorProofHandlers: HandlersOf<typeof operatorProofContract> = {
  async 'GET /operator/proof'(_input, { sql }) {
    const [totals, toppedUp, holds, oldest, successes, counts, ...seals] = await Promise.all([
      selectTotals(sql),
      selectToppedUp(sql),
      selectOpenHolds(sql),
      selectOldestHolds(sql, OLDEST_MAX),
      readCommandSuccesses(sql),
      selectCounts(sql),
      readCheckpointSummary(sql),
      readSealedSummary(sql),
    ])
    const [checkpoint, sealed] = seals
    const credited = new Map(toppedUp.map((row) => [row.currency, row.topped_up]))
    return {
      ...counts,
      oldest_open_hold_at: counts.oldest_open_hold_at?.toISOString() ?? null,
      totals: totals.map(({ currency, available, held, debt }) => {
        const into = credited.get(currency) ?? 0n
        return {
          currency,
          available: formatAmount(available),
          held: formatAmount(held),
          debt: formatAmount(debt),
          topped_up: formatAmount(into),
          // Credit that is neither available nor on hold was charged, and debt was charged too.
          revenue: formatAmount(into - available - held + debt),
        }
      }),
      open_holds: holds.map((row) => ({ ...row, amount: formatAmount(row.amount) })),
      oldest_holds: oldest.map(({ amount, created_at: createdAt, ...row }) => ({
        ...row,
        amount: formatAmount(amount),
        created_at: createdAt.toISOString(),
      })),
      command_successes: successes.map(({ command, succeeded_at: seconds }) => ({
        command,
        at: new Date(seconds * 1000).toISOString(),
      })),
      last_audit: last,
      last_checkpoint: checkpoint,
      sealed,
    }
  },

  async 'POST /operator/proof/audit'({ note }, { sql, ledger }) {
    if (running) throw new GatewayError('conflict', { message: 'an audit is running' })
    running = true
    const start = performance.now()
    try {
      await ledger.flushed()
      const { ok, checks } = await audit(sql)
      const milliseconds = Math.round(performance.now() - start)
      const at = new Date().toISOString()
      const broken = checks.filter((check) => !check.ok).map(({ id }) => id)
      last = { at, ok, milliseconds, broken }
      note({ ok, broken })
      const shown = checks.map((check) => ({ ...check, details: [...check.details] }))
      return { ok, at, milliseconds, checks: shown }
    } finally {
      running = false
    }
  },

  async 'GET /operator/proof/uncharged-costs'({ query }, { sql }) {
    const rows = await selectUnchargedCosts(sql, { after: query.cursor, limit: query.limit + 1 })
    return toPage(
      rows,
      query.limit,
      (row) => row.attempt_id,
      (row) => {
        const { channel_id: channel, created_at: createdAt, upstream_cost: atMost, ...rest } = row
        const upstreamCost = atMost === null ? null : formatAmount(atMost)
        return {
          ...rest,
          channel,
          upstream_cost: upstreamCost,
          created_at: createdAt.toISOString(),
        }
      },
    )
  },
}
