/**
 * SIGTERM: no new work is accepted, running calls are finished or ended in their own protocol, and
 * every stream is settled before the process exits. A second SIGTERM does not wait.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { type Stage, startGateway, startStage } from '../support/gateway.ts'
import { until } from '../support/until.ts'

const STREAMS = 100
const WHOLE = 50
/** A minute, which is never waited for. */
const LASTING = '[[tokens:600]] [[chunks:600]] [[chunk-delay:100]]'

const chat = (script: string) => ({
  model: 'sim-chat',
  stream: true,
  messages: [{ role: 'user', content: script }],
})

/** Resolves once no connection is accepted any more: until then a call is served. */
async function untilStopping(stage: Stage): Promise<void> {
  await until('the end of the listener', async () => {
    const answer = await stage.get('/readyz').catch(() => undefined)
    return answer === undefined
  })
}

/** Opens streams; resolves when the head of each is here. */
async function openStreams(stage: Stage, count: number, script: string): Promise<Response[]> {
  const sent = Array.from({ length: count }, () => stage.post('/v1/chat/completions', chat(script)))
  return await Promise.all(sent)
}

async function countOpenHolds(stage: Stage): Promise<number> {
  const [row] = await stage.sql<{ open: number }[]>`
    select count(*)::int as open from hold where state = 'open'`
  return row?.open ?? -1
}

async function countCalls(stage: Stage): Promise<Readonly<Record<string, number>>> {
  const rows = await stage.sql<{ name: string; count: number }[]>`
    select status || ', ' || basis as name, count(*)::int from call group by 1`
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
}

test('streams that end within the drain are finished and charged in full', async () => {
  const stage = await startStage()
  try {
    const script = '[[chunks:10]] [[chunk-delay:100]] [[tokens:20]]'
    const answers = await openStreams(stage, STREAMS, script)
    stage.gateway.signal('SIGTERM')
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    const exit = await stage.gateway.exited
    assert.deepEqual(exit, { code: 0, signal: null })
    for (const text of texts) assert.match(text, /data: \[DONE\]\n\n$/)
    assert.deepEqual(await countCalls(stage), { 'succeeded, usage': STREAMS })
    assert.ok((await audit(stage.sql)).ok)
  } finally {
    await stage.stop()
  }
})

test('streams that outlast the drain end with an error and are charged in part', async () => {
  const stage = await startStage({ env: { DRAIN_SECONDS: '1' } })
  try {
    const answers = await openStreams(stage, STREAMS, LASTING)
    stage.gateway.signal('SIGTERM')
    await untilStopping(stage)
    const refused = await stage.post('/v1/chat/completions', chat('more')).catch(() => undefined)
    assert.ok(refused === undefined || refused.status === 503)
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    assert.equal((await stage.gateway.exited).code, 0)
    for (const text of texts) assert.match(text, /"error"/)
    assert.equal(await countOpenHolds(stage), 0)
    assert.deepEqual(await countCalls(stage), { 'failed, partial': STREAMS })
    assert.ok((await audit(stage.sql)).ok)
  } finally {
    await stage.stop()
  }
})

test('answers without usage are counted and charged before the process ends', async () => {
  const stage = await startStage({ env: { DRAIN_SECONDS: '0' } })
  try {
    // Counting takes longer than connections stay open.
    const text = `[[fault:usage=absent]] ${'kx7q'.repeat(20_000)}`
    const answers = Array.from({ length: WHOLE }, () =>
      stage.post('/v1/chat/completions', { ...chat(text), stream: false }).catch(() => undefined),
    )
    await until('the vendor’s answers', () => stage.simulators.book.entries().length === WHOLE)
    stage.gateway.signal('SIGTERM')
    await Promise.all(answers)
    assert.equal((await stage.gateway.exited).code, 0)
    assert.equal(await countOpenHolds(stage), 0)
    assert.deepEqual(await countCalls(stage), { 'succeeded, estimate': WHOLE })
    assert.ok((await audit(stage.sql)).ok)
  } finally {
    await stage.stop()
  }
})

test('a second signal exits at once, and the next start closes open holds', async () => {
  const stage = await startStage()
  try {
    const answers = await openStreams(stage, 10, LASTING)
    const broken = answers.map((answer) => answer.text().catch(() => 'broken off'))
    stage.gateway.signal('SIGTERM')
    await untilStopping(stage)
    stage.gateway.signal('SIGTERM')
    assert.equal((await stage.gateway.exited).code, 1)
    await Promise.all(broken)
    assert.equal(await countOpenHolds(stage), 10)
    // Others may live on this database: the dead process's lease must run out first.
    await stage.sql`update owner set lease_until = now()`
    const next = await startGateway(stage.place)
    try {
      // Only a process that itself renewed for a whole lease may take another for dead.
      await stage.sql`update owner set steady_since = steady_since - interval '1 minute'`
      await until('the holds', async () => ((await countOpenHolds(stage)) === 0 ? true : undefined))
    } finally {
      await next.stop(5_000)
    }
    assert.ok((await audit(stage.sql)).ok)
  } finally {
    await stage.stop()
  }
})
