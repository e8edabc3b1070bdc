/** Operators: the vendors that come with Tributary, and their price books. */
import { z } from 'zod'
import { text } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const price = z.object({
  unit: z.string(),
  per: z.number(),
  amount: z.string(),
  when: z.record(z.string(), z.unknown()).optional(),
})

const vendor = z.object({
  id: z.string(),
  name: z.string().describe('The vendor’s display name.'),
  key_page: z.string().nullable().describe('The page where its keys are created.'),
  currency: z.string(),
  types: z.array(z.string()).describe('Types of its models.'),
  models: z.number().describe('Number of models in its price book.'),
  channels: z.array(
    z.object({
      id: z.string(),
      upstream: z.string(),
      settings: z.record(z.string(), z.unknown()).describe('Secrets are named, never contained.'),
      variables: z
        .array(z.object({ setting: z.string(), variable: z.string(), is_set: z.boolean() }))
        .describe('Settings that environment variables supply, if this gateway has them.'),
      exists: z.boolean(),
    }),
  ),
})

const prices = z.object({ currency: z.string(), prices: z.array(price) })

const reviewedModel = z.object({
  id: z.string(),
  type: z.string(),
  change: z.enum(['new', 'changed', 'unchanged']),
  is_own: z
    .boolean()
    .describe('True if it was last changed by something other than this price book.'),
  book: prices,
  current: prices.nullable(),
  differences: z
    .array(z.object({ path: z.string(), from: z.string().optional(), to: z.string().optional() }))
    .describe('Everything that applying it would change.'),
  missing_channels: z.array(z.string()).describe('Channels of its routes that do not exist.'),
  price_source: z.string().nullable(),
  price_date: z.string().nullable(),
})

const shared = { role: 'operator', tag: 'Operators: channels' } as const

export const operatorVendorsContract = area(shared, {
  'GET /operator/vendors': {
    summary: 'List the vendors that can be added',
    answer: z.object({ data: z.array(vendor) }),
  },
  'GET /operator/vendors/:vendor_id': {
    summary: 'Compare a vendor’s price book with the catalog',
    description: 'What `tributary catalog add --dry-run` prints. Nothing changes.',
    answer: vendor.extend({
      review: z.array(reviewedModel),
      dropped: z.array(z.string()).describe('Models for sale that the price book no longer has.'),
    }),
    errors: [404],
  },
  'POST /operator/vendors/:vendor_id': {
    summary: 'Add channels and models of a vendor',
    description:
      'As `tributary catalog add`, for the chosen entries: models that exist take the price ' +
      'book’s prices, entries that are not named stay as they are.',
    body: z.strictObject({
      channels: z
        .array(
          z.strictObject({
            preset: text(64).describe('A channel of the price book.'),
            id: text(64).describe('The id of the new channel.'),
            settings: z.record(z.string(), z.unknown()).describe('In place of the preset’s.'),
          }),
        )
        .max(20)
        .default([]),
      models: z.array(text(128)).max(1000).default([]),
    }),
    stepUp: true,
    answer: z.object({
      changes: z.array(
        z.object({
          kind: z.string(),
          id: z.string(),
          change: z.enum(['added', 'changed', 'retired']),
        }),
      ),
      warnings: z.array(z.string()),
    }),
    errors: [404],
  },
} as const satisfies Routes<keyof typeof shared>)
