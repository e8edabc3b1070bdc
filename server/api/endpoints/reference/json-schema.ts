/** Converts the schemas that validate requests to JSON Schema. */
import { z } from 'zod'

export type JsonSchema = z.core.JSONSchema.BaseSchema

type Side = 'request' | 'answer'

/** Anybody may ask for the reference, and each conversion takes milliseconds: it is done once. */
const converted: Readonly<Record<Side, WeakMap<z.ZodType, JsonSchema>>> = {
  request: new WeakMap(),
  answer: new WeakMap(),
}

/** Returns the schema of a request, with the defaults of absent fields. It is not to be changed. */
export function describeRequest(schema: z.ZodType): JsonSchema {
  return describe(schema, 'request')
}

/** Returns the schema of an answer's JSON: of a codec, its input. It is not to be changed. */
export function describeAnswer(schema: z.ZodType): JsonSchema {
  return describe(schema, 'answer')
}

function describe(schema: z.ZodType, of: Side): JsonSchema {
  const known = converted[of].get(schema)
  if (known) return known
  const described = convert(schema, of)
  converted[of].set(schema, described)
  return described
}

function convert(schema: z.ZodType, of: Side): JsonSchema {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod
      if (def.type === 'date') {
        jsonSchema.type = 'string'
        jsonSchema.format = 'date-time'
      }
      // An answer has no members but these.
      if (of === 'answer' && def.type === 'object') jsonSchema.additionalProperties ??= false
      if (of === 'answer' && isWhole(zodSchema)) putLast(jsonSchema, 'description')
      tidy(jsonSchema)
    },
  })
  return described
}

/** A type of its own: an object, or a codec of a member that is always there. */
function isWhole({ _zod: { def, optin } }: z.core.$ZodType): boolean {
  return def.type === 'object' || (def.type === 'pipe' && optin === undefined)
}

function putLast(schema: JsonSchema, name: keyof JsonSchema): void {
  const { [name]: value } = schema
  if (value === undefined) return
  delete schema[name]
  schema[name] = value
}

/** Drops redundant members: the bounds of safe integers, and the pattern of a named format. */
function tidy(schema: JsonSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.format !== undefined) delete schema.pattern
  const more = schema.additionalProperties
  const isAnything = typeof more === 'object' && Object.keys(more).length === 0
  if (isAnything) schema.additionalProperties = true
}

/** Returns the members of an object's schema, in order. */
export function listSchemaMembers(
  schema: JsonSchema,
): { readonly name: string; readonly required: boolean; readonly schema: JsonSchema }[] {
  const required = new Set(schema.required ?? [])
  return Object.entries(schema.properties ?? {}).map(([name, member]) => {
    const described: JsonSchema = typeof member === 'object' ? member : {}
    const isRequired = required.has(name) && described.default === undefined
    return { name, required: isRequired, schema: described }
  })
}
