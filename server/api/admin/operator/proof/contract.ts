/** Operators: live consistency of the books, and items for manual review. */
import { z } from 'zod'
import { amount, page, paging, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

export const unchargedCost = z.object({
  attempt_id: z.string(),
  task_id: z.string(),
  channel: z.string(),
  upstream_model: z.string(),
  upstream_id: z.string().nullable(),
  reason: z.string(),
  upstream_cost: amount
    .nullable()
    .describe('Upper bound in the account’s currency; null: unknown.'),
  created_at: time,
})

const shared = { role: 'operator', tag: 'Operators: money proof' } as const

export const operatorProofContract = area(shared, {
  'GET /operator/proof': {
    summary: 'Get holds, debts, uncharged costs, reviews and dropped deliveries',
    answer: z.object({
      totals: z.array(
        z.object({
          currency: z.string(),
          available: amount,
          held: amount,
          debt: amount,
          revenue: amount.describe('Total of all charges.'),
          topped_up: amount,
        }),
      ),
      open_holds: z.array(
        z.object({ age: z.string(), count: z.number(), amount, currency: z.string() }),
      ),
      oldest_open_hold_at: time.nullable(),
      oldest_holds: z
        .array(
          z.object({
            request_id: z.string(),
            account_id: z.string(),
            account_name: z.string(),
            model: z.string(),
            endpoint: z.string(),
            task_id: z
              .string()
              .nullable()
              .describe('The task of the hold, which lasts until the task ends.'),
            amount,
            currency: z.string(),
            created_at: time,
          }),
        )
        .describe('The 20 oldest open holds.'),
      command_successes: z
        .array(z.object({ command: z.string(), at: time }))
        .describe('When `audit`, `backup` and `archive create` have last succeeded.'),
      in_review: z.number().describe('Calls whose charge differs from the stated usage.'),
      lost_calls: z.number().describe('Calls closed because their process died, within 30 days.'),
      uncharged_costs: z.number(),
      dropped_deliveries: z.number().describe('Within 30 days.'),
      last_audit: z
        .object({
          at: time,
          ok: z.boolean(),
          milliseconds: z.number(),
          broken: z.array(z.string()),
        })
        .nullable()
        .describe('Last audit by this process.'),
      last_checkpoint: z
        .object({
          at: time,
          block: z.number(),
          hash: z.string().nullable(),
          entries: z.string().nullable(),
          key_id: z.string(),
          intact: z
            .boolean()
            .describe('False if the stored checkpoint is not what the gateway signed.'),
        })
        .nullable()
        .describe('The latest checkpoint signed by `tributary checkpoint`.'),
      sealed: z
        .object({ block: z.number(), entries: z.string(), at: time })
        .nullable()
        .describe('The latest block of sealed entries.'),
    }),
  },
  'POST /operator/proof/audit': {
    summary: 'Recompute the books now',
    description:
      'Checks every invariant at a single instant; for verified weeks, only the stored sums ' +
      'are read. One audit runs at a time.',
    answer: z.object({
      ok: z.boolean(),
      at: time,
      milliseconds: z.number(),
      checks: z.array(
        z.object({
          id: z.string(),
          title: z.string(),
          ok: z.boolean(),
          details: z.array(
            z.object({ subject: z.string(), found: z.string(), expected: z.string() }),
          ),
        }),
      ),
    }),
    errors: [409],
  },
  'GET /operator/proof/uncharged-costs': {
    summary: 'List upstream costs that no caller was charged for',
    query: z.object(paging),
    answer: page(unchargedCost),
  },
} as const satisfies Routes<keyof typeof shared>)
