/**
 * Codecs between a row of the database and its JSON. A schema that is made of them is the type of
 * the row (`z.output`), the type of the JSON (`z.input`), the reference, and the encoder, which
 * drops columns that the schema does not name.
 */
import { z } from 'zod'
import { formatAmount, parseAmount } from '../../base/lib/money.ts'

/** The row that a schema declares and encodes. */
export type SchemaRow<Schema extends z.ZodType> = Unchanged<z.output<Schema>>

type Unchanged<Value> = Value extends Date
  ? Value
  : Value extends object
    ? { readonly [Name in keyof Value]: Unchanged<Value[Name]> }
    : Value

/**
 * Bounds and formats are checked on input only, since stored values may be older. The types omit
 * this option.
 */
const ENCODING = { jitless: false, skipChecks: true }

/** Returns the JSON of a row. Throws if a member is missing or of another type. */
export function encode<Schema extends z.ZodType>(
  schema: Schema,
  row: SchemaRow<Schema>,
): z.input<Schema> {
  return schema.encode(row as z.output<Schema>, ENCODING)
}

/** An amount: nano-units in a row, a decimal in JSON. */
export const decimalAmount = z.codec(z.string(), z.bigint(), {
  decode: (text) => parseAmount(text) ?? 0n,
  encode: formatAmount,
})

const FIRST = new Date('1970-01-01T00:00:00.000Z')
const LAST = new Date('9999-12-31T23:59:59.999Z')
const YEARS = 'must be a time between the years 1970 and 9999'

/** A day or a time. Date alone takes 30 February for 2 March, and 5 for a day of 2001. */
const ISO_TIME = z.union([z.iso.date(), z.iso.datetime({ local: true, offset: true })])
const NO_TIME = 'must be a time such as 2030-12-31 or 2030-12-31T08:00:00Z'
/** A time without a zone, which Date would read in that of this machine. */
const WITHOUT_ZONE = /T[\d:.]+$/

/** A time in a request: a day is its beginning, and a time without a zone is one of UTC. */
export const givenTime = z.codec(
  z
    .string()
    .refine((text) => ISO_TIME.safeParse(toIso(text)).success, NO_TIME)
    .meta({ format: 'date-time' }),
  z.date().min(FIRST, YEARS).max(LAST, YEARS),
  {
    decode: (text) => new Date(WITHOUT_ZONE.test(toIso(text)) ? `${toIso(text)}Z` : toIso(text)),
    encode: (date) => date.toISOString(),
  },
)

/**
 * Python and databases write a space between day and time, and an address has one for each plus
 * sign that its writer did not encode.
 */
function toIso(text: string): string {
  return text
    .replace(/^(\d{4}-\d{2}-\d{2}) (?=\d)/, '$1T')
    .replace(/(T[\d:.]+) (?=\d\d:\d\d$)/, '$1+')
}

/** The same in the one form of JSON. */
export const timestamp = z.iso.datetime().refine((text) => {
  const at = new Date(text)
  return at >= FIRST && at <= LAST
}, YEARS)

export const time = z.codec(timestamp, z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
})

/** A time of Unix seconds in JSON. */
export const unixTime = z.codec(z.int(), z.date(), {
  decode: (seconds) => new Date(seconds * 1000),
  encode: (date) => Math.floor(date.getTime() / 1000),
})

/** A time in stored JSON, as the database writes it. */
export const storedTime = z.codec(z.iso.datetime(), z.string(), {
  decode: (text) => text,
  encode: (stored) => new Date(stored).toISOString(),
})

/** Bytes that are stored in base64 and shown as text. */
export const base64Text = z.codec(z.string(), z.string(), {
  decode: (text) => Buffer.from(text).toString('base64'),
  encode: (stored) => Buffer.from(stored, 'base64').toString('utf8'),
})

/** A number that the database counts in 64 bits. */
export const count = z.codec(z.int(), z.bigint(), { decode: BigInt, encode: Number })

/** A database number that identifies something; a string in JSON. */
export const serial = z.codec(z.string(), z.bigint(), { decode: BigInt, encode: String })

/** A member that is null in a row and absent from the JSON. */
export const unlessNull = <Member extends z.ZodType>(member: Member) =>
  z.codec(member.optional(), z.unknown() as z.ZodType<z.output<Member> | null>, {
    decode: (value) => (value ?? null) as never,
    encode: (value) => (value ?? undefined) as never,
  })

/** Returns the items of a stored list that fit a schema; older forms may not. */
export function readEach<Item extends z.ZodType>(item: Item, stored: unknown): z.output<Item>[] {
  if (!Array.isArray(stored)) return []
  return stored.flatMap((one) => {
    const read = item.safeParse(one)
    return read.success ? [read.data] : []
  })
}

/** A list that is stored as JSON. Only the items that `stored` accepts are shown. */
export const storedList = <Item extends z.ZodType>(
  item: Item,
  stored: z.ZodType<z.output<Item>> = item as z.ZodType<z.output<Item>>,
) =>
  z.codec(z.array(item), z.unknown(), {
    decode: (items) => items,
    encode: (value) => readEach(stored, value),
  })

/** One page of a list; `next_cursor` is null on the last one. */
export const page = <Row extends z.ZodType>(row: Row) =>
  z.object({ data: z.array(row), next_cursor: z.string().nullable() })
