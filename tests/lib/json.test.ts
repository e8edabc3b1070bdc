import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTooDeep, printValue } from '../../server/base/lib/json.ts'

test('any value is printed, whatever its members are called', () => {
  const odd = JSON.parse('{"toString":2,"valueOf":null,"__proto__":{"toString":3}}')
  assert.throws(() => String(odd), TypeError)
  assert.equal(printValue(odd), '{"toString":2,"valueOf":null,"__proto__":{"toString":3}}')
  assert.equal(printValue([odd, 'a']), `[${printValue(odd)},"a"]`)
  for (const plain of ['a', 1.5, true, null, undefined]) {
    assert.equal(printValue(plain), String(plain))
  }
})

test('what is nested deeper than a hundred levels is too deep', () => {
  const nest = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
  assert.equal(isTooDeep(nest(100)), false)
  assert.equal(isTooDeep(nest(102)), true)
  assert.equal(isTooDeep('a'), false)
})
