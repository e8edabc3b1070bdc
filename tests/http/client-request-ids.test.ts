/** A caller's own id of a request is repeated and logged beside the gateway's. */
import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { recordRequest } from '../../server/api/app/access-log.ts'
import { createContext } from '../../server/base/http/context.ts'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { testMemory } from '../support/memory.ts'
import { rawRequest, sendRaw } from '../support/raw.ts'

function contextOf(headers: Record<string, string>) {
  const request = Object.assign(new IncomingMessage(new Socket()), { headers })
  const route = { path: '/', pattern: '/', query: new URLSearchParams(), params: {} }
  const response = new ServerResponse(request)
  return createContext(request, response, { ...route, envelope: 'flat' }, testMemory())
}

test('up to 128 visible characters are kept, and anything else is ignored', () => {
  const text = fc.oneof(fc.string({ maxLength: 200 }), fc.string({ unit: 'binary' }))
  fc.assert(
    fc.property(text, (id) => {
      const isId =
        id.length >= 1 && id.length <= 128 && [...id].every((one) => one > ' ' && one < '\x7f')
      assert.equal(contextOf({ 'x-request-id': id }).clientRequestId, isId ? id : undefined)
    }),
  )
})

test('it is in the log', () => {
  const lines: object[] = []
  const write = (fields: object) => void lines.push(fields)
  const log = { debug: write, info: write, warn: write, error: write }
  const metrics = { call: () => undefined } as unknown as Parameters<
    typeof recordRequest
  >[2]['metrics']
  const context = contextOf({ 'x-request-id': 'mine-1' })
  recordRequest(context, undefined, { log, metrics }, true)
  const [line] = lines as { request_id: string; client_request_id: string }[]
  assert.equal(line?.client_request_id, 'mine-1')
  assert.match(line?.request_id ?? '', /^req_/)
})

describe('a caller’s id', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await startTestGateway()
  })
  after(() => gateway.stop())

  test('is repeated by answers, errors and streams, beside the gateway’s own', async () => {
    const { key } = await gateway.tenant()
    const messages = [{ role: 'user', content: 'Name three rivers.' }]
    const mine = { 'x-request-id': 'mine-1' }
    const path = '/v1/chat/completions'
    for (const answer of [
      await gateway.post(path, key, { model: 'sim-chat', messages }, mine),
      await gateway.post(path, key, { model: 'sim-chat', messages, stream: true }, mine),
      await gateway.post(path, 'tr-no', {}, mine),
      await gateway.post('/v1/nowhere', key, {}, mine),
    ]) {
      assert.equal(answer.headers.get('x-client-request-id'), 'mine-1')
      assert.match(answer.headers.get('x-request-id') ?? '', /^req_/)
    }
  })

  test('is the one that no proxy wrote; what is no id is not repeated', async () => {
    const get = async (headers: Record<string, string>) =>
      (await gateway.fetch('/healthz', { headers })).headers.get('x-client-request-id')
    assert.equal(await get({ 'x-client-request-id': 'own', 'x-request-id': 'proxy' }), 'own')
    assert.equal(await get({}), null)
    assert.equal(await get({ 'x-request-id': 'x'.repeat(129) }), null)
    const odd = { 'x-request-id': 'a\tb \u00e9' }
    const { status, head } = await sendRaw(gateway.url, rawRequest('/v1/search', '{}', odd))
    assert.equal(status, 401)
    assert.doesNotMatch(head, /x-client-request-id/i)
  })
})
