/** Operators: whether the books agree, live, and what a person should look at. */
import { z } from 'zod'
import { amount, page, paging, time } from '../../common-schemas.ts'
import type { Contract } from '../../route.ts'

const tag = 'Operators: money proof'

export const operatorProofContract = {
  'GET /operator/proof': {
    role: 'operator',
    tag,
    summary: 'Get what is frozen, owed, orphaned, in review and dropped',
    answer: z.object({
      totals: z.array(
        z.object({
          currency: z.string(),
          available: amount,
          held: amount,
          debt: amount,
          revenue: amount.describe('All that was ever charged.'),
          topped_up: amount,
        }),
      ),
      open_holds: z.array(
        z.object({ age: z.string(), count: z.number(), amount, currency: z.string() }),
      ),
      oldest_open_hold_at: time.nullable(),
      in_review: z.number().describe('Calls whose charge is not what the upstream stated.'),
      lost_calls: z.number().describe('Closed for a process that died, within 30 days.'),
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
        .describe('Of this process.'),
      last_checkpoint: z
        .object({
          at: time,
          block: z.number(),
          hash: z.string(),
          entries: z.string(),
          key_id: z.string(),
        })
        .nullable()
        .describe('The newest statement that `tributary checkpoint` signed.'),
      sealed: z
        .object({ block: z.number(), entries: z.string(), at: time })
        .nullable()
        .describe('The newest block of sealed entries.'),
    }),
  },
  'POST /operator/proof/audit': {
    role: 'operator',
    tag,
    summary: 'Recompute the books now',
    description: 'Every invariant, at one instant. One audit runs at a time.',
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
  'GET /operator/proof/orphans': {
    role: 'operator',
    tag,
    summary: 'List what an upstream may have billed and no caller was charged for',
    query: z.object(paging),
    answer: page(
      z.object({
        attempt_id: z.string(),
        task_id: z.string(),
        channel: z.string(),
        upstream_model: z.string(),
        upstream_id: z.string().nullable(),
        reason: z.string(),
        upstream_cost: amount
          .nullable()
          .describe('At most, in the account’s currency; null: unknown.'),
        created_at: time,
      }),
    ),
  },
} as const satisfies Contract
