/** Converts the schemas that validate requests to JSON Schema. */
import { z } from 'zod'

export type JsonSchema = z.core.JSONSchema.BaseSchema

/** Returns the schema of a request, with the defaults of absent fields. */
export function describeRequest(schema: z.ZodType): JsonSchema {
  return convert(schema, 'input')
}

export function describeAnswer(schema: z.ZodType): JsonSchema {
  return convert(schema, 'output')
}

function convert(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...described } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === 'date') {
        jsonSchema.type = 'string'
        jsonSchema.format = 'date-time'
      }
      tidy(jsonSchema)
    },
  })
  return described
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
