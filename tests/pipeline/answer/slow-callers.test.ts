/** A caller that reads slowly pays for the whole answer, which its vendor has made and billed. */
import assert from 'node:assert/strict'
import { IncomingMessage, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { PassThrough, Readable, Writable } from 'node:stream'
import { test } from 'node:test'
import { createContext } from '../../../server/base/http/context.ts'
import type { Memory } from '../../../server/base/lib/memory/memory.ts'
import { createChatRelay } from '../../../server/wire/dialects/chat/relay.ts'
import type { Relay } from '../../../server/wire/dialects/relay.ts'
import { HeldBytes } from '../../../server/work/pipeline/answer/count-held.ts'
import { deliverStream } from '../../../server/work/pipeline/answer/deliver.ts'
import { openRoom } from '../../../server/work/pipeline/answer/receive-whole.ts'
import type { Services } from '../../../server/work/pipeline/services.ts'
import { testMemory } from '../../support/memory.ts'

const event = (data: unknown) => Buffer.from(`data: ${JSON.stringify(data)}\n\n`)
const FIRST = event({ choices: [{ index: 0, delta: { content: 'hello' } }] })
const MB = 1024 ** 2
const LARGE = event({ choices: [{ index: 0, delta: { content: 'x'.repeat(2 * MB) } }] })
const REST = [
  event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
  event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 50_000 } }),
  Buffer.from('data: [DONE]\n\n'),
]

/** The response to a caller that reads nothing. */
class Unread extends Writable {
  constructor() {
    super({ highWaterMark: 1, write: () => undefined })
  }

  writeHead(): this {
    return this
  }
}

interface Delivered {
  readonly first?: Buffer
  readonly memory?: Memory
  readonly totalMs?: number
  readonly change?: Partial<Relay>
  /** The caller has gone before the answer, and the vendor stops by that. */
  readonly isGone?: boolean
}

function deliver(
  body: Readable,
  {
    first: sent = FIRST,
    memory = testMemory(),
    totalMs = 1,
    change,
    isGone = false,
  }: Delivered = {},
) {
  const request = new IncomingMessage(new Socket())
  const route = { path: '/', pattern: '/', query: new URLSearchParams(), params: {} }
  const response = new Unread() as unknown as ServerResponse
  if (isGone) response.destroy()
  const context = createContext(request, response, { ...route, envelope: 'nested' }, memory)
  const hour = 3_600_000
  const limits = { clientStallMs: hour, drainMs: hour, drainSlots: 1, drainBytes: 1_000_000 }
  const log = { warn: () => undefined, error: () => undefined }
  const services = { limits, log, inFlight: { add: () => () => undefined } }
  const relay = createChatRelay({ includeUsage: true })
  const first = relay.push(sent)
  const answer = {
    kind: 'stream',
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    takeFirst: () => ({ words: first }),
    body,
    relay: { ...boundOf(relay), ...change },
    held: new HeldBytes(relay, openRoom({ limits: {} as never, memory }, 'a')),
    ended: false,
    stopsOnCancel: isGone,
    cutsWhenBroken: false,
    heartbeat: Buffer.from(': ping\n\n'),
  } as const
  return deliverStream(context, answer, services as unknown as Services, { totalMs })
}

function boundOf(relay: Relay): Relay {
  return {
    push: (chunk) => relay.push(chunk),
    end: () => relay.end(),
    fail: (failure) => relay.fail(failure),
    report: () => relay.report(),
  }
}

test('at the time limit the rest of an answer is read without its caller', async () => {
  const { end, callerGone, report } = await deliver(Readable.from(REST))
  assert.deepEqual({ end, callerGone }, { end: 'complete', callerGone: true })
  assert.deepEqual(report.usage, { input_token: 10, output_token: 50_000 })
})

test('what a caller does not read counts in memory, and beyond it the caller is let go', async () => {
  const totalMs = 3_600_000
  const kept = testMemory({ bytesMax: 64 * MB })
  const silent = new PassThrough()
  const delivered = deliver(silent, { first: LARGE, memory: kept, totalMs })
  assert.ok(kept.bytes.usedInAll() >= 2 * MB)
  silent.destroy()
  assert.equal((await delivered).callerGone, false)

  const memory = testMemory({ bytesMax: 5 * MB })
  memory.bytes.portion('another', 'request').force(3 * MB)
  const rest = Readable.from(REST)
  const { end, callerGone, report } = await deliver(rest, { first: LARGE, memory, totalMs })
  assert.deepEqual({ end, callerGone }, { end: 'complete', callerGone: true })
  assert.deepEqual(report.usage, { input_token: 10, output_token: 50_000 })
})

test('nothing goes on for a caller that has gone before its answer', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const before = timers()
  const body = new PassThrough()
  const { end, callerGone } = await deliver(body, { isGone: true, totalMs: 3_600_000 })
  assert.deepEqual({ end, callerGone }, { end: 'aborted', callerGone: true })
  assert.equal(body.destroyed, true)
  assert.equal(timers(), before)
})

test('a relay that fails, and fails to say so, ends the stream', async () => {
  const fail = () => {
    throw new Error('a fault of the relay')
  }
  const { end, report } = await deliver(Readable.from(REST), { change: { push: fail, fail } })
  assert.equal(end, 'broken')
  assert.equal(report.outputBytes, 5)
})
