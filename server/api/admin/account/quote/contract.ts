/** The highest possible charge of a request, before it is sent. */
import { z } from 'zod'
import { priceLine } from '../../../endpoints/account/usage-schemas.ts'
import { amount, serial, text } from '../../common-schemas.ts'
import type { Contract } from '../../route.ts'

const FIELDS_MAX = 20

const HEAD_BYTES_MAX = 4096
const TAIL_BYTES_MAX = 65_536

const base64 = (bytesMax: number) => z.base64().max(Math.ceil(bytesMax / 3) * 4)

const texts = z
  .record(text(200), text(200))
  .refine((fields) => Object.keys(fields).length <= FIELDS_MAX, `at most ${FIELDS_MAX}`)
  .default({})

export const quoteContract = {
  'POST /accounts/:account_id/quote': {
    role: 'member',
    isRead: true,
    tag: 'Console: models',
    summary: 'Quote a request without sending it',
    description:
      'Runs the checks and the pricing of the request itself, up to the hold. Nothing is ' +
      'held and nothing is sent upstream. The final charge follows from actual usage and ' +
      'is in the usage record.',
    body: z.strictObject({
      path: text(200).describe(
        'Path of a paid endpoint of the public API, for example /v1/search.',
      ),
      query: texts,
      headers: texts.describe('Headers that the endpoint reads, with lower-case names.'),
      body: z.looseObject({}).describe('The JSON body, or the fields of a form.'),
      file: z
        .strictObject({
          bytes: z.int().min(0).describe('Size of the file.'),
          head: base64(HEAD_BYTES_MAX).describe('Its first bytes, in base64: 4,096 are enough.'),
          tail: base64(TAIL_BYTES_MAX)
            .default('')
            .describe(
              'Its last bytes, in base64: 65,536 are enough, none if the head is the whole file.',
            ),
        })
        .exactOptional()
        .describe('The parts of a form’s file that its length is read from.'),
    }),
    answer: z.object({
      model: z.string(),
      currency: z.string(),
      free: z.boolean(),
      amount: amount.describe('The hold: the most that the call is expected to cost.'),
      covered: z.boolean().describe('true if the available balance covers it.'),
      price_version: serial.nullable(),
      lines: z.array(priceLine).describe('Lines that add up to the amount.'),
    }),
    errors: [502],
  },
} as const satisfies Contract
