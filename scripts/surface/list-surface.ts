/**
 * What scripts, SDKs and configurations of others stand on, one line each: paths and members of
 * the two APIs, fields of a catalog file, commands and options, settings and metrics. A line that
 * begins with `needs` names what a request cannot do without.
 */
import { Command } from 'commander'
import { loadCommands } from '../../bin/lib/commands.ts'
import { listVariables } from '../../server/api/config/config.ts'
import {
  describeRequest,
  type JsonSchema,
} from '../../server/api/endpoints/reference/json-schema.ts'
import { listMetrics } from '../../server/api/metrics/metrics.ts'
import { catalogFile } from '../../server/money/catalog/apply/file-schema.ts'

/** Deeper members are a vendor's, or one's own again. */
const DEPTH_MAX = 6

interface Operation {
  readonly parameters?: readonly {
    readonly in: string
    readonly name: string
    readonly required?: boolean
  }[]
  readonly requestBody?: { readonly content?: Contents }
  readonly responses?: Readonly<Record<string, { readonly content?: Contents }>>
}

type Contents = Readonly<Record<string, { readonly schema?: JsonSchema }>>

/** An OpenAPI document, as far as it is read. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const NEEDS = 'needs '
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

/** Returns the lines in their order, each once. */
export async function listSurface(document: ApiDocument): Promise<string[]> {
  const lines = [
    ...listOperations(document),
    'catalog',
    ...listMembers('catalog', describeRequest(catalogFile)),
    ...(await listCommands()),
    ...listVariables().map(({ name }) => `setting ${name}`),
    ...listMetrics().map(({ name, labels }) => `metric ${name}{${labels.join(',')}}`),
  ]
  return [...new Set(lines)].sort()
}

function* listOperations({ paths }: ApiDocument): Generator<string> {
  for (const [path, item] of Object.entries(paths)) {
    for (const method of METHODS) {
      const operation = item[method]
      if (!operation) continue
      const name = `${method.toUpperCase()} ${path}`
      yield name
      yield* listParameters(name, operation)
      for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
        if (schema) yield* listMembers(`${name} <-`, schema)
      }
      for (const [status, { content = {} }] of Object.entries(operation.responses ?? {})) {
        if (!status.startsWith('2')) continue
        for (const { schema } of Object.values(content)) {
          if (schema) yield* listMembers(`${name} ->`, { ...schema, required: [] })
        }
      }
    }
  }
}

function* listParameters(name: string, { parameters = [] }: Operation): Generator<string> {
  for (const { in: place, name: parameter, required = false } of parameters) {
    if (place === 'path') continue
    yield `${name} ${place} ${parameter}`
    if (required) yield `needs ${name} ${place} ${parameter}`
  }
}

/** Lists the members of a schema, whichever of its alternatives has them. */
function* listMembers(place: string, schema: JsonSchema, depth = 0): Generator<string> {
  const isAnswer = place.includes(' ->')
  if (depth > DEPTH_MAX) return
  const { properties = {}, required = [], items, anyOf, oneOf, allOf } = schema
  for (const [name, member] of Object.entries(properties)) {
    const path = `${place}${depth === 0 ? ' ' : '.'}${name}`
    yield path
    const hasDefault = typeof member === 'object' && member.default !== undefined
    if (required.includes(name) && !hasDefault && !isAnswer) yield `needs ${path}`
    if (typeof member === 'object') yield* listMembers(path, member, depth + 1)
  }
  for (const item of [items].flat()) {
    if (typeof item === 'object') yield* listMembers(`${place}[]`, item, depth + 1)
  }
  // What only one alternative needs, nobody needs.
  for (const one of [...(anyOf ?? []), ...(oneOf ?? [])]) {
    if (typeof one === 'object') yield* listMembers(place, { ...one, required: [] }, depth)
  }
  for (const one of allOf ?? []) if (typeof one === 'object') yield* listMembers(place, one, depth)
}

async function listCommands(): Promise<string[]> {
  const program = new Command('tributary')
  for (const add of await loadCommands(undefined)) add(program)
  return program.commands.flatMap((command) => [...listCommand(command, 'tributary')])
}

function* listCommand(command: Command, parent: string): Generator<string> {
  const name = `${parent} ${command.name()}`
  yield name
  for (const [index, { required }] of command.registeredArguments.entries()) {
    if (required) yield `needs ${name} argument-${index + 1}`
  }
  for (const { long, mandatory, required } of command.options) {
    // An option that takes a value is another than one that takes none.
    yield `${name} ${long}${required ? ' VALUE' : ''}`
    if (mandatory) yield `needs ${name} ${long}`
  }
  for (const one of command.commands) yield* listCommand(one, name)
}

/** Returns what of a recorded surface is gone, and what requests need that they did not need. */
export function compareSurfaces(
  recorded: readonly string[],
  current: readonly string[],
): { readonly gone: readonly string[]; readonly needed: readonly string[] } {
  const [before, now] = [new Set(recorded), new Set(current)]
  const gone = recorded.filter((line) => !line.startsWith(NEEDS) && !now.has(line))
  const needed = current.filter((line) => {
    // What is new as a whole may need what it likes.
    return line.startsWith(NEEDS) && !before.has(line) && before.has(ownerOf(line))
  })
  return { gone, needed }
}

/** Returns the line of the operation, object or command that needs something. */
function ownerOf(line: string): string {
  const place = line.slice(NEEDS.length).replace(/[. ][^. ]+$/, '')
  return place.replace(/(?: query| header| <-|(?:\[\])+)$/, '')
}
