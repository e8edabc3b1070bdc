/** The most images of a request, whatever their number is called and wherever it stands. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countImagesMost } from '../../../server/wire/dialects/images/read-request.ts'
import { createRandom, type Random } from '../../../testbed/random.ts'

const NAMES = ['n', 'num_images', 'number_of_images', 'batch_size', 'sample_count'] as const
const HOLDERS = ['parameters', 'extra_body', 'input', 'x'] as const

/** Writes a name as `batch_size`, `batchSize`, `Batch-Size` or `BATCHSIZE`. */
function spell(random: Random, name: string): string {
  const words = name.split('_')
  const upper = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1)
  return random.pick([
    name,
    name.toUpperCase(),
    words.map((word, at) => (at === 0 ? word : upper(word))).join(''),
    words.map(upper).join('-'),
  ])
}

function hide(random: Random, member: object): object {
  const depth = random.integer(0, 3)
  let hidden = member
  for (let left = depth; left > 0; left -= 1) hidden = { a: [1], [random.pick(HOLDERS)]: hidden }
  return hidden
}

test('a number under another name, in any spelling and place, is counted', () => {
  const random = createRandom(11)
  for (let round = 0; round < 2_000; round += 1) {
    const count = random.integer(1, 128)
    const stated = random.next() < 0.5 ? count : String(count)
    const other = hide(random, { [spell(random, random.pick(NAMES))]: stated })
    const request = { prompt: 'a river', n: random.integer(1, count), ...other }
    assert.equal(countImagesMost(request), count, JSON.stringify(request))
  }
})

test('items of a list are orders beside each other', () => {
  const random = createRandom(12)
  for (let round = 0; round < 500; round += 1) {
    const counts = Array.from({ length: random.integer(1, 5) }, () => random.integer(1, 20))
    const items = counts.map((count) => hide(random, { [random.pick(NAMES)]: count }))
    const request = { prompt: 'a river', n: 1, [random.pick(HOLDERS)]: items }
    const sum = counts.reduce((total, count) => total + count, 0)
    assert.equal(countImagesMost(request), sum, JSON.stringify(request))
  }
  assert.equal(countImagesMost({ requests: Array(1_000).fill({ n: 4 }) }), 128)
  const deep = JSON.parse(`${'['.repeat(2_000)}{"n":4}${']'.repeat(2_000)}`)
  assert.equal(countImagesMost({ deep }), 1)
})

test('what is no number of images counts as one, and no number is above what answers state', () => {
  for (const value of [null, -1, 0.5, '', 'two', ['two'], true, 9e99, 'x'.repeat(99)]) {
    assert.equal(countImagesMost({ prompt: 'a river', batch_size: value }), 1)
  }
  assert.equal(countImagesMost({ prompt: 'a river', seed: 9, style: '7', image: ['a', 'b'] }), 1)
  assert.equal(countImagesMost({ batch_size: 1_000_000 }), 128)
})

/** The digits of some other scripts, as Python's `int` reads them. */
const ZEROS = [0x660, 0x966, 0xff10, 0x1d7d8] as const

test('a number that only some vendors can read is held for', () => {
  const random = createRandom(13)
  for (let round = 0; round < 500; round += 1) {
    const count = random.integer(1, 15)
    const zero = random.pick(ZEROS)
    const foreign = [...String(count)].map((digit) => String.fromCodePoint(zero + Number(digit)))
    const spelt = [foreign.join(''), `+${count}`, [...String(count)].join('_'), ` ${count}.0 `]
    const name = random.pick([
      'num_images',
      'num.images',
      'Num Images',
      'numİmages',
      'n ',
      'n[]',
      'ｎ',
    ])
    const request = { n: 1, [name]: random.pick<unknown>([[count], [`${count}`], ...spelt]) }
    assert.ok(countImagesMost(request) >= count, JSON.stringify(request))
    assert.ok(countImagesMost(request) <= 15, JSON.stringify(request))
  }
})

test('a sequence has as many as its options allow, and fifteen by itself', () => {
  const auto = { sequential_image_generation: 'auto' }
  const options = { sequential_image_generation_options: { max_images: 4 } }
  assert.equal(countImagesMost({ ...auto }), 15)
  assert.equal(countImagesMost({ ...auto, ...options }), 4)
  assert.equal(countImagesMost({ ...auto, ...options, n: 6 }), 6)
  assert.equal(countImagesMost({ ...options, sequential_image_generation: 'disabled' }), 1)
})

test('orders in a list under a name of counts are held for as well', () => {
  assert.equal(countImagesMost({ samples: [{ num_images: 4 }] }), 4)
  assert.equal(countImagesMost({ batch_size: [{ n: 3 }, 2] }), 3)
  assert.equal(countImagesMost({ n: 1, instances: [{ n: 3 }, { n: 2 }] }), 5)
})

test('a name with digits or letters of its own is no count', () => {
  assert.equal(countImagesMost({ n: 1, n_8: 12, 图n: 14, x: { n1: [9] } }), 1)
})
