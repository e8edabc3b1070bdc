/** Transcripts in the form that was not requested: converted, with the usage that they state. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Relay } from '../../../server/wire/dialects/relay.ts'
import {
  createTranscriptBody,
  createTranscriptStream,
} from '../../../server/wire/dialects/transcription/other-form.ts'

interface Spoken {
  readonly parts: readonly string[]
  readonly seconds: number
}

/** Text that may look like frames, cut between any two bytes. */
const spoken: fc.Arbitrary<Spoken> = fc.record({
  parts: fc.array(
    fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('data: {', '\n\n', '}')),
  ),
  seconds: fc.integer({ min: 0, max: 100_000 }),
})
const cuts = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 })

const usageOf = ({ seconds }: Spoken) => ({ usage: { type: 'duration', seconds } })
const writeDocument = (said: Spoken) =>
  JSON.stringify({ text: said.parts.join(''), ...usageOf(said) })

function writeEvents(said: Spoken): string {
  const text = said.parts.join('')
  const deltas = said.parts.map((delta) => ({ type: 'transcript.text.delta', delta }))
  return [...deltas, { type: 'transcript.text.done', text, ...usageOf(said) }]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('')
}

function pass(relay: Relay, sent: string, sizes: readonly number[]): string {
  const bytes = Buffer.from(sent)
  const out: Buffer[] = []
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1
    const passed = relay.push(bytes.subarray(at, at + size))
    if (passed) out.push(passed)
    at += size
  }
  const rest = relay.end()
  return Buffer.concat(rest ? [...out, rest] : out).toString()
}

function readEvents(text: string) {
  const events = text.split('\n\n').filter((frame) => frame !== '')
  return events.map((frame) => JSON.parse(frame.replace(/^data: /, '')))
}

test('either form comes as it is requested, and states its usage, wherever it is cut', () => {
  fc.assert(
    fc.property(spoken, cuts, fc.boolean(), (said, sizes, isDocument) => {
      const sent = isDocument ? writeDocument(said) : writeEvents(said)
      const text = said.parts.join('')
      const outputBytes = Buffer.byteLength(text)
      const reported = { usage: { second: said.seconds }, outputBytes, finished: true }

      const body = createTranscriptBody()
      assert.deepEqual(JSON.parse(pass(body, sent, sizes)), { text, ...usageOf(said) })
      assert.deepEqual(body.report(), reported)

      const stream = createTranscriptStream()
      const events = readEvents(pass(stream, sent, sizes))
      assert.deepEqual(events.at(-1), { type: 'transcript.text.done', text, ...usageOf(said) })
      assert.equal(events.map(({ delta }) => delta ?? '').join(''), text)
      assert.deepEqual(stream.report(), reported)
    }),
  )
})

test('a document without a text is an error in both forms', () => {
  for (const document of ['{}', '{"error":{"message":"busy"}}', '{"text":7}']) {
    for (const relay of [createTranscriptBody(), createTranscriptStream()]) {
      pass(relay, document, [3])
      assert.ok(relay.report().error, document)
    }
  }
})
