/** What whole answers say, in both vendors' forms and in bad ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createImagesBody } from '../../../server/wire/dialects/images/body.ts'
import { readImagesBody } from '../../../server/wire/dialects/images/read-answer.ts'
import {
  countImagesMost,
  countTokensMost,
  readImageFacts,
} from '../../../server/wire/dialects/images/read-request.ts'

const image = { url: 'https://m.example/0.png', size: '2048x2048' }
const failed = { error: { code: 'OutputImageSensitiveContentDetected', message: 'no' } }

test('images are counted by their content, unless the vendor says how many it bills', () => {
  assert.equal(readImagesBody({ data: [image, failed] }).usage?.image, 1)
  const usage = { generated_images: 2, output_tokens: 9, total_tokens: 9 }
  assert.deepEqual(readImagesBody({ data: [image], usage }).usage, {
    image: 2,
    image_output_token: 9,
  })
  const odd = readImagesBody({ data: [image], usage: { generated_images: '2' } })
  assert.equal(odd.usage?.image, 1)
  const none = readImagesBody({ data: [image], usage: { generated_images: 0 } })
  assert.equal(none.usage?.image, 1, 'what was delivered was made')
})

test('what the model chose', () => {
  assert.deepEqual(readImagesBody({ data: [failed, image] }).facts, { size: '2048x2048' })
  const answer = { data: [image], size: '1024x1024', quality: 'high' }
  assert.deepEqual(readImagesBody(answer).facts, { size: '2048x2048', quality: 'high' })
})

test('an error, or anything that is no answer, is an error', () => {
  for (const document of [{ error: { message: 'no' } }, { error: 'no' }]) {
    assert.equal(readImagesBody(document).error?.message, 'no')
  }
  for (const document of [undefined, null, [], 'x', {}, { data: {} }]) {
    assert.ok(readImagesBody(document).error)
  }
})

test('the bytes pass, and a time of another name gets its own', () => {
  const through = (document: object) => {
    const relay = createImagesBody()
    const bytes = Buffer.from(JSON.stringify(document, null, 1))
    relay.push(bytes)
    return { before: bytes.toString(), after: relay.end()?.toString() ?? '' }
  }
  const same = through({ created: 7, data: [image] })
  assert.equal(same.after, same.before)
  const { after } = through({ created_at: 7, data: [image] })
  assert.deepEqual(JSON.parse(after), { created: 7, data: [image] })
})

test('the most that a request can come to', () => {
  assert.equal(countImagesMost({}), 1)
  assert.equal(countImagesMost({ n: 4 }), 4)
  assert.equal(countImagesMost({ n: null, sequential_image_generation: 'disabled' }), 1)
  assert.equal(countImagesMost({ sequential_image_generation: 'auto' }), 15)
  const sequential_image_generation_options = { max_images: 6 }
  const sequence = { sequential_image_generation: 'auto', sequential_image_generation_options }
  assert.equal(countImagesMost(sequence), 6)
  assert.equal(countImagesMost({ n: 2, sequential_image_generation_options }), 2)
})

test('tokens by size, previews included', () => {
  assert.equal(countTokensMost({ size: '1024x1024' }), 6_240)
  assert.equal(countTokensMost({ size: '2K' }), 16_384)
  assert.equal(countTokensMost({ size: '4096x4096' }), 65_536)
  assert.equal(countTokensMost({ size: 'auto', partial_images: 3 }), 16_684)
  for (const size of ['4096X4096', '4096 * 4096', ' 4096×4096', '４０９６,4096', '4096']) {
    assert.equal(countTokensMost({ size }), 65_536, size)
  }
  for (const size of ['16:9', '512 512', 'landscape_16_9', '']) {
    assert.equal(countTokensMost({ size }), 16_384, size)
  }
})

test('auto is no fact', () => {
  assert.deepEqual(readImageFacts({ size: 'auto', quality: 'hd', style: 7 }), { quality: 'hd' })
})
