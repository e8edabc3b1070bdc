/** Tables of fields: a flattened schema, in the notation of error messages. */
import { type JsonSchema, listSchemaMembers } from '../json-schema.ts'
import { type Html, html, prose } from './html.ts'

interface Field {
  readonly path: string
  readonly required: boolean
  readonly schema: JsonSchema
}

/** Enums with up to this many values are shown as the type; longer ones as a rule beside it. */
const ENUM_NAMED_MAX = 3

/** Deeper fields are only in the OpenAPI document. */
const DEPTH_MAX = 4

/** Lists one row per field: `messages`, `messages[].role`, … */
export function listFields(schema: JsonSchema, prefix = '', depth = 0): Field[] {
  if (depth >= DEPTH_MAX) return []
  return listSchemaMembers(schema).flatMap(({ name, required, schema: member }) => {
    const path = prefix + name
    return [{ path, required, schema: member }, ...listInside(member, path, depth + 1)]
  })
}

function listInside(schema: JsonSchema, path: string, depth: number): Field[] {
  const inside = alternatives(schema).find(({ properties }) => properties !== undefined)
  if (inside) return listFields(inside, `${path}.`, depth)
  const list = alternatives(schema).find(({ type }) => type === 'array')
  const item = list?.items
  if (typeof item !== 'object' || Array.isArray(item)) return []
  return listInside(item, `${path}[]`, depth)
}

/** Returns the members of a union, or the schema itself. */
function alternatives(schema: JsonSchema): JsonSchema[] {
  const some = schema.anyOf ?? schema.oneOf
  return some ? some.filter((one) => typeof one === 'object') : [schema]
}

/** Returns, for example, `string`, `integer or null`, `object[]` or `"web" or "global"`. */
function nameType(schema: JsonSchema): string {
  const names = alternatives(schema).flatMap(nameOne)
  return [...new Set(names)].join(' or ') || 'any'
}

function nameOne(schema: JsonSchema): string[] {
  if (schema.const !== undefined) return [JSON.stringify(schema.const)]
  if (schema.enum && schema.enum.length <= ENUM_NAMED_MAX) {
    return schema.enum.map((value) => JSON.stringify(value))
  }
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? [])
  return types.map((type) => (type === 'array' ? `${nameItems(schema)}[]` : type))
}

function nameItems({ items }: JsonSchema): string {
  if (typeof items !== 'object' || Array.isArray(items)) return 'any'
  const name = nameType(items)
  return name.includes(' or ') ? `(${name})` : name
}

/** Describes the rules beyond the type, for display. */
function describeRules(schema: JsonSchema): string[] {
  const rules = alternatives(schema).flatMap((one) => [
    ...choices(one),
    ...lengths(one.minLength, one.maxLength, 'character'),
    ...lengths(one.minItems, one.maxItems, 'item'),
    ...range(one),
    ...(one.format === 'date-time' ? ['ISO 8601'] : []),
  ])
  const missing = schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]
  return [...new Set([...rules, ...missing])]
}

function choices({ enum: values = [] }: JsonSchema): string[] {
  if (values.length <= ENUM_NAMED_MAX) return []
  return [`one of ${values.map((value) => JSON.stringify(value)).join(', ')}`]
}

function lengths(least: number | undefined, most: number | undefined, what: string): string[] {
  if (least === 1 && most === undefined) return ['not empty']
  return between(least, most, (count) => ` ${what}${count === 1 ? '' : 's'}`)
}

function range(schema: JsonSchema): string[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  const isWhole = schema.type === 'integer' && typeof exclusiveMinimum === 'number'
  const least = isWhole ? exclusiveMinimum + 1 : minimum
  const over = isWhole || exclusiveMinimum === undefined ? [] : [`over ${exclusiveMinimum}`]
  const below = exclusiveMaximum === undefined ? [] : [`below ${exclusiveMaximum}`]
  return [...between(least, maximum, () => ''), ...over, ...below]
}

function between(
  least: number | undefined,
  most: number | undefined,
  unit: (count: number) => string,
): string[] {
  const write = (count: number) => count.toLocaleString('en')
  if (least !== undefined && most !== undefined) {
    return [`${write(least)} to ${write(most)}${unit(most)}`]
  }
  if (most !== undefined) return [`at most ${write(most)}${unit(most)}`]
  return least === undefined ? [] : [`at least ${write(least)}${unit(least)}`]
}

/** Allows line breaks after the dots and underscores of a path. */
function breakable(path: string): Html {
  const [first, ...rest] = path.split(/(?<=[._])/)
  return html`${first}${rest.map((part) => html`<wbr>${part}`)}`
}

/** Renders a table of fields. `marks` shows which are required. */
export function fieldTable(fields: readonly Field[], marks: boolean): Html {
  const rows = fields.map(({ path, required, schema }) => {
    const rules = describeRules(schema)
    const mark = marks && required ? html` <span class="required">required</span>` : undefined
    return html`<tr>
<td><code>${breakable(path)}</code>${mark}</td>
<td class="type">${nameType(schema)}</td>
<td>${schema.description === undefined ? undefined : prose(schema.description)}
${rules.map((rule) => html` <span class="rule">${rule}</span>`)}</td>
</tr>`
  })
  return html`<table class="fields">
<thead><tr><th>Field</th><th>Type</th><th>Meaning</th></tr></thead>
<tbody>${rows}</tbody>
</table>`
}
