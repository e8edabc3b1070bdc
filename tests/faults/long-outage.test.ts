/**
 * An outage of the database longer than running calls may last: a running stream is cut, and its
 * delivered part is charged once when the database is back.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type OwnDatabase, startOwnDatabase } from '../support/database/own-database.ts'
import { startTestGateway, type Tenant, type TestGateway } from '../support/in-process.ts'
import { until } from '../support/until.ts'

const ISOLATED_MS = 1_500

describe('a long outage of the database', () => {
  let database: OwnDatabase
  let gateway: TestGateway
  let tenant: Tenant
  before(async () => {
    database = await startOwnDatabase()
    gateway = await startTestGateway({}, undefined, {
      database,
      // Five minutes are much to wait for.
      adjust: (config) => ({
        ...config,
        leases: { ...config.leases, renewMs: 200, isolatedMs: ISOLATED_MS },
      }),
    })
    tenant = await gateway.tenant()
  })
  after(() => gateway.stop())

  const script = '[[tokens:600]] [[chunks:600]] [[chunk-delay:50]]'
  const ask = () =>
    gateway.fetch('/v1/chat/completions', {
      key: tenant.key,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sim-chat',
        stream: true,
        max_tokens: 5_000,
        messages: [{ role: 'user', content: script }],
      }),
    })

  interface Closed {
    readonly status: string
    readonly basis: string
    readonly charged: bigint
    readonly held: bigint
    readonly lines: readonly { readonly unit: string; readonly quantity: number }[]
    readonly charges: number
  }

  async function readClosed(requestId: string | null): Promise<Closed | undefined> {
    const [row] = await database.sql<Closed[]>`
      select status, basis, charged, held, lines, (
        select count(*)::int from entry e
        where e.posting = call.hold_id and e.step = 'charge') as charges
      from call where request_id = ${requestId}`.catch(() => [])
    return row
  }

  for (const name of ['frozen', 'stopped'] as const) {
    test(`${name}: a stream is cut at the limit and charged for its delivered part`, async (t) => {
      const answer = await ask()
      assert.equal(answer.status, 200)
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
      assert.ok(reader)
      let text = (await reader.read()).value ?? ''
      const bringBack = database.ways[name]()
      t.after(bringBack)
      const start = performance.now()
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        text += part.value
      }
      assert.ok(performance.now() - start >= ISOLATED_MS, 'it continued until then')
      assert.deepEqual([text.includes('"error"'), text.includes('[DONE]')], [true, false])
      await bringBack()
      const id = answer.headers.get('x-request-id')
      const row = await until('its settlement', () => readClosed(id))
      assert.deepEqual([row.status, row.basis, row.charges], ['failed', 'partial', 1])
      assert.ok(row.charged <= row.held)
      const delivered = text.match(/"content":"[^"]/g)?.length ?? 0
      const output = row.lines.find(({ unit }) => unit === 'output_token')?.quantity ?? 0
      assert.ok(output > 0 && output <= delivered, `${output} tokens of ${delivered} pieces`)
      assert.equal((await gateway.balance(tenant.accountId)).held, 0n)
      assert.equal((await ask().then(leave)).status, 200, 'it goes on')
    })
  }

  async function leave(answer: Response): Promise<Response> {
    await answer.body?.cancel()
    return answer
  }
})
