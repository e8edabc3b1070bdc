import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  columnPlaces,
  formatBytes,
  formatDuration,
  formatMoney,
  formatRelative,
  formatShortTime,
  formatSpan,
  formatTime,
  formatTimeIn,
  isZero,
  legiblePlaces,
  placesFor,
  weekdayName,
} from '../../../console/src/lib/format.ts'

const USD = { currency: 'USD', language: 'en' } as const

test('amounts are shown to the last digit, without a float on the way', () => {
  assert.equal(formatMoney('0.000000001', USD), '$0.000000001')
  assert.equal(formatMoney('9007199254740993.123456789', USD), '$9,007,199,254,740,993.123456789')
  assert.equal(formatMoney('-3', USD), '-$3.00')
  assert.equal(formatMoney('12.345678', { ...USD, places: 2 }), '$12.35')
})

test('currencies have their sign; an operator’s own keep their name', () => {
  assert.equal(formatMoney('5', { currency: 'CNY', language: 'zh' }), '¥5.00')
  assert.equal(formatMoney('5', { currency: 'CREDITS', language: 'en' }), '5.00 CREDITS')
  const coins = ['KWD', 'JPY', 'CREDITS'].map((currency) =>
    formatMoney('1234.567', { currency, language: 'en', places: 2 }),
  )
  assert.deepEqual(coins, ['KWD\u00a01,234.567', 'JPY\u00a01,234.57', '1,234.57 CREDITS'])
})

test('a text that is not an amount is shown unchanged', () => {
  for (const text of ['', 'NaN', '1e3', '0x10', '1,5']) assert.equal(formatMoney(text, USD), text)
})

test('zero is zero however it is written', () => {
  for (const text of ['0', '0.00', '-0', '0.000000000']) assert.ok(isZero(text), text)
  for (const text of ['0.000000001', '10', '-0.1', '']) assert.ok(!isZero(text), text)
})

test('durations and sizes are as short as they stay distinct', () => {
  const durations = [0, 999, 1_500, 59_400, 61_000, 3_600_000, 49 * 3_600_000]
  assert.deepEqual(
    durations.map((one) => formatDuration(one, 'en')),
    ['0 ms', '999 ms', '1.5 sec', '59 sec', '1 min 1 sec', '1 hr 0 min', '2 days 1 hr'],
  )
  assert.equal(formatDuration(61_000, 'zh'), '1分钟1秒')
  const sizes = [0, 999, 1_000, 1_500_000, 2_000_000_000_000_000]
  assert.deepEqual(
    sizes.map((size) => formatBytes(size, 'en')),
    ['0 bytes', '999 bytes', '1 kB', '1.5 MB', '2,000 TB'],
  )
})

test('times are relative to now, in both directions and languages', () => {
  const now = Date.parse('2026-11-21T06:00:00Z')
  assert.equal(formatRelative('2026-11-21T05:57:01Z', now, 'en'), '2 minutes ago')
  assert.equal(formatRelative('2026-11-21T08:00:00Z', now, 'en'), 'in 2 hours')
  assert.equal(formatRelative('2026-11-19T06:00:00Z', now, 'zh'), '前天')
  assert.equal(formatRelative('2026-11-21T06:00:00Z', now, 'en'), 'now')
})

test('a small amount has enough decimals not to look like zero', () => {
  const shown = ['0', '12.345', '0.5', '0.00001234', '0.0000000004'].map(placesFor)
  assert.deepEqual(shown, [2, 2, 2, 6, 9])
  const places = placesFor('0.00001234')
  assert.equal(formatMoney('0.00001234', { ...USD, places }), '$0.000012')
})

test('a sum that is too small for its decimals has those of a charge', () => {
  const cases = [
    ['0.0052', 2],
    ['-0.0052', 2],
    ['0.01', 2],
    ['0', 2],
    ['0.0052', 6],
  ] as const
  const shown = cases.map(([amount, places]) => legiblePlaces(amount, places))
  assert.deepEqual(shown, [4, 4, 2, 2, 6])
})

test('a countdown says its largest unit', () => {
  const shown = [82_000_000, 120_000, 900, -5].map((span) => formatSpan(span, 'en'))
  assert.deepEqual(shown, ['22h', '2m', '0s', '0s'])
})

test('fixed decimals never show an amount as zero, nor zero as negative', () => {
  const shown = (amount: string, places: number) => formatMoney(amount, { ...USD, places })
  assert.equal(shown('0.002', 2), '< $0.01')
  assert.equal(shown('0.000099999', 4), '< $0.0001')
  assert.equal(shown('0.0001', 4), '$0.0001')
  assert.equal(shown('-0.0000001', 2), '> -$0.01')
  for (const nothing of ['0', '-0', '-0.000']) assert.equal(shown(nothing, 2), '$0.00')
  assert.equal(shown('3', 4), '$3.0000')
})

test('a column has the places of its longest amount', () => {
  assert.equal(columnPlaces(['1', '0.5000', '-0.00012300']), 6)
  assert.equal(columnPlaces(['1', '20']), 2)
})

test('times have a day, and in full their zone', () => {
  assert.match(formatTime('2026-11-21T06:00:00Z', 'en'), /Nov 2[01], 2026.*\d\d:00:00.*[A-Z]{3}/)
  assert.match(formatShortTime(new Date().toISOString(), 'en'), /^[A-Z][a-z]{2} \d\d, \d\d:/)
})

test('a time by other clocks names their zone, and an unknown zone fails nothing', () => {
  const midnight = '2020-11-30T16:00:00Z'
  assert.equal(formatTimeIn(midnight, 'Asia/Shanghai', 'en'), 'Dec 1, 2020, 00:00 GMT+8')
  assert.equal(formatTimeIn(midnight, 'Asia/Shanghai', 'zh'), '2020年12月1日 00:00 GMT+8')
  assert.match(formatTime(midnight, 'zh'), /^2020年1[12]月\d+日 \d\d:00:00 \S+$/)
  assert.match(formatTimeIn(midnight, 'Mars/Base', 'en'), /2020/)
  assert.deepEqual([weekdayName(1, 'en'), weekdayName(7, 'en')], ['Monday', 'Sunday'])
})
