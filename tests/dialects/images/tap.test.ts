/** A stream of images: bytes pass, and what it cost is known at each point of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createImagesTap } from '../../../server/wire/dialects/images/tap.ts'
import { createRandom } from '../../../testbed/random.ts'

const event = (type: string, data: object) =>
  `event: image_generation.${type}\ndata: ${JSON.stringify({ type: `image_generation.${type}`, ...data })}\n\n`
const PREVIEW = event('partial_image', { b64_json: 'AAAA', partial_image_index: 0 })
const USAGE = { input_tokens: 5, output_tokens: 272, total_tokens: 277 }
const WHOLE = event('completed', { b64_json: 'AAAAAAAA', quality: 'low', usage: USAGE })
const ONE = event('partial_succeeded', { url: 'https://m.example/0.png', image_index: 0 })
const FAILED = event('partial_failed', { error: { code: 'Sensitive', message: 'no' } })
const LAST = event('completed', { usage: { generated_images: 1, output_tokens: 16_384 } })
const DONE = 'data: [DONE]\n\n'

function run(text: string, images = 1, size = text.length) {
  const tap = createImagesTap(images)
  const out: Buffer[] = []
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) {
    const passed = tap.push(bytes.subarray(at, at + size))
    if (passed) out.push(passed)
  }
  return { tap, out: () => Buffer.concat(out).toString() }
}

test('bytes pass at any chunking, and usage is read', () => {
  for (const text of [PREVIEW + WHOLE, ONE + FAILED + LAST + DONE]) {
    for (const size of [1, 7, 64, 10_000]) {
      const { tap, out } = run(text, 1, size)
      assert.equal(tap.end(), undefined)
      assert.equal(out(), text)
      assert.equal(tap.report().finished, true)
      assert.equal(tap.report().error, undefined)
      assert.equal(tap.report().usage?.image, 1)
    }
  }
  const { tap } = run(PREVIEW + WHOLE)
  assert.deepEqual(tap.report().usage, { image: 1, input_token: 5, image_output_token: 272 })
  assert.deepEqual(tap.report().facts, { quality: 'low' })
})

test('previews alone are no image', () => {
  const { tap } = run(PREVIEW)
  assert.deepEqual(tap.report(), { outputBytes: 0, finished: false })
})

test('the end of a stream passes if it has an image or its usage is stated', () => {
  const usage = event('usage', { usage: USAGE })
  for (const text of [ONE + DONE, PREVIEW + usage + DONE]) {
    const { tap, out } = run(text)
    assert.equal(tap.end(), undefined)
    assert.equal(out(), text)
    assert.equal(tap.report().finished, true)
  }
  const { tap, out } = run(PREVIEW + DONE)
  assert.match(String(tap.end()), /^event: error\n/)
  assert.equal(out(), PREVIEW)
})

test('each of several images has its ending', () => {
  const { tap } = run(WHOLE + WHOLE, 3)
  assert.equal(tap.report().finished, false)
  tap.push(Buffer.from(WHOLE))
  assert.equal(tap.report().finished, true)
  assert.equal(tap.report().usage?.image, 3)
})

test('fewer images than requested are a response when the body ends', () => {
  const { tap } = run(WHOLE, 3)
  assert.equal(tap.end(), undefined)
  assert.equal(tap.report().finished, true)
})

test('a sequence that broke off is known by its images', () => {
  const { tap } = run(ONE + ONE, 4)
  const output = tap.fail({ type: 'server_error', message: 'gone' })?.toString() ?? ''
  assert.match(output, /^event: error\ndata: .*"message":"gone"/)
  assert.equal(tap.report().usage?.image, 2)
  assert.equal(tap.report().finished, false)
})

test('a body without an ending gets an error event, once', () => {
  const { tap } = run(PREVIEW)
  assert.match(tap.end()?.toString() ?? '', /^event: error/)
  assert.equal(tap.fail({ type: 'server_error', message: 'gone' }), undefined)
})

test('the upstream’s own error passes and is reported', () => {
  const error = { code: 'InternalServiceError', message: 'oh' }
  const { tap, out } = run(`event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`)
  assert.equal(tap.report().error?.message, 'oh')
  assert.equal(tap.end(), undefined)
  assert.match(out(), /InternalServiceError/)
})

test('each image’s own usage is added; a total of all, and less, is not', () => {
  const sum = { image: 2, input_token: 10, image_output_token: 544 }
  const none = event('completed', { usage: { input_tokens: 0, output_tokens: 0 } })
  const total = event('usage', { usage: { input_tokens: 10, output_tokens: 544 } })
  for (const text of [WHOLE + WHOLE, WHOLE + WHOLE + total, WHOLE + WHOLE + none]) {
    assert.deepEqual(run(text, 2).tap.report().usage, sum)
  }
  const [first, last] = [1, 2].map((count) =>
    event('completed', { url: 'https://m.example/0.png', usage: { generated_images: count } }),
  )
  assert.equal(run(`${first}${last}`, 2).tap.report().usage?.image, 2)
})

for (const [name, stated, input, output] of [
  [
    'of each image',
    [
      [5, 272],
      [5, 272],
      [5, 300],
    ],
    15,
    844,
  ],
  [
    'of all so far, the prompt once',
    [
      [5, 272],
      [5, 544],
      [5, 816],
    ],
    5,
    816,
  ],
  [
    'of all so far, the prompt for each',
    [
      [5, 272],
      [10, 544],
      [15, 800],
    ],
    15,
    800,
  ],
] as const) {
  test(`usage beside each of several images is ${name}`, () => {
    const events = stated.map(([input_tokens, output_tokens]) =>
      event('completed', { url: 'https://m.example/0', usage: { input_tokens, output_tokens } }),
    )
    const { usage } = run(events.join(''), stated.length).tap.report()
    assert.deepEqual(usage, { image: 3, input_token: input, image_output_token: output })
  })
}

/** An event with usage, behind previews. */
const image = (output_tokens: number, previews = 0) =>
  PREVIEW.repeat(previews) +
  event('completed', { url: 'u', usage: { input_tokens: 5, output_tokens } })
for (const [name, text, input, output] of [
  ['of each, the second with previews', image(272) + image(572, 3), 10, 844],
  ['of all, the second with previews', image(272) + image(844, 3), 5, 844],
  ['of all, each with previews', image(572, 3) + image(1144, 3), 5, 1144],
  ['of all, the first with previews', image(572, 3) + image(844), 5, 844],
  ['of each, with previews that are not billed', image(250, 3) + image(250), 10, 500],
  ['of each, a portrait after a square', image(272) + image(408), 10, 680],
  ['of all, a square after a portrait', image(408) + image(680), 5, 680],
  ['of each, which only the third shows', image(272) + image(544) + image(544), 15, 1360],
] as const) {
  test(`usage beside images is ${name}`, () => {
    const images = text.split('.completed"').length - 1
    const { usage } = run(text, images).tap.report()
    assert.deepEqual(usage, { image: images, input_token: input, image_output_token: output })
  })
}

test('each image’s own cost is added, exactly; totals of costs are not', () => {
  const told = (...costs: readonly number[]) => {
    const usages = costs.map((cost) => event('completed', { url: 'u', usage: { cost } }))
    return run(usages.join(''), costs.length).tap.report().statedCost?.nanos
  }
  const random = createRandom(14)
  for (let round = 0; round < 500; round += 1) {
    const each = random.integer(1, 900_000_000)
    const costs = Array.from({ length: random.integer(2, 9) }, () => {
      return each - random.integer(0, Math.floor(each / 4))
    })
    const sum = costs.reduce((total, cost) => total + cost, 0)
    assert.equal(told(...costs.map((cost) => cost / 1e9)), BigInt(sum), `${costs}`)
  }
  assert.equal(told(0.1, 0.2, 0.3), 300_000_000n)
  const both = [0.05, 0.05].map((cost) =>
    event('completed', { url: 'u', usage: { ...USAGE, cost } }),
  )
  assert.equal(run(both.join(''), 2).tap.report().statedCost?.nanos, 100_000_000n)
})

test('sizes are those of the images; several match no price', () => {
  const image = (size: string) => event('partial_succeeded', { url: 'https://m.example/0', size })
  const end = event('completed', { usage: { generated_images: 2 } })
  const sizeOf = (...sizes: string[]) =>
    run(sizes.map(image).join('') + end, 2).tap.report().facts?.size
  assert.equal(sizeOf('4096x4096', '4096x4096'), '4096x4096')
  assert.equal(sizeOf('1024x1024', '4096x4096'), '1024x1024 4096x4096')
  assert.equal(sizeOf(), undefined)
})

test('an event that is too large passes, and its image and its usage count', () => {
  const b64_json = 'A'.repeat(25 * 1024 * 1024)
  const usage = { input_tokens: 5, output_tokens: 9_000, total_tokens: 9_005 }
  const large = event('completed', { b64_json, quality: 'high', usage })
  const { tap, out } = run(large + large, 2, 1024 * 1024)
  tap.end()
  assert.equal(out().length, 2 * large.length)
  const units = { image: 2, input_token: 10, image_output_token: 18_000 }
  assert.deepEqual(tap.report().usage, units)
  assert.deepEqual(tap.report().facts, { quality: 'high' })
  assert.equal(tap.report().finished, true)
})

test('an image over the limit counts by the name of its event, where the data has no type', () => {
  const usage = JSON.stringify(USAGE)
  for (const type of ['', '"type":"image_generation.completed",']) {
    const image = 'A'.repeat(24 * 1024 * 1024)
    const data = `{${type}"b64_json":"${image}","usage":${usage}}`
    const { tap } = run(`event: image_generation.completed\ndata: ${data}\n\n`, 1, 1024 * 1024)
    assert.equal(tap.report().finished, true)
    assert.deepEqual(tap.report().usage, { image: 1, input_token: 5, image_output_token: 272 })
  }
})
