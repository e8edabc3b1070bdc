/** Vendors' JSON answers that adapters read have their share of memory, and wait for it. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readJsonDocument } from '../../server/upstreams/read-json.ts'
import { testMemory } from '../support/memory.ts'
import { until } from '../support/until.ts'

const MB = 1024 ** 2
const TEXT = 'a'.repeat(4 * MB)
const DOCUMENT = Buffer.from(JSON.stringify([TEXT]))

const memory = testMemory({ bytesMax: 48 * MB })

function read(body: PassThrough): Promise<unknown> {
  const response = { status: 200, headers: {}, body, room: { memory, account: 'a' } }
  return readJsonDocument(response, 8 * MB)
}

test('of many large answers at once, few are in memory, and all are read', async () => {
  const bodies = Array.from({ length: 10 }, () => new PassThrough())
  const answers = bodies.map(read)
  for (const body of bodies) body.end(DOCUMENT)
  await until('some to be read', () => memory.bytes.usedInAll() > 0)
  assert.equal(memory.bytes.usedInAll(), 16 * MB)
  for (const answer of answers) assert.deepEqual(await answer, [TEXT])
  assert.equal(memory.bytes.usedInAll(), 0)
})

test('a few compressed bytes have the room of what they may become', async () => {
  const body = new PassThrough()
  const answer = read(body.end(gzipSync(DOCUMENT)))
  await until('room to be taken', () => memory.bytes.usedInAll() > 0)
  assert.equal(memory.bytes.usedInAll(), 16 * MB)
  assert.deepEqual(await answer, [TEXT])
  assert.equal(memory.bytes.usedInAll(), 0)
})

test('an answer that breaks off, or is too large, gives its room back', async () => {
  const [broken, large] = [new PassThrough(), new PassThrough()]
  const answers = [read(broken), read(large)]
  broken.write(DOCUMENT)
  for (let sent = 0; sent < 3; sent += 1) large.write(DOCUMENT)
  await until('room to be taken', () => memory.bytes.usedInAll() > 0)
  broken.destroy()
  for (const answer of answers) await assert.rejects(answer, /broke off/)
  assert.equal(memory.bytes.usedInAll(), 0)
})
