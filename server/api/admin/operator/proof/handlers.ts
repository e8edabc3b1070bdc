/** The proof that the books are consistent: figures at any time, the whole audit on demand. */

import { toPage } from '../../../../base/http/page.ts'
import { GatewayError } from '../../../../base/lib/errors.ts'
import { audit } from '../../../../money/ledger/audit/audit.ts'
import { readCheckpointSummary, readSealedSummary } from '../../../../money/ledger/books/summary.ts'
import { readCommandSuccesses } from '../../../../money/usage/command-run-store.ts'
import { recordUnbalanced } from '../../../../work/alerts/alert-store.ts'
import { catchUp } from '../../../endpoints/account/usage.ts'
import type { HandlersOf } from '../../handler.ts'
import type { operatorProofContract } from './contract.ts'
import {
  type Figures,
  selectCounts,
  selectOldestHolds,
  selectOpenHolds,
  selectToppedUp,
  selectTotals,
  selectUnchargedCosts,
} from './store.ts'

const OLDEST_MAX = 20

/** An audit reads every row, so a process runs one at a time. */
let running = false
let last: Figures['last_audit'] = null

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
      totals: totals.map((total) => {
        const into = credited.get(total.currency) ?? 0n
        // Credit that is neither available nor on hold has been charged, and so has the debt.
        const revenue = into - total.available - total.held + total.debt
        return { ...total, topped_up: into, revenue }
      }),
      open_holds: holds,
      oldest_holds: oldest,
      command_successes: successes.map(({ command, succeeded_at: seconds }) => {
        return { command, at: new Date(seconds * 1000) }
      }),
      last_audit: last,
      last_checkpoint: checkpoint,
      sealed,
    }
  },

  async 'POST /operator/proof/audit'({ note }, services) {
    if (running) throw new GatewayError('conflict', { message: 'an audit is running' })
    running = true
    const start = performance.now()
    try {
      await catchUp(services)
      const { ok, checks } = await audit(services.sql)
      const milliseconds = Math.round(performance.now() - start)
      const at = new Date()
      const failed = checks.filter((check) => !check.ok)
      await recordUnbalanced(services.sql, failed)
      const broken = failed.map(({ id }) => id)
      last = { at, ok, milliseconds, broken }
      note({ ok, broken })
      return { ok, at, milliseconds, checks }
    } finally {
      running = false
    }
  },

  async 'GET /operator/proof/uncharged-costs'({ query }, { sql }) {
    return toPage(await selectUnchargedCosts(sql, query), query.limit, 'attempt_id')
  },
}
