/** A worker whose event loop stands still: metrics go on, and the supervisor replaces it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findFreePort } from '../../support/free-port.ts'
import { type Stage, startStage } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'

/** Six pings, five seconds apart, and as long again on a slow machine. */
const REPLACED_MS = 180_000

let stage: Stage
let metricsUrl: string
before(async () => {
  const port = await findFreePort()
  metricsUrl = `http://127.0.0.1:${port}/metrics`
  stage = await startStage({
    env: { WORKERS: '2', METRICS_PORT: String(port), LOG_LEVEL: 'info', LOG_FORMAT: 'json' },
  })
  await until('two workers', () => workers().length === 2)
})
after(() => stage.stop())

/** Process ids of the workers, in the order of their starts. */
function workers(): number[] {
  const lines = stage.gateway.log().split('\n').slice(0, -1)
  const starts = lines.filter((line) => line.includes('"msg":"listening"'))
  return starts.map((line) => Number(/"pid":(\d+)/.exec(line)?.[1]))
}

async function readMetrics() {
  const response = await fetch(metricsUrl)
  const text = await response.text()
  assert.equal(response.status, 200)
  const calls = text
    .split('\n')
    .filter((line) => /^tributary_requests_total\{.*chat\/completions/.test(line))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  const up = [...text.matchAll(/^tributary_worker_up\{worker="(\d)"\} (\d)$/gm)]
  return { calls, up: Object.fromEntries(up.map(([, worker, value]) => [worker, value])) }
}

/** Each over a connection of its own, which go to the workers in turn. */
async function call(content: string): Promise<Response> {
  const body = { model: 'sim-chat', stream: true, messages: [{ role: 'user', content }] }
  return await stage.post('/v1/chat/completions', body, { connection: 'close' })
}

test('its figures stay, it is named, it is replaced, and its calls are closed', async () => {
  for (let index = 0; index < 4; index += 1) await (await call('hi')).text()
  await until('both to answer', async () => {
    const { calls, up } = await readMetrics()
    return calls === 4 && up['1'] === '1' && up['2'] === '1'
  })
  const slow = '[[tokens:600]] [[chunks:600]] [[chunk-delay:100]]'
  const streams = [await call(slow), await call(slow)]
  const [first = 0, second = 0] = workers()
  process.kill(second, 'SIGSTOP')
  // On a busy machine the other one may not answer within its second either.
  await until('one silent worker', async () => {
    const { calls, up } = await readMetrics()
    assert.equal(calls, 4, 'no sum falls')
    return Object.values(up).sort().join() === '0,1'
  })
  const line = await until(
    'the supervisor to notice',
    () =>
      stage.gateway
        .log()
        .split('\n')
        .slice(0, -1)
        .find((one) => one.includes('a worker does not answer')),
    REPLACED_MS,
  )
  assert.equal(JSON.parse(line).pid, second)
  await until('another worker', () => workers().length === 3, REPLACED_MS)
  assert.equal(workers().includes(first), true)
  await until('both to answer again', async () => {
    const { up } = await readMetrics()
    return up['1'] === '1' && up['2'] === '1'
  })
  assert.ok((await readMetrics()).calls >= 4, 'what the ended worker counted stays')
  for (let index = 0; index < 4; index += 1) assert.equal((await call('hi')).status, 200)
  for (const stream of streams) await stream.body?.cancel().catch(() => undefined)
  await until(
    'every hold to be closed',
    async () => {
      const [row] = await stage.sql<{ open: number }[]>`
        select count(*)::int as open from hold where state = 'open'`
      return row?.open === 0
    },
    REPLACED_MS,
  )
})
