/** A call that is cut is one line of the log and one span, with how it ended and what it cost. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Stage, startStage } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { startCollector, valuesOf } from './collector.ts'

const SERVER = 2

let stage: Stage
const collector = await startCollector()

before(async () => {
  stage = await startStage({
    env: {
      LOG_LEVEL: 'info',
      LOG_FORMAT: 'json',
      DRAIN_SECONDS: '1',
      ...collector.environment,
    },
  })
})
after(async () => {
  await stage.stop()
  await collector.stop()
})

function send(script: string, stream: boolean, signal?: AbortSignal): Promise<Response> {
  return fetch(`${stage.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.key.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sim-chat',
      stream,
      messages: [{ role: 'user', content: script }],
    }),
    ...(signal ? { signal } : {}),
  })
}

function readLines() {
  // The last piece may be half a line. On a busy machine the watch over the loop names calls too.
  const lines = stage.gateway.log().split('\n').slice(0, -1)
  const calls = lines.filter((line) => line.includes('"route":"/v1/chat/completions"'))
  return calls.map((line) => JSON.parse(line)).filter(({ outcome }) => outcome !== undefined)
}

/** Waits for line `count` of the log, and returns it. */
function untilLine(count: number) {
  const read = () => readLines().length >= count && readLines()
  return until(`${count} lines`, read).then((lines) => {
    assert.equal(lines.length, count)
    return lines[count - 1]
  })
}

async function readRecord(id: string) {
  const [row] = await stage.sql<{ status: string; basis: string; charged: bigint }[]>`
    select status, basis, charged from call where request_id = ${id}`
  return row
}

test('the caller leaves in the middle of a stream', async () => {
  const leave = new AbortController()
  const script = '[[tokens:300]] [[chunks:300]] [[chunk-delay:100]]'
  const { body } = await send(script, true, leave.signal)
  await body?.getReader().read()
  leave.abort()
  const line = await untilLine(1)
  const record = await readRecord(line.request_id)
  assert.deepEqual([line.status, line.outcome], [200, 'caller_gone'])
  assert.equal(Number(line.charged) * 1e9, Number(record?.charged))
  assert.ok(Number(line.charged) > 0 && line.output_tokens > 0, JSON.stringify(line))
})

test('the caller leaves before the answer', async () => {
  const leave = new AbortController()
  const answer = send('[[fault:delay-first-byte=6000]] hi', false, leave.signal)
  const isHeld = async () =>
    (await stage.sql`select 1 from hold where state = 'open'`).length > 0 || undefined
  await until('the hold', isHeld)
  leave.abort()
  await assert.rejects(answer)
  const line = await untilLine(2)
  const record = await readRecord(line.request_id)
  assert.deepEqual([line.status, line.outcome, line.attempts], [499, 'caller_gone', 1])
  assert.equal(Number(line.charged) * 1e9, Number(record?.charged))
})

test('the gateway stops: calls without an answer get 503, and are not charged', async () => {
  const sent = [false, true].map((stream) => send('[[fault:delay-first-byte=20000]]', stream))
  const areHeld = async () =>
    (await stage.sql`select 1 from hold where state = 'open'`).length === 2 || undefined
  await until('the holds', areHeld)
  stage.gateway.signal('SIGTERM')
  for (const answer of await Promise.all(sent)) {
    assert.equal(answer.status, 503)
    assert.equal(answer.headers.get('retry-after'), '1')
    assert.match(await answer.text(), /"error"/)
  }
  assert.deepEqual(await stage.gateway.exited, { code: 0, signal: null })
  const lines = [await untilLine(4), ...readLines().slice(2, 3)]
  for (const line of lines) {
    assert.deepEqual([line.status, line.outcome], [503, 'unavailable'])
    const record = await readRecord(line.request_id)
    assert.deepEqual([record?.status, record?.basis, record?.charged], ['failed', 'none', 0n])
  }
})

test('each of these calls is one span with the same facts', async () => {
  const calls = collector
    .spans()
    .filter(({ kind }) => kind === SERVER)
    .map(valuesOf)
    .filter((one) => one['http.route'] === '/v1/chat/completions')
  assert.deepEqual(
    calls.map((one) => [one['http.response.status_code'], one['tributary.outcome']]),
    readLines().map(({ status, outcome }) => [status, outcome]),
  )
  const charges = calls.map((one) => Number(one['tributary.charged_nanos'] ?? 0))
  assert.deepEqual(
    charges,
    readLines().map(({ charged }) => Math.round(Number(charged ?? 0) * 1e9)),
  )
})
