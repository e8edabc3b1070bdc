/** Bodies for examples where a declaration has none: the required members, filled in. */
import type { JsonSchema } from './json-schema.ts'

const PRICES = [{ unit: 'input_token', per: 1_000_000, amount: '2' }]

/** Values by member name, for schemas that accept more strings than make sense. */
const BY_NAME: Readonly<Record<string, unknown>> = {
  amount: '100',
  body: { Type: 'web', Query: 'rivers' },
  channels: [{ preset: 'main', id: 'main', settings: { api_key: 'sk-…' } }],
  code: '123456',
  current_password: 'the old passphrase',
  effective_from: '2027-01-01T00:00:00+08:00',
  email: 'ada@example.com',
  expires_at: '2027-12-31T00:00:00Z',
  from: '2026-11-21T09:00:00Z',
  id: 'AbCdEf0123456789',
  models: ['a-model'],
  name: 'Ada',
  new_password: 'a new passphrase',
  password: 'a long passphrase',
  path: '/v1/search',
  prices: PRICES,
  reason: 'Invoice 2026-118',
  recovery_code: 'k7m2-q9xd-4tzp',
  routes: [{ channel: 'main', costs: PRICES }],
  settings: { base_url: 'https://vendor.example/v1', api_key: 'sk-…' },
  spend_limit: '50',
  to: '2026-11-21T10:00:00Z',
  token: 'a-token-from-the-link',
  type: 'chat',
  upstream: 'a-protocol',
  url: 'https://example.com/hooks/tributary',
}

/** Returns a value of the schema; `name` is the member that it fills. */
export function sampleOf(schema: JsonSchema, name = ''): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.enum?.[0] !== undefined) return schema.enum[0]
  if (name in BY_NAME && takes(schema, BY_NAME[name])) return BY_NAME[name]
  if (schema.default !== undefined && schema.default !== null) return schema.default
  const [variant] = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  if (typeof variant === 'object') return sampleOf(variant, name)
  return sampleOfType(schema, name)
}

function sampleOfType(schema: JsonSchema, name: string): unknown {
  if (schema.type === 'object') return sampleOfObject(schema)
  if (schema.type === 'array') {
    const { items } = schema
    return typeof items === 'object' && !Array.isArray(items) ? [sampleOf(items, name)] : []
  }
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  if (schema.type === 'boolean') return true
  return 'AbCdEf0123456789'
}

/** An object without required members gets its first member. */
function sampleOfObject({ properties = {}, required = [] }: JsonSchema): unknown {
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1)
  return Object.fromEntries(
    names.map((name) => {
      const member = properties[name]
      return [name, sampleOf(typeof member === 'object' ? member : {}, name)]
    }),
  )
}

/** Compares types only, with those of items and of a schema's variants too. */
function takes(schema: JsonSchema, value: unknown): boolean {
  const variants = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  if (variants.length > 0)
    return variants.some((one) => typeof one === 'object' && takes(one, value))
  if (schema.type === undefined) return true
  const { type, items } = schema
  if (!Array.isArray(value)) return type === typeof value
  const takesItem = (one: unknown) => typeof items !== 'object' || takes(items as JsonSchema, one)
  return type === 'array' && value.every(takesItem)
}
