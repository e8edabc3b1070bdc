/** What a request would cost at most, asked before it is sent. */
import { z } from 'zod'
import { priceLine } from '../../../endpoints/account/usage-schemas.ts'
import { amount, text } from '../../common-schemas.ts'
import type { Contract } from '../../route.ts'

const FIELDS_MAX = 20

const HEAD_BYTES_MAX = 4096
const TAIL_BYTES_MAX = 65_536

const base64 = (bytesMax: number) => z.base64().max(Math.ceil(bytesMax / 3) * 4)

const texts = z
  .record(text(200), text(200))
  .refine((given) => Object.keys(given).length <= FIELDS_MAX, `at most ${FIELDS_MAX}`)
  .default({})

export const quoteContract = {
  'POST /accounts/:account_id/quote': {
    role: 'member',
    isRead: true,
    tag: 'Console: models',
    summary: 'Quote a request without sending it',
    description:
      'The same checks and the same arithmetic as of the request itself, up to the freezing of ' +
      'money; nothing is frozen and nothing leaves the gateway. What is charged in the end ' +
      'follows from what was used, and is in the consumption record.',
    body: z.strictObject({
      path: text(200).describe('Of a paid endpoint of the public API, for example /v1/search.'),
      query: texts,
      headers: texts.describe('Those that the endpoint asks for, by their names in small letters.'),
      body: z.looseObject({}).describe('The JSON body, or the fields of a form.'),
      file: z
        .strictObject({
          bytes: z.int().min(0).describe('How large it is.'),
          head: base64(HEAD_BYTES_MAX).describe('Its first bytes, in base64: 4,096 are enough.'),
          tail: base64(TAIL_BYTES_MAX)
            .default('')
            .describe('Its last bytes, in base64: 65,536 are enough, none where the head is all.'),
        })
        .exactOptional()
        .describe('What the length of a form’s file is read from.'),
    }),
    answer: z.object({
      model: z.string(),
      currency: z.string(),
      free: z.boolean(),
      amount: amount.describe('Frozen before the call: the most that it should come to.'),
      covered: z.boolean().describe('Whether the available balance is enough for it.'),
      price_version: z.string().nullable(),
      lines: z.array(priceLine).describe('They add up to the amount.'),
    }),
    errors: [502],
  },
} as const satisfies Contract
