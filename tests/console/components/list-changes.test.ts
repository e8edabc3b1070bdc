import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listChanges, onlyChanged } from '../../../console/src/components/form/list-changes.ts'

test('changes are listed leaf by leaf, with what was added and removed', () => {
  const before = { free: true, prices: [{ amount: '1', per: 1 }], limits: { a: 1 }, same: [1] }
  const after = { prices: [{ amount: '2', per: 1 }, { amount: '3' }], limits: {}, same: [1] }
  assert.deepEqual(listChanges(before, after), [
    { path: 'free', before: 'true' },
    { path: 'prices[0].amount', before: '1', after: '2' },
    { path: 'prices[1]', after: '{"amount":"3"}' },
    { path: 'limits.a', before: '1' },
  ])
  assert.deepEqual(listChanges(before, structuredClone(before)), [])
})

test('a value of another type is a change, and quotes tell the two apart', () => {
  const before = { rules: [{ is: 'true', max: '5', of: 'null', text: 'x' }] }
  const after = { rules: [{ is: true, max: 5, of: null, text: 'y' }] }
  assert.deepEqual(listChanges(before, after), [
    { path: 'rules[0].is', before: '"true"', after: 'true' },
    { path: 'rules[0].max', before: '"5"', after: '5' },
    { path: 'rules[0].of', before: '"null"', after: 'null' },
    { path: 'rules[0].text', before: 'x', after: 'y' },
  ])
  const typed: { rules: unknown } = { rules: [{ is: true }] }
  assert.deepEqual(onlyChanged({ rules: [{ is: 'true' }] } as typeof typed, typed), typed)
})

test('a save sends the members that changed, and those alone', () => {
  const before = { name: 'a', models: ['x'], spend_limit: null, limits: { calls: 1 } }
  assert.deepEqual(onlyChanged(before, { ...before, models: ['x'], limits: { calls: 1 } }), {})
  const after = { ...before, models: null, limits: { calls: 2 } } as unknown as typeof before
  assert.deepEqual(onlyChanged(before, after), { models: null, limits: { calls: 2 } })
})
