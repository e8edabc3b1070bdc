/** GET /openapi.json, black box: a valid document, readable from other origins. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { z } from 'zod'
import { openapi } from '../../../server/api/endpoints/reference/openapi-endpoint.ts'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway({ PUBLIC_URL: 'https://gateway.test' })
})
after(() => gateway.stop())

interface Document {
  readonly openapi: string
  readonly info: Readonly<Record<string, object>>
  readonly servers: readonly object[]
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

type Schema = Parameters<typeof z.fromJSONSchema>[0]

interface Media {
  readonly schema: Schema
  readonly example?: unknown
}

interface Body {
  readonly content?: Readonly<Record<string, Media>>
}

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly requestBody?: Body
  readonly responses: Readonly<Record<string, Body>>
}

async function readDocument(): Promise<Document> {
  const answer = await fetch(`${gateway.url}/openapi.json`)
  return JSON.parse(await answer.text())
}

test('200: valid OpenAPI 3.1 with this gateway’s own address', async () => {
  const answer = await fetch(`${gateway.url}/openapi.json`)
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'application/json')
  assert.equal(answer.headers.get('access-control-allow-origin'), '*')
  const document = await readDocument()
  const { valid, errors } = await new Validator().validate({ ...document })
  assert.equal(valid, true, JSON.stringify(errors, null, 2))
  assert.equal(document.openapi, '3.1.0')
  assert.deepEqual(document.servers, [{ url: 'https://gateway.test' }])
})

test('a documented path is served: only unknown ones are 404', async () => {
  const document = await readDocument()
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of Object.keys(item).filter((name) => name !== 'description')) {
      const url = gateway.url + path.replace(/\{\w+\}/g, 'x')
      const answer = await fetch(url, { method: method.toUpperCase() })
      const text = await answer.text()
      assert.ok([200, 400, 401, 403, 404, 426].includes(answer.status), `${method} ${path}`)
      // Payments need a secret of the operator.
      if (!path.endsWith('/top-ups')) assert.doesNotMatch(text, /no such path/, path)
    }
  }
})

// The recommended rules of the two common linters, as far as this document could break them.
test('no warning of a linter: texts, statuses, ids, and examples that obey their schemas', async () => {
  const { info, tags, paths } = await readDocument()
  assert.ok(info.contact && info.license)
  const described = tags.filter(({ description }) => description).map(({ name }) => name)
  const ids = new Set<string>()
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (method === 'description') continue
      const place = `${method} ${path}`
      const { operationId, summary, description, requestBody, responses } = operation
      assert.ok(summary && description, place)
      assert.ok(
        operation.tags.every((tag) => described.includes(tag)),
        `${place}: ${operation.tags}`,
      )
      assert.ok(!ids.has(operationId), operationId)
      ids.add(operationId)
      const statuses = Object.keys(responses)
      assert.ok(
        statuses.some((status) => /^[23]/.test(status)),
        place,
      )
      assert.ok(
        statuses.some((status) => status.startsWith('4')),
        place,
      )
      for (const body of [requestBody, ...Object.values(responses)]) checkExamples(body, place)
    }
  }
  assert.ok(ids.size > 150, `${ids.size} operations`)
})

function checkExamples(body: Body | undefined, place: string): void {
  for (const [type, { schema, example }] of Object.entries(body?.content ?? {})) {
    assert.match(type, /^[\w.+-]+\/[\w.+-]+$/, place)
    if (example === undefined) continue
    const result = z.fromJSONSchema(schema).safeParse(example)
    assert.ok(result.success, `${place}: ${result.error?.message}`)
  }
}

test('every body of a request has an example', async () => {
  const { paths } = await readDocument()
  const bodies = Object.entries(paths).flatMap(([path, item]) =>
    Object.values(item).map(
      (one) => [path, one.requestBody?.content?.['application/json']] as const,
    ),
  )
  const lacking = bodies.filter(([, body]) => body && body.example === undefined)
  assert.deepEqual(
    lacking.map(([path]) => path),
    [],
  )
})

test('405 for other methods', async () => {
  const answer = await fetch(`${gateway.url}/openapi.json`, { method: 'DELETE' })
  assert.equal(answer.status, 405)
})

test('a document that could not be written is written for the next request', async () => {
  let calls = 0
  const services = {
    publicUrl: 'https://gateway.test',
    endpoints() {
      calls += 1
      if (calls === 1) throw new Error('not yet')
      return []
    },
  } as never
  // An answer that has begun takes nothing.
  const context = { response: { headersSent: true } } as never
  await assert.rejects(openapi.handle(context, services), /not yet/)
  await openapi.handle(context, services)
  await openapi.handle(context, services)
  assert.equal(calls, 2)
})
