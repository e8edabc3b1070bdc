/**
 * Reads `null` as "not set": typed clients write it for each optional field that their caller left
 * out.
 */
import type { ZodType, z } from 'zod'
import { isObject, type JsonObject } from '../../../base/lib/json.ts'

/**
 * Returns the body without the members that are null: all of them at the top, and below it those
 * that the schema makes optional. Returns the same object if there are none. Other nulls inside of
 * members keep their meaning, for example in the JSON schema of a tool.
 */
export function dropUnset(body: JsonObject, schema: ZodType): JsonObject {
  const value = dropInside(body, schema) as JsonObject
  const members = Object.entries(value)
  const set = members.filter(([, member]) => member !== null)
  return set.length === members.length ? value : Object.fromEntries(set)
}

function dropInside(value: unknown, schema: z.core.$ZodType): unknown {
  if (typeof value !== 'object' || value === null || !hasOptional(schema)) return value
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'object':
      return isObject(value) ? dropMembers(value, def.shape) : value
    case 'array':
      return Array.isArray(value) ? dropInItems(value, def.element) : value
    case 'union':
      return def.options.reduce<unknown>((rest, option) => dropInside(rest, option), value)
    case 'optional':
    case 'nullable':
    case 'default':
    case 'catch':
      return dropInside(value, def.innerType)
    case 'pipe':
      return dropInside(value, def.in)
    default:
      return value
  }
}

const HAVE_OPTIONAL = new WeakMap<z.core.$ZodType, boolean>()

/** Returns true if a schema has optional members: long lists of messages have none to look for. */
function hasOptional(schema: z.core.$ZodType): boolean {
  const known = HAVE_OPTIONAL.get(schema)
  if (known !== undefined) return known
  // A recursive schema is visited only once.
  HAVE_OPTIONAL.set(schema, true)
  const found = findOptional((schema as z.core.$ZodTypes)._zod.def)
  HAVE_OPTIONAL.set(schema, found)
  return found
}

function findOptional(def: z.core.$ZodTypes['_zod']['def']): boolean {
  switch (def.type) {
    case 'object':
      return Object.values(def.shape).some((member) => {
        return member._zod.optin === 'optional' || hasOptional(member)
      })
    case 'array':
      return hasOptional(def.element)
    case 'union':
      return def.options.some(hasOptional)
    case 'optional':
    case 'nullable':
    case 'default':
    case 'catch':
      return hasOptional(def.innerType)
    case 'pipe':
      return hasOptional(def.in)
    default:
      return false
  }
}

function dropMembers(value: JsonObject, shape: z.core.$ZodShape): JsonObject {
  const members = Object.entries(value)
  const set = members.flatMap(([name, member]) => {
    const schema = Object.hasOwn(shape, name) ? shape[name] : undefined
    if (!schema) return [[name, member] as const]
    if (member === null && schema._zod.optin === 'optional') return []
    return [[name, dropInside(member, schema)] as const]
  })
  const isSame =
    set.length === members.length && set.every(([, member], at) => member === members[at]?.[1])
  return isSame ? value : Object.fromEntries(set)
}

function dropInItems(items: readonly unknown[], schema: z.core.$ZodType): readonly unknown[] {
  const set = items.map((item) => dropInside(item, schema))
  return set.every((item, at) => item === items[at]) ? items : set
}
