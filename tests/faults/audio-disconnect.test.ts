/**
 * Callers that disconnect during speech or a transcription: the vendor bills its work, so the
 * answer is read to its end and charged as the vendor's books say, and the upload is deleted.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findFreePort } from '../support/free-port.ts'
import { startTestGateway, type TestGateway } from '../support/in-process.ts'
import { until } from '../support/until.ts'
import { makeWav } from '../support/wav.ts'

/** Longer than the part that is sent before the caller disconnects. */
const WORDS = 'All rivers run into the sea, and yet the sea is not full.'
const PACE = '[[chunks:8]] [[chunk-delay:20]]'
const RECORDING = makeWav(3_000)

let gateway: TestGateway
before(async () => {
  gateway = await startTestGateway({ PORT: String(await findFreePort()) })
})
after(() => gateway.stop())

interface Booked {
  readonly operation: string
  readonly since: number
}

const openBook = async (operation: string): Promise<Booked> => {
  await gateway.simulators.book.settled()
  const since = gateway.simulators.book.entries({ operation }).length
  return { operation, since }
}

interface Line {
  readonly unit: string
  readonly quantity: number
}

/** Returns the call of a key once it is closed; its charge must equal the vendor's. */
async function assertCharged(keyId: string, { operation, since }: Booked) {
  const { sql, simulators } = gateway
  const call = await until('the settlement', async () => {
    const [row] = await sql<{ status: string; basis: string; lines: Line[]; charged: bigint }[]>`
      select status, basis, lines, charged from call
      where key_id = ${keyId} and status <> 'running'`
    return row
  })
  await simulators.book.settled()
  const booked = simulators.book.entries({ operation }).slice(since)
  assert.equal(booked.length, 1, 'it is asked for once')
  assert.equal(booked[0]?.billed, true)
  const charged = new Map(call.lines.map(({ unit, quantity }) => [unit, quantity]))
  for (const [unit, quantity] of Object.entries(booked[0]?.units ?? {})) {
    assert.equal(charged.get(unit) ?? 0, quantity, unit)
  }
  assert.ok(call.charged > 0n)
  return call
}

async function assertNothingHeld(accountId: string) {
  assert.equal((await gateway.balance(accountId)).held, 0n)
  await until('the end of the published upload', async () => {
    const rows = await gateway.sql`select id from file where account_id = ${accountId}`
    return rows.length === 0 ? true : undefined
  })
}

const SPEECH = [
  { model: 'sim-tts', voice: 'alloy', operation: 'audio.speech' },
  { model: 'seed-tts-2.0', voice: 'zh_female_vv_uranus_bigtts', operation: 'tts.unidirectional' },
] as const

for (const { operation, ...order } of SPEECH) {
  for (const format of ['audio', 'sse'] as const) {
    test(`speech of ${order.model} as ${format}: disconnected after its first bytes`, async () => {
      const { key, keyId, accountId } = await gateway.tenant()
      const book = await openBook(operation)
      const leaving = new AbortController()
      const response = await gateway.fetch('/v1/audio/speech', {
        method: 'POST',
        key,
        signal: leaving.signal,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...order, input: `${WORDS} ${PACE}`, stream_format: format }),
      })
      await response.body?.getReader().read()
      leaving.abort()
      const call = await assertCharged(keyId, book)
      assert.equal(call.status, 'cancelled')
      await assertNothingHeld(accountId)
    })
  }
}

const TRANSCRIPTIONS = [
  ['sim-whisper', 'audio.transcriptions', '[[fault:delay-head=400]]', {}],
  [
    'sim-whisper-tokens',
    'audio.transcriptions',
    '[[fault:delay-first-byte=300]]',
    { stream: 'true' },
  ],
  ['sim-recognition', 'recognition.submit', '[[fault:queue-time=20;run-time=400]]', {}],
  ['sim-recognition', 'recognition.submit', '[[fault:run-time=400]]', { stream: 'true' }],
  ['sim-recognition-turbo', 'recognition.flash', '[[fault:delay-head=400]]', {}],
] as const

for (const [model, operation, prompt, more] of TRANSCRIPTIONS) {
  const how = 'stream' in more ? 'a stream' : 'a whole answer'
  test(`transcription by ${model}, ${how}: disconnected before its end`, async () => {
    const { key, keyId, accountId } = await gateway.tenant()
    const book = await openBook(operation)
    const leaving = new AbortController()
    const form = new FormData()
    for (const [name, value] of Object.entries({ model, prompt, ...more })) form.set(name, value)
    form.set('file', new Blob([new Uint8Array(RECORDING)]), 'a.wav')
    const init = { method: 'POST', key, signal: leaving.signal, body: form }
    const asked = gateway.fetch('/v1/audio/transcriptions', init)
    asked.catch(() => undefined)
    await until('the hold', async () => {
      const [row] = await gateway.sql`select 1 from call where key_id = ${keyId}`
      return row
    })
    leaving.abort()
    await assertCharged(keyId, book)
    await assertNothingHeld(accountId)
  })
}
