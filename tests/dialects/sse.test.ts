import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  createSseParser,
  createSseSplitter,
  encodeSseEvent,
  type SseEvent,
} from '../../server/wire/dialects/sse.ts'
import { chunkings } from './replay.ts'

function parse(chunks: readonly Buffer[], limitBytes?: number) {
  const events: SseEvent[] = []
  let overflows = 0
  const parser = createSseParser({
    onEvent: (event) => events.push(event),
    onOverflow: () => {
      overflows += 1
    },
    ...(limitBytes === undefined ? {} : { limitBytes }),
  })
  for (const chunk of chunks) parser.push(chunk)
  parser.end()
  return { events, overflows }
}

function expectEvents(body: string, expected: readonly [event: string, data: string][]): void {
  for (const { name, chunks } of chunkings(Buffer.from(body))) {
    const found = parse(chunks).events.map(({ event, data }) => [event, data])
    assert.deepEqual(found, expected, name)
  }
}

test('a multi-byte character may be cut at any byte', () => {
  expectEvents('data: 你好 👩‍👩‍👧 é\n\ndata: ü\n\n', [
    ['message', '你好 👩‍👩‍👧 é'],
    ['message', 'ü'],
  ])
})

test('LF, CRLF and CR end lines, also mixed and cut between CR and LF', () => {
  expectEvents('event: a\r\ndata: 1\r\n\r\ndata: 2\r\rdata: 3\n\nevent: b\rdata: 4\n\r\n', [
    ['a', '1'],
    ['message', '2'],
    ['message', '3'],
    ['b', '4'],
  ])
})

test('the LF of a CRLF belongs to the event that it ends', () => {
  const frames: string[] = []
  const splitter = createSseSplitter({ onFrame: (frame) => frames.push(frame.toString()) })
  splitter.push(Buffer.from('data: 1\r\n\r\ndata: 2\r\n\r\n'))
  assert.deepEqual(frames, ['data: 1\r\n\r\n', 'data: 2\r\n\r\n'])
})

test('comments, retry hints, ids and unknown fields are not events', () => {
  expectEvents(': OPENROUTER PROCESSING\n\n:\n\nretry: 10\n\nid: 7\nfoo\ndata: x\n\n', [
    ['message', 'x'],
  ])
})

test('data lines of one event are joined by line feeds', () => {
  expectEvents('data: {"a":\ndata:1}\ndata\n\n', [['message', '{"a":\n1}\n']])
})

test('a byte order mark at the start is no part of the first field', () => {
  expectEvents('\uFEFFdata: x\n\n', [['message', 'x']])
})

test('the last event counts without its blank line', () => {
  expectEvents('data: a\n\ndata: b', [
    ['message', 'a'],
    ['message', 'b'],
  ])
  expectEvents('data: a\r\n', [['message', 'a']])
})

test('[DONE] is delivered unchanged, with its spaces and repetitions', () => {
  expectEvents('data:[DONE]\n\ndata:  [DONE] \n\n', [
    ['message', '[DONE]'],
    ['message', ' [DONE] '],
  ])
})

test('an event over the size limit is reported and dropped, and the next one is read', () => {
  const body = Buffer.from(`data: a\n\ndata: ${'x'.repeat(200)}\n\ndata: b\n\n`)
  for (const { name, chunks } of chunkings(body)) {
    const { events, overflows } = parse(chunks, 100)
    assert.deepEqual(
      events.map(({ data }) => data),
      ['a', 'b'],
      name,
    )
    assert.equal(overflows, 1, name)
  }
})

test('a line of five megabytes keeps no more than the limit in memory', () => {
  let most = 0
  let bytes = 0
  const splitter = createSseSplitter({
    onFrame: (frame) => {
      bytes += frame.length
    },
    onOverflow: (piece) => {
      bytes += piece.length
    },
  })
  const piece = Buffer.alloc(1000, 'x')
  splitter.push(Buffer.from('data: '))
  for (let count = 0; count < 20_000; count += 1) {
    splitter.push(piece)
    most = Math.max(most, splitter.pendingBytes())
  }
  splitter.push(Buffer.from('\n\n'))
  splitter.end()
  assert.ok(most <= 8 * 1024 * 1024)
  assert.equal(bytes, 20_000_008)
})

test('an event that has not ended is held once, and passes when it is too large', () => {
  const passed: Buffer[] = []
  const splitter = createSseSplitter({
    onFrame: () => assert.fail('the event is too large'),
    onOverflow: (piece) => passed.push(piece),
  })
  const pieces = Array.from({ length: 200 }, (_, at) => Buffer.alloc(64 * 1024, `${at} `))
  for (const piece of pieces) {
    splitter.push(piece)
    const spare = splitter.heldBytes() - splitter.pendingBytes()
    assert.ok(spare <= 1024 * 1024, `${spare} bytes more than wait`)
  }
  assert.ok(Buffer.concat(passed).equals(Buffer.concat(pieces)))
})

test('pieces of all sizes are joined in their order', () => {
  const size = fc.constantFrom(1, 100, 8_191, 8_192, 8_193, 16_385)
  const check = (sizes: readonly number[]) => {
    const pieces = sizes.map((bytes, at) => Buffer.alloc(bytes, `${at} `))
    const frames: Buffer[] = []
    const splitter = createSseSplitter({ onFrame: (frame) => frames.push(frame) })
    for (const piece of pieces) splitter.push(piece)
    splitter.end()
    assert.deepEqual(frames, [Buffer.concat(pieces)])
  }
  fc.assert(fc.property(fc.array(size, { minLength: 1, maxLength: 40 }), check))
})

test('the frames joined are the body, byte for byte, at any chunking', () => {
  const piece = fc.constantFrom('\n', '\r', '\r\n', 'data: x', 'é', ':', '\n\n', 'event: y')
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat(6)), (pieces, sizes) => {
      const body = Buffer.from(pieces.join(''))
      const collect = (chunks: readonly Buffer[]) => {
        const frames: Buffer[] = []
        const splitter = createSseSplitter({ onFrame: (frame) => frames.push(frame) })
        for (const chunk of chunks) splitter.push(chunk)
        splitter.end()
        return Buffer.concat(frames)
      }
      const chunks: Buffer[] = []
      let rest = body
      for (const size of sizes) {
        chunks.push(rest.subarray(0, size))
        rest = rest.subarray(size)
      }
      assert.deepEqual(collect([...chunks, rest]), body)
      assert.deepEqual(parse([...chunks, rest]).events, parse([body]).events)
    }),
    { numRuns: 500 },
  )
})

test('an encoded event is read back', () => {
  const text = encodeSseEvent('ping', '{}') + encodeSseEvent(undefined, 'a\nb')
  assert.deepEqual(parse([Buffer.from(text)]).events, [
    { event: 'ping', data: '{}' },
    { event: 'message', data: 'a\nb' },
  ])
})

test('an event of millions of lines is read up to a limit', () => {
  const many = 'data:1\n'.repeat(200_000)
  const [event] = parse([Buffer.from(`${many}\n`)]).events
  assert.equal(event?.data.split('\n').length, 65_536)
})
