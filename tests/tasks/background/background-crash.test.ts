/**
 * kill -9 at every named line of a background response's life. Another process takes over; the
 * vendor's own book and the ledger must agree: made at most once, charged once or not at all.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Simulators, startSimulators } from '../../../simulators/index.ts'
import type { GatewayProcess } from '../../support/gateway.ts'
import { type CrashStage, startCrashStage } from '../../support/servers/crash-stage.ts'
import { until } from '../../support/until.ts'
import { endLeases, QUICK } from '../stage.ts'

/** How each ends, and how many responses the vendor made. */
const ENDINGS: Readonly<Record<string, { readonly state: string; readonly jobs: number }>> = {
  'task-held': { state: 'failed', jobs: 0 },
  'task-sending': { state: 'failed', jobs: 0 },
  // The vendor made it, and no process knows under which id: its cost is noted.
  'task-sent': { state: 'failed', jobs: 1 },
  'task-accepted': { state: 'succeeded', jobs: 1 },
  'task-finish': { state: 'succeeded', jobs: 1 },
  'task-finished': { state: 'succeeded', jobs: 1 },
}

let stage: CrashStage
let vendors: Simulators

before(async () => {
  vendors = await startSimulators({ port: 0 })
  const settings = { base_url: `${vendors.url}/openai/v1`, api_key: 'sim-openai-key' }
  const prices = [
    { unit: 'input_token', per: 1, amount: '0.001' },
    { unit: 'output_token', per: 1, amount: '0.01' },
  ]
  const routes = [{ channel: 'vendor', upstream_model: 'sim-chat' }]
  const content = {
    channels: [{ id: 'vendor', upstream: 'openai-compatible', settings }],
    models: [{ id: 'held', type: 'chat', prices, routes }],
  }
  stage = await startCrashStage(content, QUICK)
})
after(async () => {
  await vendors.stop()
  await stage.stop()
})

function create(gateway: GatewayProcess, marker: string, stream: boolean): Promise<Response> {
  const input = `[[call:${marker}]][[tokens:7]]`
  const body = { model: 'held', background: true, stream, max_output_tokens: 50, input }
  return stage.send(`${gateway.url}/v1/responses`, 'POST', body)
}

for (const stream of [false, true]) {
  test(`every failpoint${stream ? ', streamed' : ''}: the books agree`, async () => {
    const markers = new Map<string, string>()
    for (const name of Object.keys(ENDINGS)) {
      const marker = `${name}-${stream}`
      const isWorkers = name.startsWith('task-finish')
      const gateway = await stage.start({
        ROLE: 'api',
        ...(isWorkers ? {} : { TRIBUTARY_FAIL: name }),
      })
      const answer = create(gateway, marker, stream)
      if (isWorkers) {
        // Left by its caller, so that a worker has to end it.
        await (await answer).body?.cancel()
        await gateway.kill9()
        const worker = await stage
          .start({ ROLE: 'worker', TRIBUTARY_FAIL: name })
          .catch(() => undefined)
        await worker?.exited
      } else {
        // A whole answer is the message of a failure: it says why the process still lives.
        await assert.rejects(async () => assert.fail(await (await answer).text()), isCut)
        await gateway.exited
      }
      markers.set(name, marker)
    }
    await endLeases(stage.sql)
    const survivor = await stage.start({})
    await until('every end', allEnded)
    await survivor.stop(2_000)
    for (const [name, marker] of markers) await compare(name, marker)
  })
}

/** The connection ended before its answer. */
function isCut(error: unknown): boolean {
  if (error instanceof assert.AssertionError) throw error
  return true
}

async function allEnded(): Promise<true | undefined> {
  const [row] = await stage.sql<{ open: number }[]>`
    select count(*)::int as open from task where finished_at is null`
  return row?.open === 0 ? true : undefined
}

/** Tasks were made one after the other, in the order of the failpoints. */
async function compare(name: string, marker: string): Promise<void> {
  const entries = vendors.book.entries({ marker })
  assert.equal(entries.length, ENDINGS[name]?.jobs, `${marker}: made by the vendor`)
  const [row] = await stage.sql<{ state: string; charged: bigint }[]>`
    select t.state, c.charged from task t join call c on c.hold_id = t.hold_id
    order by t.created_at, t.id offset ${orderOf(name, marker)} limit 1`
  assert.equal(row?.state, ENDINGS[name]?.state, marker)
  const {
    input_token: input = 0,
    cached_input_token: cached = 0,
    output_token: output = 0,
  } = entries[0]?.units ?? {}
  const worth = BigInt(input + cached) * 1_000_000n + BigInt(output) * 10_000_000n
  assert.equal(row?.charged, row?.state === 'succeeded' ? worth : 0n, marker)
}

function orderOf(name: string, marker: string): number {
  const names = Object.keys(ENDINGS)
  return names.indexOf(name) + (marker.endsWith('true') ? names.length : 0)
}
