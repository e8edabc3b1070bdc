/** Operators: price lists, which accounts have them, and what customers pay. */
import { z } from 'zod'
import { MODEL_TYPES } from '../../../../money/catalog/catalog.ts'
import { givenTime, page, paging, text, time } from '../../common-schemas.ts'
import { CREATES_ONLY, changesOnly } from '../../preconditions.ts'
import { area, type Routes } from '../../route.ts'
import { operatorAccount } from '../accounts/contract.ts'
import { adminPrice, margin } from '../models/contract.ts'

const rule = z.object({ of: z.enum(['parent', 'cost']), factor: z.string() })
const entry = z.union([z.array(adminPrice), rule, z.literal('hidden')])
const forAll = z.union([rule, z.literal('hidden')])

const definition = z.object({
  default: forAll.optional().describe('The rule for every model that `prices` does not name.'),
  prices: z.record(z.string(), entry).describe('By model.'),
  planned_prices: z
    .array(
      z.object({
        from: z.iso.datetime(),
        until: z.iso.datetime().optional().describe('Absent: for good.'),
        default: forAll.optional(),
        prices: z.record(z.string(), entry),
      }),
    )
    .optional(),
})

export const priceListRow = z.object({
  id: z.string(),
  currency: z.string(),
  parent: z
    .string()
    .describe('The list for models that this one does not name; `base`: the base prices.'),
  account_id: z.string().nullable().describe('The account whose own prices these are.'),
  status: z.enum(['active', 'retired']),
  source: z.string().describe('The catalog file that defines it, or `console:…`.'),
  models: z.int().describe('Number of models that it names.'),
  accounts: z.int().describe('Number of accounts that have it.'),
  updated_at: time,
})

const revision = z.string().describe('Differs after each change of these members.')

const priceList = priceListRow.extend({ ...definition.shape, revision })

/** The members of a list in a catalog file, which reads them. */
const draft = z.object({
  default: z.unknown().optional(),
  prices: z.record(z.string(), z.unknown()).optional(),
  planned_prices: z.array(z.unknown()).optional(),
})

const origin = z.union([
  z.object({ of: z.literal('parent'), factor: z.string(), from_version: z.string() }),
  z.object({ of: z.literal('cost'), factor: z.string(), cost_versions: z.array(z.string()) }),
  z.object({ prices: z.literal(true) }),
  z.object({ hidden: z.literal(true) }),
])

const shownPrice = z.object({
  currency: z.string(),
  is_sold: z.boolean().describe('False: hidden, or without a price in the currency.'),
  list: z
    .string()
    .nullable()
    .describe('The list that the prices come from, or that hides the model; null: a free model.'),
  version: z.string().nullable().describe('As `price_version` in usage records.'),
  origin: origin.nullable().describe('How the list derived the prices; null: base prices.'),
  prices: z.array(adminPrice),
  base_prices: z.array(adminPrice).nullable().describe('Null: none in this currency.'),
  cost: z.array(adminPrice).nullable().describe('Of the most expensive route; null: unknown.'),
  cost_problem: z.string().nullable().describe('Why the cost is unknown.'),
  margins: z.array(margin).describe('Each price compared with the costs of each route.'),
  is_below_cost: z.boolean(),
})

const warnings = z.array(z.string()).describe('Prices below cost among those that changed.')

const ofModels = {
  ...paging,
  type: z.enum(MODEL_TYPES).optional(),
  search: text(200).optional().describe('Part of the model’s id.'),
  below_cost: z.stringbool().default(false).describe('Only models with a price below cost.'),
  at: givenTime.optional().describe('A later time, to see planned prices.'),
}

export const LISTS_SHOWN_MAX = 20

const shared = { role: 'operator', tag: 'Operators: price lists' } as const
const CHANGES_ONLY = changesOnly('`revision`')
const LIKE_FILES =
  '`default`, `prices` and `planned_prices` are those of a list in a catalog file, and replace ' +
  'the previous ones. They apply to calls from then on; calls and tasks in progress keep their ' +
  'prices.'

export const operatorPriceListsContract = area(shared, {
  'GET /operator/price-lists': {
    summary: 'List price lists',
    query: z.object({
      ...paging,
      search: text(200).optional().describe('Part of the id.'),
      own: z
        .stringbool()
        .optional()
        .describe('True: only accounts’ own prices; false: none of them.'),
      retired: z.stringbool().default(false),
    }),
    answer: page(priceListRow),
  },
  'GET /operator/price-lists/:list_id': {
    summary: 'Get a price list',
    answer: priceList,
    errors: [404],
  },
  'PUT /operator/price-lists/:list_id': {
    summary: 'Create a price list or change it',
    description: `${LIKE_FILES} Currency and parent never change. ${CREATES_ONLY} ${CHANGES_ONLY}`,
    body: draft.extend({
      currency: z.string().default('CNY'),
      parent: z.string().default('base'),
    }),
    stepUp: true,
    answer: priceList.extend({ warnings }),
    errors: [409],
  },
  'DELETE /operator/price-lists/:list_id': {
    summary: 'Retire a price list',
    description: 'Refused while an account or another list uses it.',
    stepUp: true,
    errors: [404, 409],
  },
  'GET /operator/prices': {
    summary: 'Compare the prices of models on several lists',
    query: z.object({
      ...ofModels,
      lists: text(2000)
        .optional()
        .describe(
          `Ids, comma-separated, at most ${LISTS_SHOWN_MAX}; \`base\` is one. Otherwise \`base\` ` +
            'and the first lists.',
        ),
    }),
    answer: page(
      z.object({
        model: z.string(),
        type: z.enum(MODEL_TYPES),
        prices: z.array(shownPrice.extend({ price_list: z.string() })),
      }),
    ),
  },
  'GET /operator/accounts/:account_id/prices': {
    summary: 'Show what an account pays, and why',
    query: z.object(ofModels),
    answer: page(shownPrice.extend({ model: z.string(), type: z.enum(MODEL_TYPES) })).extend({
      currency: z.string(),
      price_list: z.string().nullable().describe('The list that it has; null: base prices.'),
      lists: z.array(z.string()).describe('The lists that price its calls: the first one decides.'),
      own: definition.nullable().describe('Its own prices.'),
      own_revision: revision,
    }),
    errors: [404],
  },
  'PUT /operator/accounts/:account_id/prices': {
    summary: 'Set the own prices of an account',
    description: `They override its price list. ${LIKE_FILES} ${changesOnly('`own_revision`')}`,
    body: draft.strict(),
    stepUp: true,
    answer: definition.extend({ warnings }),
    errors: [404, 409],
  },
  'DELETE /operator/accounts/:account_id/prices': {
    summary: 'Remove the own prices of an account',
    stepUp: true,
    errors: [404],
  },
  'PUT /operator/accounts/:account_id/price-list': {
    summary: 'Give an account a price list',
    description:
      'It applies from the account’s next call; calls and tasks in progress keep their prices.',
    body: z.strictObject({ price_list: text(64).min(1).nullable().describe('null: base prices.') }),
    stepUp: true,
    answer: operatorAccount,
    errors: [404],
  },
} as const satisfies Routes<keyof typeof shared>)
