/** The events that follow from two successive states of an account. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findChanges } from '../../server/api/admin/live/changes.ts'
import type { LiveRow } from '../../server/api/admin/live/live-store.ts'

const QUIET: LiveRow = {
  account_id: 'acct_1',
  available: 5_000_000_000n,
  held: 0n,
  debt: 0n,
  calls: 3,
  last_end: '2026-11-21 09:30:00.5+00',
  last_task_end: '2026-11-21 09:30:00.5+00',
  open_tasks: 1,
  tasks_mark: 7n,
  pending_deliveries: 0,
  deliveries_mark: 0n,
  last_delivery_end: null,
}

const cases: readonly [string, Partial<LiveRow>, object][] = [
  ['nothing', {}, {}],
  [
    'money was frozen',
    { held: 1n },
    { balance: { available: '5', held: '0.000000001', debt: '0' } },
  ],
  ['a call ended', { calls: 4, last_end: '2026-11-21 09:30:00.6+00' }, { usage: { calls: 4 } }],
  ['calls are only getting old', { calls: 0, last_end: null, last_task_end: null }, {}],
  ['a task moved on', { tasks_mark: 8n }, { tasks: { open: 1 } }],
  ['a task ended', { tasks_mark: 0n, open_tasks: 0 }, { tasks: { open: 0 } }],
  [
    'a task began and ended between two looks',
    { last_task_end: '2026-11-21 09:30:01+00' },
    { tasks: { open: 1 } },
  ],
  [
    'a delivery was made between two looks',
    { last_delivery_end: '2026-11-21 09:30:01+00' },
    { deliveries: { pending: 0 } },
  ],
  [
    'a delivery waits',
    { pending_deliveries: 1, deliveries_mark: 5n },
    { deliveries: { pending: 1 } },
  ],
]

for (const [name, change, expected] of cases) {
  test(`event: ${name}`, () => {
    const events = findChanges(QUIET, { ...QUIET, ...change })
    assert.deepEqual(Object.fromEntries(events.map((one) => [one.name, one.data])), expected)
  })
}

test('at the first look, all that runs or has just ended is news', () => {
  const names = (row: LiveRow) => findChanges(undefined, row).map(({ name }) => name)
  assert.deepEqual(names(QUIET), ['balance', 'usage', 'tasks'])
  const idle = { ...QUIET, last_end: null, last_task_end: null, open_tasks: 0, tasks_mark: 0n }
  assert.deepEqual(names(idle), ['balance'])
  assert.deepEqual(names({ ...idle, available: 0n, held: 0n, debt: 0n }), ['balance'])
  assert.deepEqual(names({ ...idle, last_delivery_end: QUIET.last_end }), ['balance', 'deliveries'])
})
