/** The models that an account can call, and their prices. */
import { z } from 'zod'
import { MODEL_TYPES } from '../../../../money/catalog/catalog.ts'
import { modelField, modelPrice } from '../../../endpoints/account/models.ts'
import { page, paging, serial, text, time } from '../../common-schemas.ts'
import { area, type Routes } from '../../route.ts'

const shared = { tag: 'Console: models' } as const

const model = z.object({
  id: z.string(),
  type: z.enum(MODEL_TYPES),
  display_name: z.string(),
  owned_by: z.string(),
  description: z.string().nullable(),
  free: z.boolean(),
  currency: z.string(),
  prices: z.array(modelPrice),
  price_version: serial.nullable(),
  limits: z.record(z.string(), z.number()),
  endpoints: z.array(z.string()).describe('Paths that accept this model.'),
  fields: z.array(modelField).nullable().describe('Of models for videos and images.'),
  updated_at: time,
})

export const modelsContract = area(shared, {
  'GET /accounts/:account_id/models': {
    role: 'member',
    summary: 'List models with their prices',
    query: z.object({
      ...paging,
      type: z.enum(MODEL_TYPES).optional(),
      search: text(200).optional().describe('Part of the id or name.'),
    }),
    answer: page(model),
  },
  'GET /accounts/:account_id/models/:model_id': {
    role: 'member',
    summary: 'Get a model with its price history',
    description: 'A call is settled at the prices in force when its hold was taken.',
    answer: model.extend({
      price_history: z.array(
        z.object({
          version: serial,
          effective_from: time,
          currency: z.string(),
          prices: z.array(modelPrice),
        }),
      ),
    }),
  },
} as const satisfies Routes<keyof typeof shared>)
