/** The most images that an answer may state: those of its request. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imageMetering } from '../../../server/api/endpoints/images/image-request.ts'
import type { QuotedRequest } from '../../../server/work/pipeline/metering.ts'

function boundOf(value: object): number | undefined {
  const body = Buffer.from(JSON.stringify(value))
  const model = { type: 'image', prices: [], limits: {} }
  const request = { value, body, fields: new Map(), headers: {}, model } as unknown
  return imageMetering.quote(request as QuotedRequest).ceiling.units?.image
}

test('as many as are requested, and some that models make whatever is requested', () => {
  const plain = { model: 'm', prompt: 'a river', size: '1024x1024', seed: 90, image: null }
  assert.equal(boundOf(plain), 4)
  assert.equal(boundOf({ ...plain, n: 1, aspect: null }), 4)
  assert.equal(boundOf({ ...plain, n: 10 }), 10)
  assert.equal(boundOf({ ...plain, sequential_image_generation: 'auto' }), 15)
})

test('as many as any vendor makes if another member may be a number of images', () => {
  assert.equal(boundOf({ model: 'm', prompt: 'a river', n: 1, amount: 40 }), 128)
  assert.equal(boundOf({ model: 'm', prompt: 'a river', parameters: { amount: 40 } }), 128)
})
