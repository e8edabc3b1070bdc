import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { ENDPOINTS } from '../../../server/api/endpoints/index.ts'
import { buildOpenapi } from '../../../server/api/endpoints/reference/openapi.ts'
import { describeEndpoint } from '../../../server/api/endpoints/reference/operation.ts'
import { MEANINGS } from '../../../server/api/endpoints/reference/statuses.ts'
import { toTemplate } from '../../../server/api/endpoints/serving.ts'
import { responsesSocket } from '../../../server/api/endpoints/text/socket/responses-socket.ts'
import { ERRORS } from '../../../server/base/lib/errors.ts'
import { describeAll, MODEL, PUBLIC_URL } from './support.ts'

interface Described {
  readonly operationId: string
  readonly security: readonly object[]
  readonly parameters?: readonly { readonly in: string; readonly name: string }[]
  readonly responses: Readonly<Record<string, object>>
}

type Paths = Readonly<Record<string, Readonly<Record<string, Described>>>>

const document = buildOpenapi({ operations: describeAll(), publicUrl: PUBLIC_URL })
const paths = (document as { paths: Paths }).paths
const operations = Object.values(paths)
  .flatMap((item) => Object.values(item))
  .filter((one) => typeof one === 'object')

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const copy = JSON.parse(JSON.stringify(document))
    const { valid, errors } = await new Validator().validate(copy)
    assert.equal(valid, true, JSON.stringify(errors, null, 2))
  })

  test('has every path and method of every endpoint', () => {
    for (const endpoint of ENDPOINTS) {
      const { method, paths: own } = endpoint
      for (const path of own) {
        const template = toTemplate(path)
        const isCall = endpoint !== responsesSocket
        assert.ok(paths[template]?.[isCall ? method.toLowerCase() : 'description'], template)
      }
    }
  })

  test('names each operation once', () => {
    const ids = operations.map(({ operationId }) => operationId)
    assert.deepEqual([...new Set(ids)], ids)
  })

  test('requires a key, and lists 401, exactly for endpoints that need one', () => {
    for (const endpoint of ENDPOINTS) {
      const { kind, method, paths: own } = endpoint
      if (endpoint === responsesSocket) continue
      const template = toTemplate(own[0])
      const described = paths[template]?.[method.toLowerCase()]
      assert.equal(described?.security.length, kind === 'plain' ? 0 : 2, own[0])
      assert.equal('401' in (described?.responses ?? {}), kind !== 'plain', own[0])
    }
  })

  test('declares each parameter of each path', () => {
    for (const [path, item] of Object.entries(paths)) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
      for (const one of Object.values(item)) {
        if (typeof one !== 'object') continue
        const { parameters = [] } = one
        const declared = parameters.filter((one) => one.in === 'path').map(({ name }) => name)
        assert.deepEqual(declared, names, path)
      }
    }
  })
})

describe('the reference', () => {
  test('explains every status of the error table, and no other', () => {
    const statuses = new Set(Object.values(ERRORS).map(({ status }) => status))
    assert.deepEqual(
      Object.keys(MEANINGS).map(Number),
      [...statuses].sort((a, b) => a - b),
    )
  })

  test('documents only errors of the table', () => {
    const known = new Set<number>(Object.values(ERRORS).map(({ status }) => status))
    for (const endpoint of ENDPOINTS) {
      const { errors } = describeEndpoint(endpoint)
      for (const status of errors) assert.ok(known.has(status), endpoint.paths[0])
    }
  })

  test('shows only requests that pass their own checks', () => {
    for (const endpoint of ENDPOINTS) {
      if (endpoint.kind !== 'metered') continue
      const example = endpoint.documentation.example?.(MODEL)
      assert.ok(example, `${endpoint.paths[0]} has no example`)
      const result = endpoint.metering.schema.safeParse(example.body ?? example.form)
      assert.ok(result.success, `${endpoint.paths[0]}: ${result.error?.message}`)
    }
  })

  test('shows only answers of the documented shape', () => {
    for (const { paths: own, documentation } of ENDPOINTS) {
      const answer = documentation.example?.(MODEL).answer
      if (answer === undefined) continue
      const result = documentation.answer?.safeParse(answer)
      assert.ok(result?.success, `${own[0]}: ${result?.error?.message}`)
    }
  })
})
