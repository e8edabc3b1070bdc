/** A field that is null is one that is not set, in every request that takes JSON. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { Endpoint } from '../../server/api/endpoints/endpoint.ts'
import { ENDPOINTS } from '../../server/api/endpoints/index.ts'
import {
  describeRequest,
  type JsonSchema,
  listSchemaMembers,
} from '../../server/api/endpoints/reference/json-schema.ts'
import { isObject, type JsonObject } from '../../server/base/lib/json.ts'
import { dropUnset } from '../../server/work/pipeline/request/unset.ts'
import { startTestGateway, type Tenant, type TestGateway } from '../support/in-process.ts'

const MODELS: Readonly<Record<string, string>> = {
  chat: 'sim-chat',
  embedding: 'sim-embedding',
  moderation: 'sim-moderation',
  speech: 'seed-tts-2.0',
  search: 'vendor-web-search',
  image: 'sim-image',
  video: 'doubao-seedance-2-0-260128',
  minutes: 'service-minutes',
  erase: 'subtitle-erase',
}

interface Case {
  readonly endpoint: Endpoint
  readonly schema: NonNullable<ReturnType<typeof schemaOf>>
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
}

function schemaOf(endpoint: Endpoint) {
  if (endpoint.kind === 'metered') {
    return endpoint.metering.form ? undefined : endpoint.metering.schema
  }
  return endpoint.kind === 'task' ? endpoint.submission.schema : endpoint.documentation.body
}

function modelOf(endpoint: Endpoint): string {
  if (endpoint.kind === 'metered') return MODELS[endpoint.metering.modelTypes[0] ?? ''] ?? ''
  if (endpoint.kind === 'task') return MODELS[endpoint.submission.modelTypes[0] ?? ''] ?? ''
  return 'sim-chat'
}

const CASES: readonly Case[] = ENDPOINTS.flatMap((endpoint) => {
  const schema = schemaOf(endpoint)
  if (!schema) return []
  const example = endpoint.documentation.example?.(modelOf(endpoint))
  const { path = endpoint.paths[0], headers = {}, body } = example ?? {}
  return [{ endpoint, schema, path, headers, body: body as JsonObject }]
})

/** The object, list or neither that a schema allows, whatever else it allows. */
function branches(schema: JsonSchema): readonly JsonSchema[] {
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  return parts.length > 0 ? parts.flatMap((part) => branches(part as JsonSchema)) : [schema]
}

/** `fill` is called for each optional field that an object of the request does not have. */
function walk(
  value: unknown,
  schema: JsonSchema,
  fill: (name: string, schema: JsonSchema) => JsonObject,
): unknown {
  for (const branch of branches(schema)) {
    if (Array.isArray(value) && branch.type === 'array' && typeof branch.items === 'object') {
      return value.map((item) => walk(item, branch.items as JsonSchema, fill))
    }
    if (!isObject(value) || branch.type !== 'object') continue
    const filled: Record<string, unknown> = { ...value }
    for (const member of listSchemaMembers(branch)) {
      if (Object.hasOwn(value, member.name)) {
        filled[member.name] = walk(value[member.name], member.schema, fill)
      } else if (!member.required) {
        Object.assign(filled, fill(member.name, member.schema))
      }
    }
    return filled
  }
  return value
}

/** Empty objects for the optional ones, so that their own fields are reached as well. */
function withObjects(value: JsonObject, schema: JsonSchema): JsonObject {
  return walk(value, schema, (name, member) => {
    const isOpen = branches(member).some((one) => one.type === 'object' && !one.required?.length)
    return isOpen ? { [name]: {} } : ({} as JsonObject)
  }) as JsonObject
}

function withNulls(value: JsonObject, schema: JsonSchema): JsonObject {
  return walk(value, schema, (name) => ({ [name]: null })) as JsonObject
}

const count = (value: unknown): number =>
  value === null
    ? 1
    : typeof value === 'object'
      ? Object.values(value).reduce((sum: number, one) => sum + count(one), 0)
      : 0

test('every endpoint that reads JSON is covered, and most have optional fields', () => {
  assert.ok(CASES.length >= 13)
  const nulls = CASES.map(({ body, schema }) => count(withNulls(body, describeRequest(schema))))
  assert.ok(nulls.filter((found) => found > 0).length >= 11, String(nulls))
})

describe('null in any optional field', () => {
  for (const { endpoint, schema, body } of CASES) {
    test(`${endpoint.paths[0]}: is dropped, and nothing else`, () => {
      const described = describeRequest(schema)
      for (const bare of [body, withObjects(body, described)]) {
        assert.deepEqual(dropUnset(withNulls(bare, described), schema), bare)
        assert.equal(dropUnset(bare, schema), bare)
      }
      const unknown = { ...body, x: { y: null }, list: [null] }
      assert.equal(dropUnset(unknown, schema), unknown)
      assert.deepEqual(dropUnset({ ...unknown, z: null }, schema), unknown)
    })

    test(`${endpoint.paths[0]}: of any JSON, only nulls are dropped`, () => {
      fc.assert(
        fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (odd) => {
          const mixed = { ...body, ...odd } as JsonObject
          const kept = dropUnset(mixed, schema)
          assert.equal(dropUnset(kept, schema), kept)
          for (const [name, member] of Object.entries(mixed)) {
            assert.equal(Object.hasOwn(kept, name), member !== null, name)
          }
        }),
      )
    })
  }
})

describe('a request with null in its optional fields', () => {
  let gateway: TestGateway
  let tenant: Tenant
  before(async () => {
    gateway = await startTestGateway()
    tenant = await gateway.tenant({ balance: '1000' })
  })
  after(() => gateway.stop())

  /** What the request came to, and what the vendor received. */
  async function outcome({ endpoint, path, headers }: Case, body: JsonObject) {
    const since = gateway.simulators.calls.list().at(-1)?.sequence ?? 0
    const answer = await gateway.post(path, tenant.key, body, headers)
    const calls = gateway.simulators.calls.list(since)
    const sent = calls.map(({ url, body_base64: text }) => {
      // The boundary of a form is the id of its request.
      return [
        url,
        Buffer.from(text, 'base64')
          .toString()
          .replace(/form-req_\w+/g, ''),
      ]
    })
    const isPaid = answer.status === 200 && endpoint.kind !== 'account'
    const record = isPaid ? await gateway.record(answer, tenant.key) : undefined
    return {
      status: answer.status,
      error: answer.status === 200 ? undefined : answer.json,
      held: record?.held,
      ...(endpoint.kind === 'metered' ? { sent: String(sent), charged: record?.charged } : {}),
    }
  }

  for (const one of CASES) {
    const { endpoint, schema, body } = one
    test(`${endpoint.paths[0]} costs the same, and reaches the vendor the same`, async () => {
      const described = describeRequest(schema)
      for (const bare of [body, withObjects(body, described)]) {
        const expected = await outcome(one, bare)
        assert.deepEqual(await outcome(one, withNulls(bare, described)), expected)
      }
    })
  }

  test('null in a required field is named as missing', async () => {
    const { key } = tenant
    const post = (path: string, body: object) => gateway.post(path, key, body)
    const chat = await post('/v1/chat/completions', { model: 'sim-chat', messages: null })
    assert.equal(chat.json.error.message, 'messages: required')
    const search = await post('/v1/search', { Type: 'web', Query: null })
    assert.equal(search.json.error, 'Query: required')
    const nameless = await post('/v1/chat/completions', { model: null, messages: [] })
    assert.equal(nameless.json.error.message, 'model field is required')
  })

  test('a limit that is null is no limit: the hold is that of the model', async () => {
    const messages = [{ role: 'user', content: 'Name a river.' }]
    const held = async (body: object) => {
      const answer = await gateway.post('/v1/chat/completions', tenant.key, body)
      return (await gateway.record(answer, tenant.key)).held
    }
    const free = await held({ model: 'sim-chat', messages })
    assert.equal(await held({ model: 'sim-chat', messages, max_tokens: null }), free)
    assert.notEqual(await held({ model: 'sim-chat', messages, max_tokens: 1 }), free)
  })
})
