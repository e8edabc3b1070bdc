/** The schema of the price lists of a catalog file. */
import { z } from 'zod'
import { BASE } from '../list.ts'
import { formatFactor, parseFactor } from '../price/factor.ts'
import { currency, entrySource, modelId, name, prices } from '../price/price-schema.ts'

/** The word that removes an account's list. */
const NO_LIST = 'none'

const listId = name(
  /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/,
  'must be 1 to 64 letters, digits, ".", "_", ":" or "-"',
)

const factor = z
  .string('must be a decimal string, for example "1.15"')
  .refine((text) => parseFactor(text) !== undefined, {
    error: 'must be a decimal of at most 6 digits before and after the point, for example "1.15"',
  })
  .transform((text) => formatFactor(parseFactor(text) ?? 0n))

const rule = z.strictObject({ of: z.enum(['parent', 'cost']), factor })

const explicit = prices.min(1, 'needs a price')

const entry = z.union([explicit, rule, z.literal('hidden')], {
  error: 'must be a list of prices, {"of": "parent" or "cost", "factor": "1.15"} or "hidden"',
})

const forAll = z.union([rule, z.literal('hidden')], {
  error: 'must be {"of": "parent" or "cost", "factor": "1.15"} or "hidden"',
})

/** Times with other years are not sorted as texts, and the database does not read them. */
const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')

export const moment = z.iso
  .datetime({
    offset: true,
    error: 'must be a time with a zone, for example "2027-01-01T00:00:00+08:00"',
  })
  .refine((text) => !(Date.parse(text) < FIRST_MS || Date.parse(text) > LAST_MS), {
    error: 'must be in the years 0 to 9999 of UTC',
  })
  .transform((text) => new Date(text).toISOString())

const entries = z.record(modelId, entry).default({})

const plan = z
  .strictObject({
    from: moment,
    until: moment.optional(),
    default: forAll.optional(),
    prices: entries,
  })
  .refine(({ from, until }) => until === undefined || from < until, {
    path: ['until'],
    error: 'must be after the start',
  })
  .refine(({ prices: named, default: rest }) => Object.keys(named).length > 0 || rest, {
    path: ['prices'],
    error: 'needs an entry, or a "default"',
  })

/** The rules of a list, without its place among the lists. */
const listDefinition = z.strictObject({
  default: forAll.optional(),
  prices: entries,
  planned_prices: z.array(plan).max(50).optional(),
})

export const priceList = listDefinition
  .extend({
    id: listId.refine((id) => id !== BASE && id !== NO_LIST, {
      error: `must not be "${BASE}", which names the base prices, or "${NO_LIST}"`,
    }),
    currency: currency.optional(),
    parent: listId.default(BASE),
    /** The account whose own list this is. */
    account: z
      .string()
      .regex(/^acct_[A-Za-z0-9]{1,100}$/, 'must be the id of an account')
      .optional(),
    /** Overrides the file's own, in an export. */
    source: entrySource.optional(),
  })
  .refine(({ account, parent }) => account === undefined || parent === BASE, {
    path: ['parent'],
    error: 'cannot be combined with "account": the account’s list is the parent of its own prices',
  })
