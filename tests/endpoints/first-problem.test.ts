/** A list of a request is read up to its first wrong entry, however long it is. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { ADMIN_CONTRACT } from '../../server/api/admin/contract.ts'
import type { RouteDeclaration } from '../../server/api/admin/route.ts'
import type { Endpoint } from '../../server/api/endpoints/endpoint.ts'
import { ENDPOINTS } from '../../server/api/endpoints/index.ts'
import { readShape } from '../../server/base/http/check-shape.ts'

/** Lists that are limited to fewer entries are refused by their length. */
const LENGTH = 1_001
const PLAIN = [null, true, -1, 0.5, 1e300, '', 'x', [], {}]

function schemasOf(endpoint: Endpoint): readonly (z.ZodType | undefined)[] {
  const { body } = endpoint.documentation
  if (endpoint.kind === 'metered') return [endpoint.metering.schema, body]
  return endpoint.kind === 'task' ? [endpoint.submission.schema, body] : [body]
}

/** Returns the schema and all schemas inside of it. */
function listInside(root: unknown, found = new Set<z.core.$ZodTypes>()) {
  if (Array.isArray(root)) {
    for (const one of root) listInside(one, found)
    return found
  }
  if (!(root instanceof z.core.$ZodType)) return found
  const schema = root as z.core.$ZodTypes
  if (found.has(schema)) return found
  found.add(schema)
  const { def } = schema._zod
  if (def.type === 'object') listInside(Object.values(def.shape), found)
  if (def.type === 'lazy') listInside(def.getter(), found)
  for (const part of Object.values(def)) listInside(part, found)
  return found
}

/** Returns values of which an entry of that schema may be one, most of them wrong. */
function listEntries(element: z.core.$ZodType): readonly unknown[] {
  const shapes = [...listInside(element)].flatMap(({ _zod: { def } }) => {
    return def.type === 'object' ? [Object.keys(def.shape)] : []
  })
  const lists = PLAIN.map((value) => [value])
  const objects = shapes.flatMap((names) =>
    PLAIN.flatMap((value) => [
      ...names.map((name) => ({ [name]: value })),
      Object.fromEntries(names.map((name) => [name, value])),
    ]),
  )
  return [...PLAIN, ...lists, ...objects]
}

/** Returns how many entries of a list are read before it is refused; 0 if it is not. */
function countReadEntries(schema: z.core.$ZodTypes, entry: unknown): number {
  let count = 0
  const list = new Proxy<unknown[]>(Array(LENGTH).fill(entry), {
    get(target, name) {
      if (/^\d+$/.test(String(name))) count = Math.max(count, Number(name) + 1)
      return Reflect.get(target, name)
    },
  })
  return 'value' in readShape(schema as unknown as z.ZodType, list) ? 0 : count
}

function findReadOn(schema: z.core.$ZodTypes): readonly string[] {
  const { def } = schema._zod
  if (def.type !== 'array') return []
  return listEntries(def.element).flatMap((entry) => {
    const count = countReadEntries(schema, entry)
    return count > 1 ? [`${JSON.stringify(entry)}: ${count} entries are read`] : []
  })
}

describe('lists of requests', () => {
  const declared: readonly RouteDeclaration[] = Object.values(ADMIN_CONTRACT)
  const roots = [...ENDPOINTS.flatMap(schemasOf), ...declared.map(({ body }) => body)]
  const schemas = new Set(roots.flatMap((root) => [...listInside(root)]))

  test('are found', () => {
    const lists = [...schemas].filter(({ _zod: { def } }) => def.type === 'array')
    assert.ok(lists.length > 20, `${lists.length} lists`)
  })

  test('are read up to the first wrong entry', () => {
    assert.deepEqual([...schemas].flatMap(findReadOn), [], 'Give the checks of its entries `abort`')
  })

  test('the first wrong entry is named with its path', () => {
    const schema = z.object({ list: z.array(z.object({ role: z.string() })) })
    const right = { role: 'user' }
    assert.deepEqual(readShape(schema, { list: [right, { role: 1 }, 1] }), {
      param: 'list[1].role',
      problem: 'must be a string',
    })
  })
})
