/** Other work comes between the pieces of answers that take long to read. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { createChatCollector } from '../../../server/wire/dialects/chat/collect-stream.ts'
import type { Relay } from '../../../server/wire/dialects/relay.ts'
import { UPSTREAM_ERROR } from '../../../server/wire/dialects/reported-error.ts'
import { createBodyTap } from '../../../server/wire/dialects/tap.ts'
import { UpstreamFailure } from '../../../server/wire/upstreams/failure.ts'
import { HeldBytes } from '../../../server/work/pipeline/answer/count-held.ts'
import { openAnswer } from '../../../server/work/pipeline/answer/open-answer.ts'
import { openRoom } from '../../../server/work/pipeline/answer/receive-whole.ts'
import { testMemory } from '../../support/memory.ts'

const MB = 1024 ** 2
const LONG_MS = 12

function open(
  relay: Relay,
  body: Buffer,
  refusal: () => UpstreamFailure | undefined = () => undefined,
) {
  const memory = testMemory({ bytesMax: 64 * MB })
  const room = openRoom({ limits: { answerBytesMax: 64 * MB } as never, memory }, 'a')
  const stream = new PassThrough({ highWaterMark: 64 * MB })
  stream.end(body)
  return openAnswer({ status: 200, headers: {}, body: stream, relay, stream: false, refusal }, room)
}

/** Passes everything on, and notes how large the pieces were and what ran between them. */
function createSlowRelay() {
  const pieces: { bytes: number; turn: number }[] = []
  let turn = 0
  const count = () => {
    turn += 1
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  const relay: Relay = {
    push(chunk) {
      pieces.push({ bytes: chunk.length, turn })
      const startedAt = performance.now()
      while (performance.now() - startedAt < LONG_MS);
      return chunk
    },
    end: () => undefined,
    fail: () => undefined,
    report: () => ({ outputBytes: 1, finished: true }),
  }
  return { relay, pieces, stop: () => clearImmediate(timer) }
}

test('events of a whole answer are read in pieces, one in each turn of the loop', async () => {
  const { relay, pieces, stop } = createSlowRelay()
  const body = Buffer.alloc(MB / 2 + 1, 'data: {}\n\n')
  const answer = await open(relay, body)
  stop()
  assert.ok(answer.kind === 'whole' && answer.body.equals(body))
  assert.equal(pieces.length, 9)
  assert.ok(pieces.every(({ bytes }) => bytes <= MB / 16))
  assert.equal(new Set(pieces.map(({ turn }) => turn)).size, 9)
})

test('a document is read in one piece, since it is read at its end', async () => {
  const { relay, pieces, stop } = createSlowRelay()
  const body = Buffer.from(JSON.stringify({ text: 'x'.repeat(MB / 2) }))
  const answer = await open(relay, body)
  stop()
  assert.ok(answer.kind === 'whole' && answer.body.equals(body))
  assert.deepEqual(
    pieces.map(({ bytes }) => bytes),
    [body.length],
  )
})

test('an answer of millions of values is one that cannot be read', async () => {
  const read = (document: unknown) => {
    return document ? { outputBytes: 1 } : { outputBytes: 0, error: UPSTREAM_ERROR }
  }
  const refusal = () => new UpstreamFailure('failed')
  const answer = (count: number) => {
    const body = Buffer.from(`{"choices":[${'{},'.repeat(count)}{}]}`)
    return open(createBodyTap(read), body, refusal)
  }
  assert.equal((await answer(2 ** 18)).kind, 'whole')
  // The vendor may have done the work, so that no other route is tried.
  await assert.rejects(answer(2 ** 20), { kind: 'unknown' })
})

test('an answer of many events is what it is when it is read at once', async () => {
  const chunk = (delta: object, finish_reason: string | null = null) => {
    return `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  }
  const body = Buffer.from(`${chunk({ content: 'ä' }).repeat(4_000)}${chunk({}, 'stop')}`)
  const whole = createChatCollector()
  whole.push(body)
  const expected = whole.end()
  const answer = await open(createChatCollector(), body)
  assert.ok(answer.kind === 'whole' && expected)
  assert.equal(answer.body.toString(), expected.toString())
})

test('a stream waits for its turn after chunks that took long together', () => {
  const memory = testMemory({ bytesMax: MB })
  const held = new HeldBytes({}, openRoom({ limits: {} as never, memory }, 'a'))
  const goesOn = (tookMs: number) => held.add(100, tookMs)
  assert.deepEqual([4, 4, 4, 4].map(goesOn), [true, true, false, true])
  assert.equal(goesOn(60), false)
  const short = Array.from({ length: 1_000 }, () => goesOn(0.5))
  assert.ok(short.every(Boolean), 'many short ones let others run by themselves')
})
