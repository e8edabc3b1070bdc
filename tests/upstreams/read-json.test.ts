/** Vendors' JSON answers that adapters read have their share of memory, and wait for it. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { beforeEach, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readJsonDocument } from '../../server/wire/upstreams/read-json.ts'
import { testMemory } from '../support/memory.ts'
import { until } from '../support/until.ts'

const MB = 1024 ** 2
const TEXT = 'a'.repeat(4 * MB)
const DOCUMENT = Buffer.from(JSON.stringify([TEXT]))

const memory = testMemory({ bytesMax: 48 * MB })

/** The most in use at once since it was set: an answer may be read between two looks at it. */
let most = 0
const { bytes } = memory
const add = bytes.add.bind(bytes)
bytes.add = (...change) => {
  add(...change)
  most = Math.max(most, bytes.usedInAll())
}
beforeEach(() => {
  most = 0
})

function read(body: PassThrough): Promise<unknown> {
  const response = { status: 200, headers: {}, body, room: { memory, account: 'a' } }
  return readJsonDocument(response, 8 * MB)
}

test('of many large answers at once, few are in memory, and all are read', async () => {
  const bodies = Array.from({ length: 10 }, () => new PassThrough())
  const answers = bodies.map(read)
  for (const body of bodies) body.end(DOCUMENT)
  for (const answer of answers) assert.deepEqual(await answer, [TEXT])
  assert.equal(most, 16 * MB)
  assert.equal(bytes.usedInAll(), 0)
})

test('a few compressed bytes have the room of what they may become', async () => {
  const body = new PassThrough()
  assert.deepEqual(await read(body.end(gzipSync(DOCUMENT))), [TEXT])
  assert.equal(most, 16 * MB)
  assert.equal(bytes.usedInAll(), 0)
})

test('an answer that breaks off, or is too large, gives its room back', async () => {
  const [broken, large] = [new PassThrough(), new PassThrough()]
  const answers = [read(broken), read(large)]
  broken.write(DOCUMENT)
  for (let sent = 0; sent < 3; sent += 1) large.write(DOCUMENT)
  await until('room to be taken', () => most > 0)
  broken.destroy()
  for (const answer of answers) await assert.rejects(answer, /broke off/)
  assert.equal(bytes.usedInAll(), 0)
})
