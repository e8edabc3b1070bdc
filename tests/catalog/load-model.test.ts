/** Older price lists on image and audio models. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelType } from '../../server/money/catalog/catalog.ts'
import { readPrices, writtenPrices } from '../../server/money/catalog/load/load-model.ts'
import { isPriced, priceCharge } from '../../server/money/catalog/price/price.ts'
import type { StoredPrice } from '../../server/money/catalog/store.ts'

const stored: StoredPrice[] = [
  { unit: 'input_token', per: 1, amount: '2' },
  { unit: 'output_token', per: 1, amount: '7', when: { quality: 'high' } },
  { unit: 'output_token', per: 1, amount: '5' },
]

test('a single token price applies to media tokens, under the same conditions', () => {
  const prices = readPrices(stored, 'image')
  const charge = (quality: string) =>
    priceCharge(prices, { image_output_token: 1 }, { quality }).totalNanos / 1_000_000_000n
  assert.deepEqual([charge('high'), charge('low')], [7n, 5n])
  const audio = priceCharge(readPrices(stored, 'transcription'), { audio_input_token: 3 }, {})
  assert.equal(audio.totalNanos, 6_000_000_000n)
})

test('media tokens with their own price keep it', () => {
  const own: StoredPrice = { unit: 'image_output_token', per: 1, amount: '9' }
  const { totalNanos } = priceCharge(
    readPrices([...stored, own], 'image'),
    { image_output_token: 1 },
    {},
  )
  assert.equal(totalNanos, 9_000_000_000n)
})

test('a text model sells audio and images only at their own prices', () => {
  for (const type of ['chat', 'embedding', undefined] satisfies (ModelType | undefined)[]) {
    const prices = readPrices(stored, type)
    assert.equal(isPriced(prices, 'audio_input_token'), false)
    assert.equal(isPriced(prices, 'image_output_token'), false)
  }
})

test('prices are shown as they were written, without those that follow from them', () => {
  const own: StoredPrice = { unit: 'audio_input_token', per: 1, amount: '2' }
  const shown = (type: ModelType, prices: StoredPrice[]) =>
    writtenPrices({ type, prices: readPrices(prices, type) }).map(({ unit }) => unit)
  assert.deepEqual(shown('image', stored), ['input_token', 'output_token', 'output_token'])
  assert.deepEqual(
    shown('chat', [...stored, own]),
    [...stored, own].map(({ unit }) => unit),
  )
  const dear: StoredPrice = { ...own, amount: '3' }
  assert.equal(shown('transcription', [...stored, dear]).at(3), 'audio_input_token')
})
