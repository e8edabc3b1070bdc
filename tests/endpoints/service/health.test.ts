/** GET /healthz, /readyz and the probes of clients, black box. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

test('200 while alive and ready, without a key', async () => {
  for (const path of ['/healthz', '/readyz', '/api/hello']) {
    const response = await gateway.fetch(path, {})
    assert.equal(response.status, 200, path)
    assert.match(response.headers.get('x-request-id') ?? '', /^req_/)
    await response.text()
  }
})

test('HEAD is answered as GET, without a body', async () => {
  const response = await gateway.fetch('/api/hello', { method: 'HEAD' })
  assert.equal(response.status, 200)
  assert.equal(await response.text(), '')
})

test('404 for an unknown path', async () => {
  const response = await gateway.fetch('/v1/nothing', {})
  assert.equal(response.status, 404)
  const error = 'no such path: GET /docs lists all'
  assert.deepEqual(await response.json(), { error, type: 'not_found_error' })
})
