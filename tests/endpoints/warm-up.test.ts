/** What runs once before the first call. */
import assert from 'node:assert/strict'
import diagnostics from 'node:diagnostics_channel'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Sql } from 'postgres'
import type { Config } from '../../server/api/config/config.ts'
import { warmUp } from '../../server/api/endpoints/service/warm-up.ts'
import { isOwnEnd } from '../../server/base/database/unavailable.ts'
import type { Log } from '../../server/base/lib/log.ts'
import { findFreePort } from '../support/free-port.ts'
import { type GatewayPlace, startGateway, startStageOf } from '../support/gateway.ts'
import { startTestGateway } from '../support/in-process.ts'
import { until } from '../support/until.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** The bundle of a run does not warm up. */
const startTree = (options: Parameters<typeof startStageOf>[1]) =>
  startStageOf((place: GatewayPlace) => startGateway({ ...place, root: ROOT }), options)

function stage(answers: { readonly sql: () => Promise<unknown[]>; readonly calls?: Error }) {
  const reported: unknown[] = []
  const counts = { moves: 0, calls: 0 }
  return {
    reported,
    counts,
    parts: {
      sql: answers.sql as unknown as Sql,
      rehearseMoves: async () => {
        counts.moves += 1
      },
      rehearseCalls: async () => {
        counts.calls += 1
        if (answers.calls) throw answers.calls
      },
      isOwnEnd,
      log: { info: ({ error }: { error: unknown }) => reported.push(error) } as unknown as Log,
    },
  }
}

test('the statements of a call run on two sessions, and its code once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { parts, counts, reported } = stage({ sql: async () => [] })
  await warmUp(parts)
  assert.deepEqual([counts, reported], [{ moves: 2, calls: 1 }, []])
})

test('what cannot be done is reported, and no start fails of it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const refused = new Error('refused')
  const { parts, reported } = stage({ sql: () => Promise.reject(refused), calls: refused })
  await warmUp(parts)
  assert.deepEqual(reported, [refused, refused, refused])
})

test('a start that fails meanwhile and closes its connections is not reported', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const closed = Object.assign(new Error('closed'), { code: 'CONNECTION_ENDED' })
  const { parts, reported } = stage({ sql: () => Promise.reject(closed), calls: closed })
  await warmUp(parts)
  assert.deepEqual(reported, [])
})

test('a database that does not answer delays the start for a moment, not for ever', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { parts, counts } = stage({ sql: () => new Promise(() => undefined) })
  const warm = warmUp(parts)
  t.mock.timers.tick(1_000)
  await warm
  assert.equal(counts.moves, 0)
})

test('a start sends four calls to itself, and each of them to a vendor of its own', async (t) => {
  const origins: string[] = []
  const note = (message: unknown) => {
    const { request } = message as { request: { origin: string; path: string } }
    if (request.path === '/v1/chat/completions') origins.push(request.origin)
  }
  diagnostics.subscribe('undici:request:create', note)
  t.after(() => diagnostics.unsubscribe('undici:request:create', note))
  const adjust = (config: Config) => ({ ...config, warmsUp: true })
  const gateway = await startTestGateway({}, undefined, { adjust })
  try {
    await until('all of the calls', () => origins.length >= 8 || undefined)
    const [own, ...others] = new Set(origins)
    assert.equal(others.length, 1)
    assert.equal(origins.filter((origin) => origin === own).length, 4)
    assert.ok(!origins.includes(gateway.url))
    const [row] = await gateway.sql`select (select count(*) from hold) as holds`
    assert.deepEqual({ ...row }, { holds: 0n })
  } finally {
    await gateway.stop()
  }
})

test('the calls of a start to itself succeed and leave no trace', async () => {
  const metricsPort = await findFreePort()
  const env = { LOG_LEVEL: 'info', METRICS_PORT: String(metricsPort) }
  const gateway = await startTree({ env })
  try {
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    assert.match(metrics, /tributary_/)
    const counted = metrics
      .split('\n')
      .filter((line) => /rehearsal|chat\/?\.?completions/.test(line))
    assert.deepEqual(counted, [])
    assert.doesNotMatch(
      gateway.gateway.log(),
      /the first calls may be slower|rehearsal|chat.completions/,
    )
    const [row] = await gateway.sql`
      select (select count(*) from hold) as holds, (select count(*) from call) as calls,
        (select count(*) from entry where step <> 'credit') as entries`
    assert.deepEqual({ ...row }, { holds: 0n, calls: 0n, entries: 0n })
  } finally {
    await gateway.stop()
  }
})

test('a start whose calls to itself are refused reports it and serves', async () => {
  const env = { LOG_LEVEL: 'info', CHAT_BODY_BYTES_MAX: '1KB' }
  const gateway = await startTree({ env })
  try {
    await until('the report', () => gateway.gateway.log().includes('the first calls may be slower'))
    assert.match(gateway.gateway.log(), /a rehearsal got 413/)
    const messages = [{ role: 'user', content: 'hello' }]
    const answer = await gateway.post('/v1/chat/completions', { model: 'sim-chat', messages })
    assert.equal(answer.status, 200)
    await answer.text()
    const [row] = await gateway.sql`
      select (select count(*) from hold) as holds, (select count(*) from call) as calls`
    assert.deepEqual({ ...row }, { holds: 1n, calls: 1n })
  } finally {
    await gateway.stop()
  }
})
