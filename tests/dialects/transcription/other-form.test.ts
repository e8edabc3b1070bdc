/** Transcripts in the form that was not requested: converted, with the usage that they state. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Relay } from '../../../server/wire/dialects/relay.ts'
import {
  createPlainEvents,
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

const toEvents = (events: readonly object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
const deltasOf = ({ parts }: Spoken) =>
  parts.map((delta) => ({ type: 'transcript.text.delta', delta }))

function writeEvents(said: Spoken): string {
  const done = { type: 'transcript.text.done', text: said.parts.join(''), ...usageOf(said) }
  return toEvents([...deltasOf(said), done])
}

function pass(relay: Relay, sent: string | Buffer, sizes: readonly number[]): string {
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

const WHOLE = { createTranscriptBody, createPlainEvents }
const DONE = 'transcript.text.done'

/** What may come before events and between them. */
const openings = fc.constantFrom('', '\ufeff', '\n', '\r\n\r\n', ': wait\n\n', '\ufeff\n: \n')
/** Lines of the same event in the ways that vendors write them. */
const writings = fc.constantFrom(
  (type: string, event: object) => `data: ${JSON.stringify({ type, ...event })}\n\n`,
  (type: string, event: object) => `data:${JSON.stringify({ type, ...event })}\r\n\r\n`,
  (type: string, event: object) => `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`,
  (type: string, event: object) => `id: 7\nevent: ${type}\ndata: ${JSON.stringify(event)}\r\r`,
  (type: string, event: object) => `retry: 9\ndata: ${JSON.stringify({ type, ...event })}\n\n`,
)

test('events are a transcript from their last brace on; cut before it they cannot be read', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(spoken, cuts, openings, writings, share, (said, sizes, opening, write, at) => {
      const text = said.parts.join('')
      const sent = Buffer.from(
        opening +
          said.parts.map((delta) => write('transcript.text.delta', { delta })).join('') +
          write(DONE, { text, ...usageOf(said) }),
      )
      const end = sent.lastIndexOf('}') + 1
      assert.deepEqual(JSON.parse(pass(createTranscriptBody(), sent, sizes)), {
        text,
        ...usageOf(said),
      })
      assert.equal(pass(createPlainEvents(), sent, sizes), sent.toString())
      for (const create of Object.values(WHOLE)) {
        for (const length of [end, sent.length]) {
          const relay = create()
          pass(relay, sent.subarray(0, length), sizes)
          assert.deepEqual(relay.report().usage, { second: said.seconds })
        }
      }
      // From the first byte of a field on: less may be any text.
      const start = sent.indexOf(':') + 1
      const cut = sent.subarray(0, start + Math.floor(at * (end - 1 - start)))
      for (const create of Object.values(WHOLE)) {
        assert.throws(() => pass(create(), cut, sizes), /cut off/, cut.toString())
      }
    }),
  )
})

test('what is no event is read as the whole answer: an error where a document was requested', () => {
  const others = [
    '<html><body>502 Bad Gateway</body></html>',
    'upstream overloaded',
    'database: queue full',
    '"queue full"',
    '"data: {}"',
    '[{"error":{"message":"busy"}}]',
    'dat',
    '\n\n',
    '',
  ]
  for (const other of others) {
    for (const size of [1, 3, 100]) {
      const body = createTranscriptBody()
      pass(body, other, [size])
      assert.ok(body.report().error, other)
      assert.equal(body.report().outputBytes, 0)
      assert.equal(pass(createPlainEvents(), other, [size]), other)
    }
  }
})

test('an error event is the refusal, whatever came before it, unless the transcript is there', () => {
  const errors = [
    [{ type: 'error', message: 'busy' }, 'busy'],
    [{ type: 'error', error: { message: 'busy' } }, 'busy'],
    [{ error: { message: 'busy' } }, 'busy'],
    [{ type: 'error', error: 'busy' }, 'upstream provider error'],
  ] as const
  fc.assert(
    fc.property(spoken, cuts, fc.constantFrom(...errors), (said, sizes, [event, message]) => {
      for (const create of Object.values(WHOLE)) {
        for (const before of [[], deltasOf(said)]) {
          const relay = create()
          assert.equal(pass(relay, toEvents([...before, event]), sizes), '')
          const error = { type: 'server_error', message }
          assert.deepEqual(relay.report(), { outputBytes: 0, finished: true, error })
        }
        const relay = create()
        assert.notEqual(pass(relay, writeEvents(said) + toEvents([event]), sizes), '')
        assert.equal(relay.report().error, undefined)
        assert.deepEqual(relay.report().usage, { second: said.seconds })
      }
    }),
  )
})

test('data that is no object is not parsed, however many events have it', (t) => {
  const parse = t.mock.method(JSON, 'parse')
  for (const data of ['', 'x', '{', '[DONE]', '"text"']) {
    const sent = Buffer.from(`data: ${data}\n\n`.repeat(100))
    assert.throws(() => pass(createTranscriptBody(), sent, [sent.length]), /cut off/)
  }
  assert.equal(parse.mock.callCount(), 0)
})
