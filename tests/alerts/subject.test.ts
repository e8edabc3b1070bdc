/** The members of an alert, in the forms of the API. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeSubject } from '../../server/work/alerts/subject.ts'

test('times are in UTC, amounts are decimals, and an account’s budget has no subject', () => {
  const stored = {
    budget_id: 'bud_1',
    scope: 'account',
    subject: '',
    end_user: null,
    unit: 'money',
    amount: '5000000000',
    spent: '4200000000',
    threshold: 80,
    window_start: '2030-01-07T00:00:00+08:00',
    resets_at: '2030-01-08T00:00:00.123456+08:00',
  }
  assert.deepEqual(describeSubject(stored, 'USD'), {
    ...stored,
    currency: 'USD',
    subject: null,
    amount: '5',
    spent: '4.2',
    window_start: '2030-01-06T16:00:00.000Z',
    resets_at: '2030-01-07T16:00:00.123Z',
  })
  const total = describeSubject(
    { unit: 'call', amount: '10', subject: 'key_1', resets_at: null },
    'USD',
  )
  assert.deepEqual(total, { unit: 'call', amount: '10', subject: 'key_1', resets_at: null })
})
