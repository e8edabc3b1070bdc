/** A recording inside a JSON body: whole, of the stated length, however it is read. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { openBody } from '../../../server/wire/upstreams/doubao-recognition/body-with-audio.ts'

const PIECE = 48 * 1024
const ORDER = { audio: { format: 'mp3' }, request: { model_name: 'bigmodel' } }

/** Gives at most so many bytes at a time. */
function fileOf(content: Buffer, atOnce: number) {
  return {
    bytes: content.length,
    async read(buffer: Uint8Array, position: number) {
      const part = content.subarray(position, position + Math.min(buffer.length, atOnce))
      buffer.set(part)
      return part.length
    },
    publish: async () => '',
  }
}

for (const bytes of [0, 1, 2, 3, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 2]) {
  test(`${bytes} bytes`, async () => {
    const content = randomBytes(bytes)
    for (const atOnce of [1_000, PIECE]) {
      const body = openBody(ORDER, fileOf(content, atOnce))
      const sent = Buffer.concat(await body.content.toArray())
      assert.equal(sent.length, body.bytes)
      const { audio, request } = JSON.parse(sent.toString())
      assert.deepEqual(request, ORDER.request)
      assert.equal(audio.format, 'mp3')
      assert.ok(Buffer.from(audio.data, 'base64').equals(content))
    }
  })
}

test('a file that ends early breaks the body off', async () => {
  const file = { ...fileOf(Buffer.alloc(10), 5), bytes: 20 }
  await assert.rejects(openBody(ORDER, file).content.toArray(), /ended early/)
})
