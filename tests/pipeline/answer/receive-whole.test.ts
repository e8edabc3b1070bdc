/** Large answers arrive on disk and wait for memory; without room for them, their calls fail. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { UpstreamFailure } from '../../../server/wire/upstreams/failure.ts'
import { readAtMost } from '../../../server/work/pipeline/answer/read-at-most.ts'
import { openRoom, receiveWhole } from '../../../server/work/pipeline/answer/receive-whole.ts'
import { testMemory } from '../../support/memory.ts'
import { until } from '../../support/until.ts'

const MB = 1024 ** 2
const PIECE = Buffer.alloc(64 * 1024, 'a')

function openLimited(bytesMax: number, answerBytesMax = 64 * MB, diskBytesMax = 1024 * MB) {
  const memory = testMemory({ bytesMax, diskBytesMax })
  const limits = { answerBytesMax } as never
  return { memory, open: (account: string) => openRoom({ limits, memory }, account) }
}

async function write(body: PassThrough, bytes: number): Promise<void> {
  for (let sent = 0; sent < bytes && !body.destroyed; sent += PIECE.length) {
    if (body.write(PIECE)) continue
    await new Promise<void>((resolve) => {
      const go = () => {
        body.off('drain', go).off('close', go)
        resolve()
      }
      body.on('drain', go).on('close', go)
    })
  }
}

const isUnknown = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof UpstreamFailure)
  assert.equal(error.kind, 'unknown')
  assert.match(error.message, message)
  return true
}

test('what a vendor sends to many calls at once is not kept in memory', async () => {
  const { memory, open } = openLimited(32 * MB)
  const calls = Array.from({ length: 30 }, (_, call) => {
    const body = new PassThrough()
    return { body, whole: receiveWhole(body, open(`account ${call % 3}`)) }
  })
  await Promise.all(calls.map(({ body }) => write(body, 8 * MB)))
  await until(
    'all of it on disk',
    () => memory.disk.usedInAll() + memory.bytes.usedInAll() > 236 * MB,
  )
  assert.ok(memory.bytes.usedInAll() < 16 * MB, `${memory.bytes.usedInAll()} bytes in memory`)
  for (const { body } of calls) body.destroy()
  for (const { whole } of calls) await assert.rejects(whole, isUnknown(/broke off/))
  await until('nothing to be kept', () => memory.disk.usedInAll() + memory.bytes.usedInAll() === 0)
})

test('a complete answer waits for its share of memory', async () => {
  const { memory, open } = openLimited(32 * MB)
  const [first, second] = [open('a'), open('b')]
  const read = async (room: typeof first) => {
    const body = new PassThrough()
    const whole = receiveWhole(body, room)
    await write(body, 12 * MB)
    body.end()
    return Buffer.concat(await whole)
  }
  assert.equal((await read(first)).length, 12 * MB)
  assert.equal(memory.bytes.usedInAll(), 24 * MB)
  let isRead = false
  const waiting = read(second).then((whole) => {
    isRead = true
    return whole
  })
  await until('the second one on disk', () => memory.disk.usedInAll() === 12 * MB)
  assert.equal(isRead, false)
  first.release()
  assert.ok((await waiting).every((byte) => byte === PIECE[0]))
  second.release()
  assert.equal(memory.disk.usedInAll() + memory.bytes.usedInAll(), 0)
})

test('without room on disk the answer fails, and nothing is kept', async () => {
  const { memory, open } = openLimited(32 * MB, 64 * MB, 3 * MB)
  const body = new PassThrough()
  const whole = receiveWhole(body, open('a'))
  const failed = assert.rejects(whole, isUnknown(/too large together/))
  await write(body, 40 * MB)
  await failed
  assert.equal(body.destroyed, true)
  await until('nothing to be kept', () => memory.disk.usedInAll() + memory.bytes.usedInAll() === 0)
})

test('an answer over the limit is told from one that breaks off', async () => {
  const { open } = openLimited(32 * MB, 2 * MB)
  const [long, broken] = [new PassThrough(), new PassThrough()]
  const read = readAtMost(long, open('a'))
  await write(long, 3 * MB)
  assert.equal(await read, undefined)
  const failed = assert.rejects(readAtMost(broken, open('a')), isUnknown(/broke off/))
  broken.destroy(new Error('reset'))
  await failed
})

test('an answer that is given up while it waits for memory takes none', async () => {
  const { memory, open } = openLimited(32 * MB)
  const other = memory.bytes.portion('b', 'whole')
  other.force(32 * MB)
  const room = open('a')
  const body = new PassThrough()
  const reading = receiveWhole(body, room, 100)
  body.end(Buffer.alloc(2 * MB))
  await assert.rejects(reading, isUnknown(/no whole answer in time/))
  room.release()
  other.release()
  await until('nothing to wait', () => memory.disk.usedInAll() === 0)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(memory.bytes.usedInAll(), 0)
})
