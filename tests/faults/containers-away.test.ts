/**
 * The database goes away while calls with one container are settled: their answers go out, and
 * once it is back one of them pays for the session.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type OwnDatabase, startOwnDatabase } from '../support/database/own-database.ts'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { until } from '../support/until.ts'

const CALLS = 5
/** Per call: three tokens; for the session: 10. */
const TOKENS = 3
const SESSION = 10

describe('container sessions, database away', () => {
  let database: OwnDatabase
  let gateway: TestGateway
  const waiting: ServerResponse[] = []
  const vendor = createServer((request, response) => {
    request.resume().on('end', () => waiting.push(response))
  })
  before(async () => {
    vendor.listen(0, '127.0.0.1')
    await once(vendor, 'listening')
    database = await startOwnDatabase()
    gateway = await startTestGateway({}, undefined, { database })
    const { port } = vendor.address() as AddressInfo
    const settings = { base_url: `http://127.0.0.1:${port}/v1`, api_key: 'a-key' }
    const price = (unit: string, amount: string, per = 1) => ({ unit, per, amount })
    await gateway.apply({
      channels: [{ id: 'one', upstream: 'openai-compatible', settings }],
      models: [
        {
          id: 'coder',
          type: 'chat',
          // The balance covers the windows of all calls that run at once.
          limits: { max_input_tokens: 1_000 },
          prices: [
            price('input_token', '1'),
            price('output_token', '1'),
            price('container_minute', `${SESSION}`, 20),
          ],
          routes: [{ channel: 'one', upstream_model: 'coder' }],
        },
      ],
    })
  })
  after(async () => {
    await gateway.stop()
    vendor.closeAllConnections()
    vendor.close()
  })

  for (const name of ['stopped', 'frozen'] as const) {
    test(`${name}: one session is charged, when it is back`, async (t) => {
      const { key } = await gateway.tenant({ balance: '100000' })
      const tools = [{ type: 'code_interpreter', container: { type: 'auto' } }]
      const body = { model: 'coder', max_output_tokens: 100, input: 'hi', tools }
      const sent = Array.from({ length: CALLS }, () => gateway.post('/v1/responses', key, body))
      await until('all calls at the vendor', () => waiting.length === CALLS || undefined)
      const bringBack = database.ways[name]()
      t.after(bringBack)
      const item = { type: 'code_interpreter_call', container_id: `container-${name}` }
      const usage = { input_tokens: 1, output_tokens: 2 }
      const answer = { object: 'response', status: 'completed', output: [item], usage }
      for (const response of waiting.splice(0)) {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(answer))
      }
      const replies = await Promise.all(sent)
      assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
      await bringBack()
      const ids = replies.map(({ headers }) => headers.get('x-request-id'))
      const charged = await until('all settlements', async () => {
        const reading = database.sql<{ charged: string }[]>`
            select (charged / 1e9)::text as charged from call where request_id = any (${ids})`
        // Statements are refused until the watch of the server has found it back.
        const rows = await reading.catch(() => [])
        return rows.length === CALLS ? rows.map((row) => Number(row.charged)).sort() : undefined
      })
      const [most = 0, ...others] = charged.toSorted((a, b) => b - a)
      assert.deepEqual([most, new Set(others)], [TOKENS + SESSION, new Set([TOKENS])])
    })
  }
})
