/** The last use of a channel, joined from records and from what a process has seen. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joinUse, nameFailure, stateOfUse, toUse } from '../../server/money/usage/channel-use.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))
const failure = { kind: 'failed', status: 500, message: 'down' }

test('a channel is untried, working or failing by what came last', () => {
  const cases = [
    [{}, {}, 'untried'],
    [{ succeededAt: at(1) }, {}, 'working'],
    [{}, { succeededAt: at(1) }, 'working'],
    [{ succeededAt: at(1), failingSince: at(2), failure }, {}, 'failing'],
    // This process has seen a success that is not recorded yet.
    [{ succeededAt: at(1), failingSince: at(2), failure }, { succeededAt: at(3) }, 'working'],
    // Another process has recorded a success since this one saw a failure.
    [{ succeededAt: at(3) }, { failingSince: at(2), failure }, 'working'],
    [{ succeededAt: at(1) }, { failingSince: at(2), failure }, 'failing'],
  ] as const
  for (const [recorded, seen, expected] of cases) {
    const use = joinUse(recorded, seen)
    assert.equal(stateOfUse(use), expected, JSON.stringify([recorded, seen]))
    assert.equal(use.failure !== undefined, expected === 'failing')
  }
  const both = joinUse({ failingSince: at(2), failure }, { failingSince: at(4), failure })
  assert.deepEqual(both.failingSince, at(2))
})

test('a failure is named by status or kind, and its reason', () => {
  assert.equal(nameFailure(failure), '500: down')
  assert.equal(nameFailure({ kind: 'not_sent', status: null, message: null }), 'not_sent')
  assert.deepEqual(toUse(undefined), {})
})
