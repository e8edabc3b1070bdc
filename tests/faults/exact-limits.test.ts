/**
 * Limits hold over all gateways: what was sold passes, neither more nor less, however calls are
 * spread over two gateways on one PostgreSQL, beside a worker and across a restart.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { CallLimits } from '../../server/base/lib/kinds-and-states.ts'
import { rotateKey } from '../../server/money/accounts/manage-keys.ts'
import {
  type Caller,
  type GatewayProcess,
  type Stage,
  startGateway,
  startStage,
} from '../support/gateway.ts'
import { until } from '../support/until.ts'

/** A model that no other test limits. */
const OTHER_MODEL = 'sim-reasoner'
/** A minute, which is never waited for. */
const LASTING = '[[tokens:600]] [[chunks:600]] [[chunk-delay:100]]'

let stage: Stage
let second: GatewayProcess
let worker: GatewayProcess

before(async () => {
  // On a busy machine a hold may take longer than the two seconds after which a call is refused.
  stage = await startStage()
  second = await startGateway(stage.place)
  worker = await startGateway({ ...stage.place, env: { ROLE: 'worker' } })
})
after(async () => {
  await Promise.all([worker.stop(5_000), second.stop(5_000)])
  await stage.stop()
})

type Target = Pick<GatewayProcess, 'url'>

function send(target: Target, key: string, body: object, signal?: AbortSignal): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return fetch(`${target.url}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'sim-chat', ...body }),
    ...(signal ? { signal } : {}),
  })
}

const says = (content: string, more: object = {}) => ({
  messages: [{ role: 'user', content }],
  ...more,
})

async function statusOf(response: Response): Promise<number> {
  await response.arrayBuffer()
  return response.status
}

function countOf(statuses: readonly number[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

async function callerWith(limits: CallLimits, of: 'key' | 'account' = 'key'): Promise<string> {
  if (of === 'key') return (await stage.createCaller('1000', { limits })).key.key
  const { account, key } = await stage.createCaller('1000')
  await stage.sql`
    update account set limits = ${JSON.stringify(limits)}::text::jsonb where id = ${account.id}`
  return key.key
}

test('requests per minute: one gateway alone, and both together', async () => {
  const alone = await callerWith({ requests_per_minute: 20 })
  const statuses = await Promise.all(
    Array.from({ length: 30 }, async () => statusOf(await send(stage, alone, says('hi')))),
  )
  assert.deepEqual(countOf(statuses), { 200: 20, 429: 10 })

  const spread = await callerWith({ requests_per_minute: 20 }, 'account')
  const both = await Promise.all(
    Array.from({ length: 40 }, async (_, index) =>
      statusOf(await send(index % 2 === 0 ? stage : second, spread, says('hi'))),
    ),
  )
  assert.deepEqual(countOf(both), { 200: 20, 429: 20 })
  const refused = await send(second, spread, says('hi'))
  const seconds = Number(refused.headers.get('retry-after'))
  assert.ok(seconds >= 1 && seconds <= 60, String(seconds))
})

test('requests that cost nothing count towards the same limit', async () => {
  const key = await callerWith({ requests_per_minute: 6 })
  const read = async (target: Target, path: string) =>
    statusOf(await fetch(target.url + path, { headers: { authorization: `Bearer ${key}` } }))
  const statuses = [
    await statusOf(await send(stage, key, says('hi'))),
    await read(second, '/v1/models'),
    await read(stage, '/v1/usage'),
    await read(second, '/v1/balance'),
    await read(stage, '/v1/models'),
    await statusOf(await send(second, key, says('hi'))),
  ]
  assert.deepEqual(countOf(statuses), { 200: 6 })
  assert.equal(await read(stage, '/v1/balance'), 429)
  assert.equal(await statusOf(await send(second, key, says('hi'))), 429)
})

test('a repetition under an Idempotency-Key counts as a request that costs nothing', async () => {
  const key = await callerWith({ requests_per_minute: 5 })
  const repeat = (target: Target) =>
    fetch(`${target.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': 'the-same',
      },
      body: JSON.stringify({ model: 'sim-chat', ...says('hi') }),
    })
  const first = await repeat(stage)
  await first.arrayBuffer()
  assert.equal(first.status, 200)
  const repeats = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => statusOf(await repeat(n % 2 ? stage : second))),
  )
  assert.deepEqual(countOf(repeats), { 200: 4, 429: 16 })
})

test('a call that the ledger refuses counts towards no limit', async () => {
  const poor = await stage.createCaller('0.000001', { limits: { requests_per_minute: 1 } })
  assert.equal(await statusOf(await send(stage, poor.key.key, says('hi'))), 402)
  assert.equal(await statusOf(await send(second, poor.key.key, says('hi'))), 402)
})

test('concurrent calls: exactly the limit over both gateways, and freed as each call ends', async () => {
  const key = await callerWith({ concurrent_calls: 3 })
  const slow = says(LASTING, { stream: true })
  const leave = new AbortController()
  const opened = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      send(index % 2 === 0 ? stage : second, key, slow, leave.signal),
    ),
  )
  assert.deepEqual(countOf(opened.map(({ status }) => status)), { 200: 3, 429: 9 })
  assert.equal(opened.find(({ status }) => status === 429)?.headers.get('retry-after'), '1')
  leave.abort()

  const one = await callerWith({ concurrent_calls: 1 })
  for (let call = 0; call < 6; call += 1) {
    // The slot is free once the answer is whole.
    assert.equal(await statusOf(await send(call % 2 === 0 ? stage : second, one, says('hi'))), 200)
  }
})

test('calls that run when a limit of concurrent calls is set, removed and set again count', async () => {
  const limitTo = {
    account: (caller: Caller, limits: CallLimits) => stage.sql`
      update account set limits = ${JSON.stringify(limits)}::text::jsonb
      where id = ${caller.account.id}`,
    key: (caller: Caller, limits: CallLimits) => stage.sql`
      update api_key set limits = ${JSON.stringify(limits)}::text::jsonb
      where id = ${caller.key.id}`,
    model: (_: Caller, limits: CallLimits) => stage.sql`
      with changed as (
        update model set limits = ${JSON.stringify(limits)}::text::jsonb where id = ${OTHER_MODEL})
      update catalog_revision set revision = revision + 1`,
  }
  for (const [subject, limit] of Object.entries(limitTo)) {
    const caller = await stage.createCaller('1000')
    const leave = new AbortController()
    const slow = {
      ...says(LASTING, { stream: true }),
      model: OTHER_MODEL,
    }
    const open = async (target: Target) =>
      assert.equal((await send(target, caller.key.key, slow, leave.signal)).status, 200)
    const short = { ...says('hi'), model: OTHER_MODEL }
    /** Waits for both gateways: each learns of a change by itself. */
    const untilStatus = async (status: number) => {
      for (const target of [stage, second]) {
        await until(
          `${status} with the limit of the ${subject}`,
          async () => (await statusOf(await send(target, caller.key.key, short))) === status,
        )
      }
    }

    await open(stage)
    await open(second)
    await limit(caller, { concurrent_calls: 2 })
    await untilStatus(429)
    await limit(caller, {})
    await untilStatus(200)
    await open(stage)
    await limit(caller, { concurrent_calls: 3 })
    await untilStatus(429)
    await limit(caller, { concurrent_calls: 4 })
    await untilStatus(200)
    leave.abort()
    await limit(caller, {})
  }
})

test('a task takes no slot of concurrent calls, and waits for none', async () => {
  const key = await callerWith({ concurrent_calls: 1 })
  const leave = new AbortController()
  // The gateway reads on to its end when the caller has left.
  const slow = says('[[tokens:150]] [[chunks:150]] [[chunk-delay:100]]', { stream: true })
  assert.equal((await send(stage, key, slow, leave.signal)).status, 200)
  assert.equal(await statusOf(await send(second, key, says('hi'))), 429)
  const task = await fetch(`${second.url}/v1/videos/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'doubao-seedance-2-0-260128',
      content: [{ type: 'text', text: 'a river [[run-time:600000]]' }],
    }),
  })
  assert.equal(task.status, 200, await task.text())
  leave.abort()
  // The task is still open.
  const isFree = async () => (await statusOf(await send(stage, key, says('hi')))) === 200
  await until('the slot of the stream', isFree)
})

test('tokens per minute: the estimate is held, and what was not used is returned', async () => {
  const key = await callerWith({ tokens_per_minute: 1_000 })
  const small = says('hi [[tokens:10]]', { max_completion_tokens: 700 })
  for (const target of [stage, second, stage, second]) {
    assert.equal(await statusOf(await send(target, key, small)), 200)
  }
  const leave = new AbortController()
  // Whichever comes first is under way until the other has been judged.
  const slow = { ...small, ...says(LASTING, { stream: true }) }
  const both = await Promise.all(
    [stage, second].map(async (target) => (await send(target, key, slow, leave.signal)).status),
  )
  leave.abort()
  assert.deepEqual(countOf(both), { 200: 1, 429: 1 }, '1,400 tokens at the same time')
  const large = await send(stage, key, says('hi', { max_completion_tokens: 2_000 }))
  assert.equal(large.status, 429)
  assert.match(await large.text(), /more tokens than the limit allows/)
})

test('a rotated key and its successor share one limit', async () => {
  const { key } = await stage.createCaller('1000', { limits: { requests_per_minute: 4 } })
  const { created: next } = await rotateKey(stage.sql, key.id, 60)
  const statuses: number[] = []
  for (const text of [key.key, next.key, key.key, next.key, key.key, next.key]) {
    statuses.push(await statusOf(await send(stage, text, says('hi'))))
  }
  assert.deepEqual(statuses, [200, 200, 200, 200, 429, 429])
})

test('a restart forgets nothing, and a gateway that is killed keeps no slot', async () => {
  const key = await callerWith({ requests_per_minute: 10, concurrent_calls: 2 })
  const third = await startGateway(stage.place)
  const slow = says(LASTING, { stream: true })
  const opened = await Promise.all([send(third, key, slow), send(third, key, slow)])
  for (const response of opened) response.text().catch(() => undefined)
  assert.equal(await statusOf(await send(stage, key, says('hi'))), 429)
  await third.kill9()
  await stage.sql`update owner set ended_at = now() where id not in (
    select id from owner order by started_at limit 3)`
  await until(
    'free slots',
    async () => (await statusOf(await send(stage, key, says('hi')))) === 200,
  )
  const statuses: number[] = []
  for (let call = 0; call < 9; call += 1) {
    statuses.push(await statusOf(await send(second, key, says('hi'))))
  }
  assert.deepEqual(countOf(statuses), { 200: 7, 429: 2 })
})
