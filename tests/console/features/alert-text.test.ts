/** Sentences of alerts in the console: one of a refusal does not speak of a budget that is used. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameOfAlert, textOfAlert } from '../../../console/src/features/alerts/alert-text.ts'
import type { AlertEvent } from '../../../server/base/lib/kinds-and-states.ts'

/** Shows which words are used, and with which values. */
const t = (word: string, values: object) => `${word} ${Object.values(values).join(' ')}`

test('the first refusal of an end user is told as one, and whose it is', () => {
  const textOf = (more: object) => {
    const members = { scope: 'end_user', threshold: '100', unit: 'call', amount: '5', ...more }
    const alert = { event: 'budget.threshold', members, currency: 'USD' } as const
    return textOfAlert(alert, { t, language: 'en' })
  }
  assert.equal(textOf({ end_user: 'kim', spent: '0' }), 'of_end_user kim refusedText 100 0 5')
  assert.equal(textOf({ end_user: 'kim', spent: '5' }), 'of_end_user kim budgetText 100 5 5')
  assert.equal(textOf({ spent: '0' }), 'refusedText 100 0 5')
  const ofKey = { scope: 'key', subject: 'key_1', subject_name: 'web', spent: '5' }
  assert.equal(textOf(ofKey), 'of_key web budgetText 100 5 5')
})

test('an event of a later gateway is shown by its name', () => {
  for (const name of ['event.later', 'constructor']) {
    const alert = { event: name as string as AlertEvent, members: {}, currency: null }
    assert.equal(textOfAlert(alert, { t, language: 'en' }), name)
    assert.equal(nameOfAlert(alert, { t: (word) => `word ${word}` }), name)
  }
})
