import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placesOfId } from '../../../console/src/app/frame/find-by-id.ts'

test('an id leads to the page that opens it, an operator’s first', () => {
  const paths = (text: string, isOperator: boolean) =>
    placesOfId(text, isOperator).map(({ path }) => path)
  assert.deepEqual(paths('req_Z12Tl9KupNVO74', false), ['/usage'])
  assert.deepEqual(paths('req_Z12Tl9KupNVO74', true), ['/operator/calls', '/usage'])
  assert.deepEqual(paths('bud_Z12Tl9KupNVO74', true), ['/budgets'])
  assert.deepEqual(paths('acct_Z12Tl9KupNVO74', false), [])
})

test('a long list is narrowed to what is opened, since it may stand far down in it', () => {
  const parameters = (text: string) =>
    Object.fromEntries(placesOfId(text, true).map((place) => [place.path, place.parameters]))
  assert.deepEqual(parameters('task_Z12Tl9KupNVO74'), {
    '/operator/tasks': ['id', 'task'],
    '/tasks': ['id'],
  })
})

test('a text that is not an id finds no page', () => {
  for (const text of ['', 'req_', 'usage', 'constructor_abcdefgh', 'toString_abcdefgh']) {
    assert.deepEqual(placesOfId(text, true), [], text)
  }
})
