/** AWS's event stream against the SDK's own codec, and against published frames. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventStreamCodec } from '@smithy/eventstream-codec'
import fc from 'fast-check'
import { createMessagesTap } from '../../../../server/wire/dialects/messages/tap.ts'
import {
  createFrameDecoder,
  type EventFrame,
} from '../../../../server/wire/upstreams/anthropic/bedrock/event-stream.ts'
import { unframe } from '../../../../server/wire/upstreams/anthropic/bedrock/unframe.ts'
import { chunkFrame, exceptionFrame, frameOf } from '../../../../simulators/bedrock/frames.ts'

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text),
)

const EMPTY = '000000100000000005c248eb7d98c8ff'
const DELTA =
  '0000009d00000057b9bbf89f0b3a6576656e742d74797065070011636f6e74656e74426c6f636b44656c74610d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700056576656e747b22636f6e74656e74426c6f636b496e646578223a302c2264656c7461223a7b2274657874223a224869227d2c2270223a226162227d8b38b268'
const THROTTLED =
  '00000090000000618e91a9b70f3a657863657074696f6e2d74797065070013746872' +
  '6f74746c696e67457863657074696f6e0d3a636f6e74656e742d74797065070010' +
  '6170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d7479706507000965' +
  '7863657074696f6e7b226d657373616765223a22546f6f206d616e79207265717565737473227de67f8005'

/** Feeds the bytes in pieces of the given sizes, again and again. */
function decode(bytes: Buffer, sizes: readonly number[] = [bytes.length]): EventFrame[] {
  const decoder = createFrameDecoder()
  const frames: EventFrame[] = []
  let position = 0
  for (let turn = 0; position < bytes.length; turn += 1) {
    const end = position + Math.max(1, sizes[turn % sizes.length] ?? 1)
    frames.push(...decoder.push(bytes.subarray(position, end)))
    position = end
  }
  assert.equal(decoder.heldBytes(), 0)
  return frames
}

const headerValue = fc.oneof(
  fc.string().map((value) => ({ type: 'string' as const, value })),
  fc.boolean().map((value) => ({ type: 'boolean' as const, value })),
  fc.integer({ min: -128, max: 127 }).map((value) => ({ type: 'byte' as const, value })),
  fc.integer({ min: -32768, max: 32767 }).map((value) => ({ type: 'short' as const, value })),
  fc.integer().map((value) => ({ type: 'integer' as const, value })),
  fc.uint8Array().map((value) => ({ type: 'binary' as const, value })),
  fc.date({ noInvalidDate: true }).map((value) => ({ type: 'timestamp' as const, value })),
  fc.uuid().map((value) => ({ type: 'uuid' as const, value })),
)
const headers = fc.dictionary(fc.stringMatching(/^[a-z:ü-]{1,40}$/), headerValue, {
  maxKeys: 6,
  noNullPrototype: true,
})
const message = fc.record({ headers, body: fc.uint8Array({ maxLength: 300 }) })

test('whatever the codec writes is read, however it is cut', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(fc.array(message, { maxLength: 4 }), sizes, (messages, cuts) => {
      const bytes = Buffer.concat(messages.map((one) => codec.encode(one)))
      const frames = decode(bytes, cuts)
      assert.equal(frames.length, messages.length)
      for (const [index, frame] of frames.entries()) {
        const { headers: written = {}, body } = messages[index] ?? {}
        assert.deepEqual(frame.payload, Buffer.from(body ?? []))
        const texts = Object.entries(written).filter(([, { type }]) => type === 'string')
        const expected = new Map(texts.map(([name, { value }]) => [name, value]))
        assert.deepEqual(frame.headers, expected)
      }
    }),
  )
})

test('whatever the simulator writes is read by the codec', () => {
  const name = fc.stringMatching(/^[a-z:-]{1,40}$/)
  fc.assert(
    fc.property(fc.dictionary(name, fc.string()), fc.uint8Array(), (named, payload) => {
      const written = frameOf(Object.entries(named), Buffer.from(payload))
      const { headers: read, body } = codec.decode(written)
      assert.deepEqual(Buffer.from(body), Buffer.from(payload))
      assert.equal(Object.keys(read).length, Object.keys(named).length)
      for (const [key, value] of Object.entries(named)) assert.equal(read[key]?.value, value)
    }),
  )
})

test('published frames', () => {
  const bytes = Buffer.from(EMPTY + DELTA + THROTTLED, 'hex')
  for (const sizes of [[bytes.length], [1], [7, 1, 13]]) {
    const [empty, delta, throttled] = decode(bytes, sizes)
    assert.deepEqual([empty?.headers.size, empty?.payload.length], [0, 0])
    assert.equal(delta?.headers.get(':event-type'), 'contentBlockDelta')
    assert.equal(
      delta?.payload.toString(),
      '{"contentBlockIndex":0,"delta":{"text":"Hi"},"p":"ab"}',
    )
    assert.equal(throttled?.headers.get(':exception-type'), 'throttlingException')
  }
})

test('a frame with any byte changed is refused, and no length is believed unchecked', () => {
  const bytes = Buffer.from(DELTA, 'hex')
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: bytes.length - 1 }),
      fc.integer({ min: 1, max: 255 }),
      (at, by) => {
        const changed = Buffer.from(bytes)
        changed[at] = (changed[at] ?? 0) ^ by
        assert.throws(() => decode(changed))
      },
    ),
  )
  assert.throws(() => decode(Buffer.from('ffffffff00000000deadbeef', 'hex')), /damaged prelude/)
})

const event = (data: object) => chunkFrame(JSON.stringify(data), 'ab')
const START = event({ type: 'message_start', message: { usage: { input_tokens: 3 } } })
const TEXT = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi ü' } }

function relayed(...chunks: readonly Buffer[]) {
  const relay = unframe(createMessagesTap())
  const out = [...chunks.map((chunk) => relay.push(chunk)), relay.end()]
  const text = Buffer.concat(out.filter((part) => part !== undefined)).toString()
  return { text, report: relay.report() }
}

test('the events are those inside the frames, byte for byte', () => {
  const stop = event({ type: 'message_stop' })
  const { text, report } = relayed(START, event(TEXT), stop)
  assert.ok(text.includes(`event: content_block_delta\ndata: ${JSON.stringify(TEXT)}\n\n`))
  assert.deepEqual([report.finished, report.outputBytes, report.error], [true, 5, undefined])
})

test('the counts beside the end are the usage where no event states it', () => {
  const metrics = {
    inputTokenCount: 3,
    outputTokenCount: 7,
    cacheReadInputTokenCount: 40,
    cacheWriteInputTokenCount: 20,
    invocationLatency: 900,
  }
  const stop = event({ type: 'message_stop', 'amazon-bedrock-invocationMetrics': metrics })
  const start = { input_token: 3, cached_input_token: 40, cache_write_5m_token: 20 }
  const counted = relayed(START, event(TEXT), stop).report
  assert.deepEqual([counted.usage, counted.finished], [{ ...start, output_token: 7 }, true])
  const delta = (usage: object) => event({ type: 'message_delta', delta: {}, usage })
  const stated = relayed(START, event(TEXT), delta({ output_tokens: 5 }), stop).report
  assert.deepEqual(stated.usage, { input_token: 3, output_token: 5 })
  for (const odd of [null, 7, { outputTokenCount: -1 }, { outputTokenCount: '7' }, {}]) {
    const end = event({ type: 'message_stop', 'amazon-bedrock-invocationMetrics': odd })
    const { report, text } = relayed(START, event(TEXT), end)
    assert.deepEqual([report.usage, report.finished], [{ input_token: 3 }, true])
    assert.doesNotMatch(text, /message_delta/)
  }
})

test('an exception inside the stream is the error of the format', () => {
  const exception = exceptionFrame('throttlingException', 'Too many').data as Buffer
  const first = relayed(exception)
  assert.match(first.text, /event: error\ndata: .*"rate_limit_error"/)
  assert.equal(first.report.error?.type, 'rate_limit_error')
  const middle = relayed(START, event(TEXT), exception)
  assert.equal(middle.report.finished, false)
  assert.match(middle.text, /Hi ü[\s\S]*event: error/)
})

test('a damaged frame ends the stream with an error, and nothing of what follows is sent', () => {
  const damaged = Buffer.from(event(TEXT))
  damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1
  const { text, report } = relayed(START, damaged, event({ type: 'message_stop' }))
  assert.match(text, /event: error/)
  assert.doesNotMatch(text, /message_stop/)
  assert.equal(report.finished, false)
})

test('what came before a damaged frame counts, however the bytes are cut', () => {
  const usage = event({ type: 'message_delta', delta: {}, usage: { output_tokens: 7 } })
  const stop = event({ type: 'message_stop' })
  const garbage = Buffer.from('ffffffff00000000deadbeef', 'hex')
  const bytes = Buffer.concat([START, event(TEXT), usage, stop, garbage])
  const whole = relayed(bytes)
  assert.match(whole.text, /Hi ü[\s\S]*event: message_stop[\s\S]*event: error/)
  assert.deepEqual(whole.report.usage, { input_token: 3, output_token: 7 })
  const sizes = fc.array(fc.integer({ min: 1, max: bytes.length }), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(sizes, (cuts) => {
      const chunks: Buffer[] = []
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const end = at + (cuts[turn % cuts.length] ?? 1)
        chunks.push(bytes.subarray(at, end))
        at = end
      }
      assert.deepEqual(relayed(...chunks), whole)
    }),
  )
})

test('a stream that ends inside a frame is broken', () => {
  const { text, report } = relayed(
    START,
    event(TEXT),
    event({ type: 'message_stop' }).subarray(0, 40),
  )
  assert.match(text, /event: error/)
  assert.equal(report.finished, false)
})

test('a proxy may answer with events or JSON in place of frames', () => {
  const sse = ['message_start', 'message_stop']
    .map((type) => `event: ${type}\ndata: ${JSON.stringify({ type, message: { usage: {} } })}\n\n`)
    .join('')
  const { text, report } = relayed(Buffer.from(sse))
  assert.match(text, /event: message_stop/)
  assert.deepEqual([report.finished, report.error], [true, undefined])
})
