/** A caller does not choose a price by how a value is written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Condition, Facts } from '../../server/money/catalog/catalog.ts'
import { canRead } from '../../server/money/catalog/price/conditions.ts'
import { priceCharge, priceUpperBound } from '../../server/money/catalog/price/price.ts'

const SECOND = { unit: 'second', per: 1 } as const

/** Returns 2 if the condition holds, in the charge and in its bound. */
function factorOf(condition: Condition, fact: Facts[string]): bigint {
  const prices = [
    { ...SECOND, amountNanos: 2n, when: { fact: condition } },
    { ...SECOND, amountNanos: 1n },
  ]
  const quantities = { second: 1 }
  const { totalNanos } = priceCharge(prices, quantities, { fact })
  assert.equal(priceUpperBound(prices, quantities, [{ fact }]), totalNanos)
  return totalNanos
}

const mixed = (word: string) =>
  fc
    .array(fc.boolean(), { minLength: word.length, maxLength: word.length })
    .map((uppers) => Array.from(word, (one, at) => (uppers[at] ? one.toUpperCase() : one)).join(''))
const spaced = (text: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.constantFrom('', ' ', '\t', '\n '), text, fc.constantFrom('', ' ', '\u00a0'))
    .map((parts) => parts.join(''))

function spellingsOf(value: number): fc.Arbitrary<Facts[string]> {
  const text = fc.constantFrom(`${value}`, `+${value}`, `${value}.0`, `0${value}`, `${value}e0`)
  return fc.oneof(fc.constant(value), spaced(text))
}

test('a number, in whatever spelling', () => {
  const whole = fc.integer({ min: 0, max: 1e6 })
  const written = whole.chain((value) => fc.tuple(fc.constant(value), spellingsOf(value)))
  fc.assert(
    fc.property(written, whole, ([value, fact], other) => {
      assert.equal(factorOf(value, fact), 2n)
      assert.equal(factorOf([other, value], fact), 2n)
      assert.equal(factorOf({ min: other }, fact), value >= other ? 2n : 1n)
      assert.equal(factorOf({ below: other }, fact), value < other ? 2n : 1n)
      assert.equal(factorOf(other, fact), value === other ? 2n : 1n)
    }),
  )
})

test('true and false, as vendors read them', () => {
  for (const value of [true, false]) {
    const words = value
      ? ['true', '1', 'yes', 'on', 't', 'y']
      : ['false', '0', 'no', 'off', 'f', 'n']
    const text = fc.constantFrom(...words).chain((word) => spaced(mixed(word)))
    fc.assert(
      fc.property(fc.oneof(text, fc.constant(value), fc.constant(value ? 1 : 0)), (fact) => {
        assert.equal(factorOf(value, fact), 2n)
        assert.equal(factorOf(!value, fact), 1n)
      }),
    )
  }
})

test('a size, by its sides', () => {
  for (const fact of ['1024*768', '1024X768', ' 1024 × 768', '01024x0768', '1024 x768']) {
    assert.equal(factorOf('1024x768', fact), 2n, fact)
    assert.equal(factorOf(['2K', '1024*768'], fact), 2n, fact)
  }
  for (const fact of ['768x1024', '1024x7680', '1024-768', '1024x', 'x768', '1024x768x1']) {
    assert.equal(factorOf('1024x768', fact), 1n, fact)
  }
})

test('what is no number and no truth is neither', () => {
  for (const fact of ['', ' ', '60fps', '6_0', '0x3c', 'NaN', 'Infinity', '1e400', 'truth']) {
    assert.equal(factorOf(60, fact), 1n, fact)
    assert.equal(factorOf({ min: 0 }, fact), 1n, fact)
    assert.equal(factorOf(true, fact), 1n, fact)
  }
  assert.equal(factorOf('60', 60), 2n)
  assert.equal(factorOf('true', true), 2n)
})

/** What vendors read in a text and conditions do not: digits, marks and signs of other forms. */
const ZEROS = [0x30, 0x660, 0x966, 0xff10, 0x1d7ce]
const foreign = (word: string) =>
  fc.array(fc.nat(7), { minLength: word.length, maxLength: word.length }).map((choices) =>
    Array.from(word, (letter, at) => {
      const choice = choices[at] ?? 0
      const code = letter.codePointAt(0) ?? 0
      if (/\d/.test(letter)) return String.fromCodePoint((ZEROS[choice] ?? 0x30) + code - 0x30)
      if (choice === 5) return String.fromCodePoint(code + 0xfee0)
      return choice === 6 ? `\u200b${letter}` : choice === 7 ? `${letter}\u0301` : letter
    }).join(''),
  )
const PADDING = fc.constantFrom('', ' ', '"', '(', '\u0000', '\ufeff', '\u00ad', '#', '.', 'px')

test('a word or a number in other characters is the same, or is not read', () => {
  for (const value of ['hd', '2K', 'pro', '1792x1024', 60] as const) {
    const prices = [{ ...SECOND, amountNanos: 2n, when: { fact: value } }]
    const written = fc
      .tuple(PADDING, foreign(`${value}`), PADDING)
      .filter(([before]) => before !== 'px' && before !== '.')
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(written, (fact) => {
        const isSame = factorOf(value, fact) === 2n
        const isOther = fact.endsWith('px')
        assert.equal(canRead(prices, 'fact', fact) && !isOther, isSame, JSON.stringify(fact))
      }),
    )
  }
})

test('the two sides of a picture are a size, or are not read', () => {
  const prices = [{ ...SECOND, amountNanos: 2n, when: { fact: '1792x1024' } }]
  const between = fc.oneof(
    fc.string({ minLength: 1, maxLength: 4 }).filter((text) => !/\d/.test(text)),
    fc.constantFrom('×', '✕', 'ｘ', 'х', ' by ', '  x  ', ', ', '_', ':'),
  )
  const written = fc
    .tuple(fc.constantFrom('', 'w', '(', '+', '0'), between, fc.constantFrom('', ')', 'px', '.0'))
    .map(([before, middle, after]) => `${before}1792${middle}1024${after}`)
  fc.assert(
    fc.property(written, (fact) => {
      assert.equal(canRead(prices, 'fact', fact), factorOf('1792x1024', fact) === 2n, fact)
    }),
  )
})

test('usual words are read, whether a price names them or not', () => {
  const when = (condition: Condition) => [{ ...SECOND, amountNanos: 2n, when: { fact: condition } }]
  for (const word of [
    '',
    'high',
    'portrait_16_9',
    '16:9',
    '4k',
    '720p',
    'v1.5',
    'a/b-2',
    '水彩画',
    'watercolor, soft',
    '水彩，柔和',
    "kid's book & more!",
    '<3d cartoon>',
    'हिन्दी',
    'cafe\u0301',
    'from 1920 to 1935',
    'x'.repeat(1_000),
    7,
    -1,
  ]) {
    assert.ok(canRead(when('hd'), 'fact', word), `${word}`)
  }
  for (const word of [true, 'off', '0', 0]) assert.ok(canRead(when(true), 'fact', word), `${word}`)
  for (const word of ['enabled', 2, -1, '01', 'ｔｒｕｅ', '']) {
    assert.ok(!canRead(when(true), 'fact', word), `${word}`)
  }
  for (const word of ['720p', '5s', 'auto', '']) {
    assert.ok(canRead(when(['480p', 60]), 'fact', word), word)
  }
  for (const word of ['1280:720', 'x'.repeat(1_001), '(２k)']) {
    assert.ok(!canRead(when('2K'), 'fact', word), word)
  }
  for (const word of [30, '30', '6e1', '+7.5', 'auto'])
    assert.ok(canRead(when(60), 'fact', word), `${word}`)
  for (const word of ['60fps', '６０', '٦٠', '6_0', '0x3c', true, 'true', 'Infinity']) {
    assert.ok(!canRead(when({ min: 60 }), 'fact', word), `${word}`)
    assert.ok(word === 'Infinity' || !canRead(when(60), 'fact', word), `${word}`)
  }
  assert.ok(canRead(when('hd'), 'other', 'ｈｄ'), 'no price depends on it')
  assert.ok(canRead(when('１Ｋ'), 'fact', '１Ｋ'), 'a price names it')
})
