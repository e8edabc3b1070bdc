/** WORKERS: several processes on one port, one address of metrics, one embedded database. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createSecretKey } from '../../../server/base/lib/secrets/secrets.ts'
import { findFreePort } from '../../support/free-port.ts'
import { type GatewayProcess, type Stage, startGateway, startStage } from '../../support/gateway.ts'
import { programEnvironment } from '../../support/processes.ts'
import { until } from '../../support/until.ts'
import { runProgram } from '../support.ts'

let stage: Stage
let metricsUrl: string
before(async () => {
  const port = await findFreePort()
  metricsUrl = `http://127.0.0.1:${port}/metrics`
  stage = await startStage({
    env: { WORKERS: '2', METRICS_PORT: String(port), LOG_LEVEL: 'info', LOG_FORMAT: 'json' },
  })
  await untilWorkers(2)
})
after(() => stage.stop())

/** Process ids of the workers, in the order of their starts. */
function workers(gateway: GatewayProcess = stage.gateway): number[] {
  const lines = gateway
    .log()
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.includes('"msg":"listening"'))
  return lines.map((line) => Number(/"pid":(\d+)/.exec(line)?.[1]))
}

function untilWorkers(count: number): Promise<unknown> {
  return until(`${count} starts`, async () => workers().length >= count || undefined)
}

/** Each over a connection of its own, which go to the workers in turn. */
async function call(): Promise<number> {
  const body = { model: 'sim-chat', messages: [{ role: 'user', content: 'hi' }] }
  const answer = await stage.post('/v1/chat/completions', body, { connection: 'close' })
  await answer.arrayBuffer()
  return answer.status
}

test('calls are spread over the workers, and their metrics are at one address', async () => {
  for (let index = 0; index < 6; index += 1) assert.equal(await call(), 200)
  const owners = await stage.sql`select distinct owner_id from hold`
  assert.equal(owners.length, 2)
  const text = await until('the figures of both', async () => {
    const text = await (await fetch(metricsUrl)).text()
    const counts = text.split('\n').filter((line) => line.startsWith('tributary_requests_total{'))
    const calls = counts.filter((line) => line.includes('/v1/chat/completions'))
    const sum = calls.reduce((total, line) => total + Number(line.split(' ').at(-1)), 0)
    assert.ok(sum <= 6, text)
    return sum === 6 && text
  })
  assert.match(text, /^tributary_build_info\{.*\} 1$/m)
})

test('a worker that is killed is restarted, and calls go on', async () => {
  const [victim = 0] = workers()
  process.kill(victim, 'SIGKILL')
  await untilWorkers(3)
  assert.match(stage.gateway.log(), /a worker ended: restarting in 500 ms/)
  for (let index = 0; index < 4; index += 1) assert.equal(await call(), 200)
})

test('SIGTERM ends all of them in order', async () => {
  const body = { model: 'sim-chat', stream: true }
  const messages = [{ role: 'user', content: '[[chunks:20]] [[chunk-delay:50]]' }]
  const streams = await Promise.all(
    Array.from({ length: 6 }, () => stage.post('/v1/chat/completions', { ...body, messages })),
  )
  stage.gateway.signal('SIGTERM')
  for (const stream of streams) assert.match(await stream.text(), /data: \[DONE\]\n\n$/)
  assert.deepEqual(await stage.gateway.exited, { code: 0, signal: null })
  const [row] = await stage.sql<{ open: number }[]>`
    select count(*)::int as open from hold where state = 'open'`
  assert.equal(row?.open, 0)
})

test('a start that fails is said once, and no worker is restarted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-workers-'))
  const databaseUrl = `postgres://a:b@127.0.0.1:${await findFreePort()}/none`
  const { code, out, err } = await runProgram(
    {
      ...programEnvironment(),
      HOME: folder,
      DATA_DIR: folder,
      DATABASE_URL: databaseUrl,
      SECRET_KEY: createSecretKey(),
      WORKERS: '2',
      PORT: '0',
      METRICS_PORT: '0',
    },
    ['serve'],
  )
  rmSync(folder, { recursive: true, force: true })
  assert.equal(code, 1)
  assert.equal(err.match(/cannot reach the database/g)?.length, 1, err)
  assert.doesNotMatch(out + err, /restarting/)
})

test('an embedded database is the supervisor’s, and a demo has one worker', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tributary-workers-'))
  const env = { WORKERS: '2', LOG_LEVEL: 'info', LOG_FORMAT: 'json' }
  const gateway = await startGateway({ dataDir, env })
  try {
    await until('one worker', async () => gateway.log().includes('demo mode runs one worker'))
    assert.equal(workers(gateway).length, 1)
  } finally {
    assert.deepEqual(await gateway.stop(20_000), { code: 0, signal: null })
    rmSync(dataDir, { recursive: true, force: true })
  }
})

const OUT_OF_TIME = /UND_ERR_(?:HEADERS|BODY)_TIMEOUT/

test('workers that start together make their own calls to themselves', async () => {
  const env = { WORKERS: '4', LOG_LEVEL: 'info', LOG_FORMAT: 'json' }
  const { gateway, stop } = await startStage({ env })
  try {
    await until('four starts', () => workers(gateway).length >= 4 || undefined)
    // On a busy machine a call to itself may take too long, which is no other worker's doing.
    const refused = gateway
      .log()
      .split('\n')
      .filter((line) => line.includes('the first calls may be slower') && !OUT_OF_TIME.test(line))
    assert.deepEqual(refused, [])
  } finally {
    await stop()
  }
})
