/** Answers of a search vendor that are not its own: pages of proxies under its address. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { type Recorded, startRecorded } from './recording-vendor.ts'

const PRICES = [{ unit: 'call', per: 1, amount: '0.01' }]
let gateway: TestGateway
before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

const stated = (code: number) => ({
  ResponseMetadata: { Error: { CodeN: code, Code: String(code), Message: 'Query is too long' } },
})

for (const [what, recorded, status] of [
  ['a 400 with a page', { status: 400, body: '<html>Bad Request</html>' }, 502],
  ['a 400 with a document of another', { status: 400, body: { error: 'bad request' } }, 502],
  ['a 400 with nothing', { status: 400 }, 502],
  ['a 400 with a result of nothing', { status: 400, body: { Result: { ErrorCode: 0 } } }, 502],
  ['a 422 with a page', { status: 422, body: 'Unprocessable' }, 502],
  ['a 200 with a page', { body: '<html></html>' }, 502],
  ['a 200 without a result', { body: { ResponseMetadata: {} } }, 502],
  ['the vendor’s own 400', { status: 400, body: stated(10400) }, 400],
  ['the vendor’s own 422', { status: 422, body: stated(10400) }, 400],
  ['the vendor’s own verdict under 200', { body: stated(10400) }, 400],
] as const satisfies readonly (readonly [string, Recorded, number])[]) {
  test(`${what} is a ${status}, and free`, async (t) => {
    const { url } = await startRecorded(t, () => ({ '/search_api/web_search': recorded }))
    await gateway.apply({
      channels: [
        { id: 'search', upstream: 'volc-search', settings: { base_url: url, api_key: 'k' } },
      ],
      models: [
        {
          id: 'vendor-web-search',
          type: 'search',
          prices: PRICES,
          routes: [{ channel: 'search', upstream_model: 'web_search' }],
        },
      ],
    })
    const { key } = await gateway.tenant()
    const answer = await gateway.post('/v1/search', key, { Type: 'web', Query: 'rivers' })
    assert.equal(answer.status, status, answer.text)
    assert.equal(/no Result/.test(answer.text), false, answer.text)
    assert.equal((await gateway.record(answer, key)).charged, '0')
  })
}
