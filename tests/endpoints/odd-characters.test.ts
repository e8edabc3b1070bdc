/** U+0000, unpaired surrogates and names of prototypes in any input: no request causes a 500. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startTestGateway, type Tenant, type TestGateway } from '../support/in-process.ts'

const ODD = '\0\ud83d'

describe('odd characters', () => {
  let gateway: TestGateway
  let tenant: Tenant
  before(async () => {
    gateway = await startTestGateway({ ALLOW_PRIVATE_TARGETS: 'true' })
    tenant = await gateway.tenant()
  })
  after(() => gateway.stop())

  const PATHS: readonly (readonly [path: string, status: number])[] = [
    ['/v1/webhooks/deliveries/%00', 404],
    ['/v1/webhooks/deliveries?task_id=%00', 200],
    ['/v1/files?purpose=%00', 200],
    ['/v1/files/%00', 404],
    ['/v1/tasks/%00/timeline', 404],
    ['/v1/usage?model=%00', 200],
    ['/v1/gallery?model=%00', 200],
    ['/v1/contents/generations/tasks?filter.task_ids=%00', 200],
  ]
  for (const [path, status] of PATHS) {
    test(`GET ${path}`, async () => {
      assert.equal((await gateway.get(path, tenant.key)).status, status)
    })
  }

  test('a delivery to send again', async () => {
    const path = '/v1/webhooks/deliveries/%00/redeliver'
    assert.equal((await gateway.post(path, tenant.key, {})).status, 404)
  })

  test('members with the names of what every object has', async () => {
    const messages = [{ role: 'user', content: 'hi' }]
    const odd = { toString: 2, valueOf: null, constructor: 1 }
    for (const [path, input] of [
      ['chat/completions', { messages }],
      ['completions', { prompt: 'hi' }],
      ['messages', { messages, max_tokens: 5 }],
      ['responses', { input: 'hi' }],
    ] as const) {
      const body = { model: 'sim-chat', ...input, service_tier: odd }
      const headers = { 'vendor-version': '2023-06-01' }
      const answer = await gateway.post(`/v1/${path}`, tenant.key, body, headers)
      assert.equal(answer.status, 400, `${path}: ${answer.text}`)
      assert.match(answer.text, /service_tier/)
    }
  })

  test('the purpose of an upload', async () => {
    const form = new FormData()
    form.set('purpose', ODD)
    form.set('file', new Blob(['x']), 'x.txt')
    const answer = await gateway.fetch('/v1/files', {
      method: 'POST',
      key: tenant.key,
      body: form,
    })
    const { purpose } = (await answer.json()) as { purpose: string }
    assert.deepEqual([answer.status, purpose], [200, '\ufffd\ufffd'])
  })
})
