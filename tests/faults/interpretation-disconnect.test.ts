/**
 * Callers that disconnect from an interpretation, and a gateway that stops during one: the vendor
 * is asked to end early, and the usage that it states at its end is charged.
 */
import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { after, before, test } from 'node:test'
import { type Booth, openBooth, TO_SPEECH, TO_TEXT } from '../support/interpretation.ts'
import { until } from '../support/until.ts'

/** Node's own channel: the head of a request is at a server of this process. */
const ARRIVAL = 'http.server.request.start'

const WHOLE_BYTES = 128_000
/** The whole takes four seconds: a process that stands still for one sends later what is due. */
const PACE_MS = 80
let booth: Booth
before(async () => {
  booth = await openBooth({}, PACE_MS)
})
after(() => booth.stop())

/** Returns the newest call of a key once it is closed. */
function readCall(keyId: string) {
  return until('the settlement', async () => {
    const [row] = await booth.gateway.sql<
      { status: string; basis: string; charged: bigint; request_id: string }[]
    >`select status, basis, charged, request_id from call
      where key_id = ${keyId} and status <> 'running' order by created_at desc limit 1`
    return row
  })
}

/** Prices of the test catalog: 1 nano for input, 1,000 for output. */
function owed(): bigint {
  const { input, output } = booth.vendor.last()
  return BigInt(Math.ceil(input)) + 1_000n * BigInt(Math.ceil(output))
}

function heard(bytes: number): Promise<true> {
  const { sessions } = booth.vendor
  const count = sessions.length
  return until('the vendor to hear', () =>
    sessions.length > count && (sessions.at(-1)?.audioBytes ?? 0) >= bytes ? true : undefined,
  )
}

test('s2s: a caller that disconnects in the middle pays for the processed audio', async () => {
  const tenant = await booth.gateway.tenant()
  const controller = new AbortController()
  const response = await booth.open(tenant.key, TO_SPEECH, {}, controller.signal)
  await response.body?.getReader().read()
  controller.abort()
  const call = await readCall(tenant.keyId)
  const session = booth.vendor.last()
  assert.equal(session.isFinished, true, 'it was asked for its end')
  assert.ok(session.audioBytes < WHOLE_BYTES, `${session.audioBytes} bytes were sent`)
  assert.deepEqual([call.status, call.basis, call.charged], ['cancelled', 'usage', owed()])
  assert.equal((await booth.gateway.balance(tenant.accountId)).held, 0n)
})

for (const [mode, form] of [
  ['s2t', TO_TEXT],
  ['s2s', TO_SPEECH],
] as const) {
  test(`${mode}: a caller that disconnects early pays for the processed audio`, async () => {
    const tenant = await booth.gateway.tenant()
    const controller = new AbortController()
    const listening = heard(10_000)
    const answer = booth.open(tenant.key, form, {}, controller.signal)
    answer.catch(() => undefined)
    await listening
    controller.abort()
    const call = await readCall(tenant.keyId)
    const session = booth.vendor.last()
    assert.ok(session.isFinished && session.audioBytes < WHOLE_BYTES / 2)
    assert.deepEqual([call.basis, call.charged], ['usage', owed()])
    assert.equal((await booth.gateway.balance(tenant.accountId)).held, 0n)
  })
}

test('s2t: a retry with the same Idempotency-Key gets the text', async () => {
  const tenant = await booth.gateway.tenant()
  const header = { 'idempotency-key': 'later' }
  const controller = new AbortController()
  const listening = heard(10_000)
  const answer = booth.open(tenant.key, TO_TEXT, header, controller.signal)
  answer.catch(() => undefined)
  await listening
  const meanwhile = await booth.ask(tenant.key, TO_TEXT, header)
  assert.equal(meanwhile.status, 409)
  controller.abort()
  const call = await readCall(tenant.keyId)
  assert.equal(booth.vendor.last().audioBytes, WHOLE_BYTES)
  const later = await booth.ask(tenant.key, TO_TEXT, header)
  assert.equal(later.json.text, 'Sentence 1. Sentence 2.')
  assert.equal(later.headers.get('idempotent-replayed'), call.request_id)
})

test('an upload that breaks off leaves no hold and no bytes', async () => {
  const tenant = await booth.gateway.tenant()
  const sessions = booth.vendor.sessions.length
  const boundary = 'edge'
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n`
  const controller = new AbortController()
  const body = new ReadableStream({
    start: (stream) => stream.enqueue(Buffer.concat([Buffer.from(head), Buffer.from('RIFF')])),
  })
  const leave = () => controller.abort()
  subscribe(ARRIVAL, leave)
  const request = booth.gateway.fetch('/v1/audio/translations', {
    method: 'POST',
    key: tenant.key,
    body,
    duplex: 'half',
    signal: controller.signal,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  } as RequestInit)
  await assert.rejects(request)
  unsubscribe(ARRIVAL, leave)
  assert.equal(booth.vendor.sessions.length, sessions)
  assert.equal((await booth.gateway.balance(tenant.accountId)).held, 0n)
})

test('a gateway that stops cuts speech and charges what the vendor billed', async () => {
  const own = await openBooth({}, PACE_MS)
  const tenant = await own.gateway.tenant()
  const response = await own.open(tenant.key, TO_SPEECH)
  const reading = response.arrayBuffer()
  reading.catch(() => undefined)
  await own.gateway.gateway.stop({ drainMs: 0 })
  await assert.rejects(reading, 'no clean end')
  assert.ok(own.vendor.last().audioBytes < WHOLE_BYTES)
  await own.stop()
})
