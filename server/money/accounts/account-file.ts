/** Accounts and keys as a configuration file names them: limits and key hashes, never balances. */

import { z } from 'zod'
import { problemOfTags } from '../../base/lib/call-labels.ts'
import { type CallLimits, eachLimit } from '../../base/lib/kinds-and-states.ts'
import { type Nanos, parseAmount } from '../../base/lib/money.ts'
import { NETWORK_PROBLEM, readNetworks } from '../../base/lib/networks.ts'

const count = z.int().min(1)
const limits = z
  .strictObject(eachLimit(count.optional()))
  .transform((found) => found as CallLimits)
  .default({})

const amount = z
  .string()
  .refine((text) => (parseAmount(text) ?? -1n) >= 0n, {
    error: 'must be a decimal of at most 9 digits before and after the point, for example "0.15"',
  })
  .transform((text): Nanos => parseAmount(text) ?? 0n)

const time = z.iso
  .datetime({ offset: true, error: 'must be a time with a zone' })
  .transform((text) => new Date(text))

const idOf = (prefix: string) =>
  z.string().regex(/^[a-z]+_[A-Za-z0-9]{1,100}$/, `must be an id such as "${prefix}_a1b2"`)

const tags = z
  .array(z.string())
  .refine((list) => problemOfTags(list) === undefined, {
    error: 'must be at most 8 tags of 1 to 64 characters, without commas, quotes and brackets',
  })
  .transform((list) => [...new Set(list)])
  .default([])

const allowedIps = z
  .array(z.string())
  .transform((list, context) => {
    try {
      return readNetworks(list)
    } catch (error) {
      context.addIssue(error instanceof RangeError ? error.message : NETWORK_PROBLEM)
      return z.NEVER
    }
  })
  .default([])

const key = z.strictObject({
  id: idOf('key'),
  name: z.string().max(200).default(''),
  hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of the key: 64 hexadecimal digits')
    .describe('SHA-256 of the whole key.'),
  display: z.string().max(40).default('tr-…'),
  models: z.array(z.string().min(1)).max(1000).nullable().default(null),
  limits,
  allowed_ips: allowedIps,
  spend_limit: amount.nullable().default(null),
  expires_at: time.nullable().default(null),
  disabled: z.boolean().default(false),
  replaced_by: idOf('key').nullable().default(null),
  tags,
  allow_tags: z.boolean().default(false),
  required_tags: tags,
  cost_in_answers: z.boolean().default(false),
})

const account = z.strictObject({
  id: idOf('acct'),
  name: z.string().min(1).max(200),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be three capital letters')
    .default('CNY'),
  status: z.enum(['active', 'suspended']).default('active'),
  limits,
  allowed_ips: allowedIps,
  stored_bytes_max: z.int().min(0).nullable().default(null),
  keeps_prompts: z.boolean().default(true),
  low_balance_at: amount.nullable().default(null),
  /** Absent: the account keeps its list; null: the base prices. */
  price_list: z.string().min(1).max(64).nullable().optional(),
  keys: z.array(key).max(10_000).default([]),
})

/** The `accounts` of a configuration file. */
export const accountsFile = z.array(account).max(100_000)

export type FileAccount = z.output<typeof account>
export type FileKey = z.output<typeof key>
