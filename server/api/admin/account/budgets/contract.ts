/** The budgets of an account, with what their current windows have seen. */

import { z } from 'zod'
import {
  BUDGET_ACTIONS,
  BUDGET_PERIODS,
  BUDGET_SCOPES,
  BUDGET_UNITS,
} from '../../../../base/lib/kinds-and-states.ts'
import { page, paging, text, timeZone } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const shared = { tag: 'Console: budgets' } as const
const MODELS_MAX = 200
const THRESHOLDS_MAX = 10

const quantity = z.string().describe('Decimal, in the account’s currency, or a whole number.')
const moment = z.iso.datetime()

const user = z.object({
  end_user: z
    .string()
    .nullable()
    .describe('Null: calls that name no end user; `*`: all end users beyond `max_end_users`.'),
  spent: quantity,
  held: quantity,
  remaining: quantity,
})

const budget = z.object({
  id: z.string().describe('Of a spend limit the id of its key, where it is set.'),
  scope: z.enum(BUDGET_SCOPES),
  subject: z.string().nullable().describe('The key, the member’s address or the tag.'),
  subject_name: z.string().nullable(),
  unit: z.enum(BUDGET_UNITS),
  currency: z.string(),
  amount: quantity,
  period: z.enum(BUDGET_PERIODS),
  time_zone: z.string(),
  week_start: z.int(),
  models: z.array(z.string()).nullable().describe('Null: every model.'),
  action: z.enum(BUDGET_ACTIONS),
  thresholds: z.array(z.int()),
  set_by: z.enum(['operator', 'owner']),
  window_start: moment,
  resets_at: moment.nullable(),
  spent: quantity,
  held: quantity,
  remaining: quantity.nullable().describe('Null if each end user has the amount.'),
  end_users: z.array(user).nullable().describe('The hundred end users that spent the most.'),
  end_users_counted: z.int().nullable(),
  max_end_users: z.int().nullable(),
  created_at: moment,
})

const amount = text(20).regex(/^\d{1,18}(\.\d{1,9})?$/, 'must be a decimal such as 12.5')
const thresholds = z.array(z.int()).max(THRESHOLDS_MAX)

export const budgetsContract = area(shared, {
  'GET /accounts/:account_id/budgets': {
    role: 'member',
    summary: 'List the budgets of an account',
    description:
      'Oldest first, followed by the spend limits of keys, as budgets that never reset. Their ' +
      'ids are those of the keys.',
    query: z.object({
      ...paging,
      scope: z.enum(BUDGET_SCOPES).optional(),
      key: text(200).optional().describe('A key id: budgets that count calls of this key.'),
      search: text(200).optional().describe('Part of the subject, its name or the id.'),
      full: z.stringbool().optional().describe('True: only budgets without room for another call.'),
    }),
    answer: page(budget),
  },
  'GET /accounts/:account_id/budgets/:budget_id': {
    role: 'member',
    summary: 'Get a budget',
    description: 'With the id of a key, its spend limit.',
    answer: budget,
  },
  'POST /accounts/:account_id/budgets': {
    role: 'owner',
    summary: 'Create a budget',
    description:
      'A call needs room in every budget that applies to it, so an owner’s budget never widens ' +
      'an operator’s.',
    body: z.strictObject({
      scope: z.enum(BUDGET_SCOPES).default('account'),
      subject: text(256).default(''),
      unit: z.enum(BUDGET_UNITS).default('money'),
      amount,
      period: z.enum(BUDGET_PERIODS),
      time_zone: timeZone.default('UTC'),
      week_start: z.int().min(1).max(7).default(1),
      models: z.array(text(200).min(1)).max(MODELS_MAX).nullable().default(null),
      action: z.enum(BUDGET_ACTIONS).default('refuse'),
      thresholds: thresholds.exactOptional(),
      max_end_users: z.int().exactOptional(),
    }),
    answer: budget,
    errors: [400],
  },
  'PATCH /accounts/:account_id/budgets/:budget_id': {
    role: 'owner',
    summary: 'Change a budget',
    description: 'It binds the next call. Owners change those that owners have set.',
    body: z.strictObject({ amount, action: z.enum(BUDGET_ACTIONS), thresholds }).partial(),
    answer: budget,
    errors: [400],
  },
  'DELETE /accounts/:account_id/budgets/:budget_id': {
    role: 'owner',
    summary: 'Delete a budget and what it has counted',
    answer: budget,
    errors: [400],
  },
} as const satisfies Routes<keyof typeof shared>)
