/** What is large waits for its account's turn: bodies, whole answers, streams. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { IncomingMessage, type ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Readable, Writable } from 'node:stream'
import { test } from 'node:test'
import { z } from 'zod'
import { readBody } from '../../server/base/http/body.ts'
import { type Context, createContext } from '../../server/base/http/context.ts'
import { LoopShare } from '../../server/base/lib/queues/loop-share.ts'
import { createChatRelay } from '../../server/wire/dialects/chat/relay.ts'
import { HeldBytes } from '../../server/work/pipeline/answer/count-held.ts'
import { deliverStream } from '../../server/work/pipeline/answer/deliver.ts'
import { openRoom, receiveWhole } from '../../server/work/pipeline/answer/receive-whole.ts'
import { readJson, readRequest } from '../../server/work/pipeline/request/read-request.ts'
import type { Services } from '../../server/work/pipeline/services.ts'
import { testMemory } from '../support/memory.ts'

const GB = 1024 ** 3
const PIECES = Array.from({ length: 20 }, () => Buffer.alloc(64 * 1024, 'a'))
const EVENTS = [
  ...PIECES.map((piece) => Buffer.from(`data: {"choices":[{"index":0,"x":"${piece}"}]}\n\n`)),
  Buffer.from('data: [DONE]\n\n'),
]

/** Memory in which one account has used more than its share of the event loop. */
function openShared() {
  const state = { isShared: true }
  // Of a loop that is always busy: what a machine really uses is not the test's to decide.
  const loop = new LoopShare(
    () => state.isShared,
    undefined,
    () => 1,
  )
  const memory = { ...testMemory(), loop }
  memory.loop.count('large', GB)
  return { state, memory }
}

type Shared = ReturnType<typeof openShared>

function contextOf(accountId: string, { memory }: Shared, request: object): Context {
  const route = { path: '/', pattern: '/', query: new URLSearchParams(), params: {} }
  const written = new Writable({ write: (_chunk, _encoding, done) => done() })
  const head = { writeHead: () => written, flushHeaders: () => undefined }
  const response = Object.assign(written, head) as unknown as ServerResponse
  const shown = { ...route, envelope: 'nested' } as const
  const context = createContext(request as IncomingMessage, response, shown, memory)
  context.facts.accountId = accountId
  return context
}

function receiveBody(account: string, shared: Shared): Promise<unknown> {
  const body = Readable.from(PIECES, { objectMode: false })
  const request = Object.assign(body, { headers: {}, complete: true })
  return readBody(contextOf(account, shared, request), GB)
}

function receiveAnswer(account: string, { memory }: Shared): Promise<unknown> {
  const room = openRoom({ limits: { answerBytesMax: GB } as never, memory }, account)
  return receiveWhole(Readable.from(PIECES, { objectMode: false }), room)
}

async function receiveStream(account: string, shared: Shared): Promise<void> {
  const context = contextOf(account, shared, new IncomingMessage(new Socket()))
  const services = {
    limits: { clientStallMs: 3_600_000, drainMs: 3_600_000, drainSlots: 1, drainBytes: GB },
    log: { warn: () => undefined, error: () => undefined },
    inFlight: { add: () => () => undefined },
  }
  const relay = createChatRelay({ includeUsage: true })
  const answer = {
    kind: 'stream',
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    takeFirst: () => ({}),
    body: Readable.from(EVENTS, { objectMode: false }),
    relay,
    held: new HeldBytes(relay, openRoom({ limits: {} as never, memory: shared.memory }, account)),
    ended: false,
    stopsOnCancel: false,
    cutsWhenBroken: false,
    heartbeat: undefined,
  } as const
  const bounds = { totalMs: 3_600_000 }
  const delivered = await deliverStream(context, answer, services as unknown as Services, bounds)
  assert.equal(delivered.end, 'complete')
}

for (const [what, receive] of Object.entries({ receiveBody, receiveAnswer, receiveStream })) {
  test(`${what}: one account waits until others have ended, another does not`, async () => {
    const shared = openShared()
    let isReceived = false
    const waiting = receive('large', shared).then(() => {
      isReceived = true
    })
    for (let count = 0; count < 3; count += 1) await receive(`other ${count}`, shared)
    assert.equal(isReceived, false)
    shared.state.isShared = false
    await waiting
  })
}

/** Counts the turns that account `other` takes. */
function countTurns({ memory: { loop }, state }: Shared): () => number {
  state.isShared = false
  let turns = 0
  const turn = loop.turn.bind(loop)
  loop.turn = (account) => {
    turns += 1
    return turn(account)
  }
  return () => turns
}

const listOf = (texts: number) =>
  Buffer.from(JSON.stringify({ x: Array(texts).fill('a'.repeat(1_000)) }))

test('a long body is scanned and parsed in turns of a megabyte, and judged in another', async () => {
  const turnsOf = async (texts: number) => {
    const shared = openShared()
    const turns = countTurns(shared)
    const body = Readable.from([listOf(texts)], { objectMode: false })
    const request = Object.assign(body, { headers: {}, complete: true })
    await readJson(contextOf('other', shared, request), GB, z.looseObject({}))
    return turns()
  }
  assert.equal(await turnsOf(1_000), 1)
  const turns = await turnsOf(9_000)
  assert.ok(turns >= 1 + 8 + 8 && turns <= 1 + 9 + 9 + 2, `${turns} turns`)
})

test('the digest of a long body takes turns, and is that of all its bytes', async () => {
  const reading = { bodyBytesMax: GB, schema: z.looseObject({}) }
  const services = { limits: { jsonBytesMax: GB } }
  const bytes = listOf(5_000)
  const turnsWith = async (headers: object) => {
    const shared = openShared()
    const turns = countTurns(shared)
    const body = Readable.from([bytes], { objectMode: false })
    const request = Object.assign(body, { headers, url: '/v1/x', complete: true })
    const context = contextOf('other', shared, request)
    const read = await readRequest(context, reading as never, {} as never, services as never)
    const expected = createHash('sha256').update('/v1/x\n').update(bytes).digest()
    assert.deepEqual(read.digest(), expected)
    return turns()
  }
  assert.equal((await turnsWith({ 'idempotency-key': 'k' })) - (await turnsWith({})), 2)
})

test('a long body counts twice, and its pieces that are no ASCII once more', async () => {
  const MB = 1024 ** 2
  const usedOf = async (bytes: Buffer) => {
    const shared = openShared()
    shared.state.isShared = false
    const request = { headers: {}, complete: true }
    const source = Object.assign(Readable.from([bytes], { objectMode: false }), request)
    await readBody(contextOf('other', shared, source), GB)
    return shared.memory.bytes.usedInAll()
  }
  const bytes = Buffer.alloc(3 * MB, 'a')
  assert.equal(await usedOf(bytes), 2 * bytes.length)
  bytes.write('中', MB + 7)
  assert.equal(await usedOf(bytes), 2 * bytes.length + MB)
  assert.equal(await usedOf(Buffer.from('中'.repeat(1_000))), 6_000)
})
