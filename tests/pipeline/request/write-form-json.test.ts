/** A form of pictures is written as JSON piece by piece, since it may have 32 MB. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DataUrl, writeFormJson } from '../../../server/work/pipeline/request/write-form-json.ts'

async function write(members: Readonly<Record<string, unknown>>) {
  let pauses = 0
  const json = await writeFormJson(members, async () => {
    pauses += 1
  })
  return { json: json.toString(), pauses }
}

test('the document is what JSON.stringify writes of the same texts', async () => {
  const picture = fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes))
  const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), picture)
  const members = fc.dictionary(fc.string(), fc.oneof(value, fc.array(value, { maxLength: 3 })))
  const mapped = (one: unknown, map: (picture: Buffer) => unknown): unknown => {
    if (Buffer.isBuffer(one)) return map(one)
    return Array.isArray(one) ? one.map((item) => mapped(item, map)) : one
  }
  const document = (from: object, map: (picture: Buffer) => unknown) =>
    Object.fromEntries(Object.entries(from).map(([name, one]) => [name, mapped(one, map)]))
  await fc.assert(
    fc.asyncProperty(members, async (form) => {
      const { json } = await write(document(form, (one) => new DataUrl('image/png', one)))
      const texts = document(form, (one) => `data:image/png;base64,${one.toString('base64')}`)
      assert.equal(json, JSON.stringify(texts))
    }),
  )
})

test('other work runs between the pieces of a large picture', async () => {
  const content = Buffer.alloc(3 * 1024 * 1024 + 1, 'picture')
  const { json, pauses } = await write({ image: new DataUrl('image/png', content) })
  assert.equal(pauses, 4)
  assert.equal(json, `{"image":"data:image/png;base64,${content.toString('base64')}"}`)
})
