/** A caller does not choose a price by how a value is written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Condition, Facts } from '../../server/money/catalog/catalog.ts'
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
