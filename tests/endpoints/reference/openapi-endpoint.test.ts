/** GET /openapi.json, black box: a valid document, readable from other origins. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway({ PUBLIC_URL: 'https://gateway.test' })
})
after(() => gateway.stop())

interface Document {
  readonly openapi: string
  readonly servers: readonly object[]
  readonly paths: Readonly<Record<string, object>>
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
    for (const method of Object.keys(item)) {
      const url = gateway.url + path.replace(/\{\w+\}/g, 'x')
      const answer = await fetch(url, { method: method.toUpperCase() })
      const text = await answer.text()
      assert.ok([200, 400, 401, 403, 404, 426].includes(answer.status), `${method} ${path}`)
      // Payments need a secret of the operator.
      if (!path.endsWith('/top-ups')) assert.doesNotMatch(text, /no such path/, path)
    }
  }
})

test('405 for other methods', async () => {
  const answer = await fetch(`${gateway.url}/openapi.json`, { method: 'DELETE' })
  assert.equal(answer.status, 405)
})
