/** Large work of accounts shares the event loop's time. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { LoopShare } from '../../server/base/lib/queues/loop-share.ts'

const GB = 1024 ** 3

function open() {
  const state = { isShared: true, used: 1 }
  const share = new LoopShare(
    () => state.isShared,
    undefined,
    () => state.used,
  )
  return { state, share }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** A clock of the test's own, so that a busy machine neither adds work nor lets a wait pass. */
function openClock(t: TestContext): { work(milliseconds: number): void } {
  let now = 1
  t.mock.method(performance, 'now', () => now)
  return {
    work: (milliseconds) => {
      now += milliseconds
    },
  }
}

test('an account that has used its share waits, and others do not', async (t) => {
  openClock(t)
  const { share, state } = open()
  const served: string[] = []
  assert.equal(share.count('large', GB), false)
  const waiting = share.turn('large').then(() => served.push('large'))
  for (const name of ['one', 'two', 'three']) {
    await share.turn(name).then(() => served.push(name))
    assert.equal(share.count(name, 1024), true)
  }
  assert.deepEqual(served, ['one', 'two', 'three'])
  state.isShared = false
  await waiting
  assert.deepEqual(served, ['one', 'two', 'three', 'large'])
})

test('the fewer cores there are, the more of the time a megabyte takes', (t) => {
  t.mock.method(performance, 'now', () => 0)
  const mayGoOn = (cores: number) => {
    const share = new LoopShare(
      () => true,
      undefined,
      () => 1,
      cores,
    )
    return share.count('a', 1.5 * 1024 ** 2)
  }
  assert.deepEqual([1, 2, 4, 64].map(mayGoOn), [false, false, true, true])
})

test('alone, an account may use all of it, and owes nothing to the next one', async () => {
  const { share, state } = open()
  state.isShared = false
  assert.equal(share.count('large', 100 * GB), true)
  await share.turn('large')
  state.isShared = true
  assert.equal(share.count('large', 0), true)
})

test('while there is time enough, nobody waits, and nobody owes it later', (t) => {
  const { work } = openClock(t)
  const { share, state } = open()
  state.used = 0.5
  assert.equal(share.count('large', 100 * GB), true)
  state.used = 0.7
  work(1_000)
  assert.equal(share.count('large', 1024), true)
  assert.equal(share.count('large', GB), false)
  work(1_000)
  state.used = 0.5
  assert.equal(share.count('large', 1024), true)
})

test('work that follows a turn is counted', async (t) => {
  const { work } = openClock(t)
  const { share } = open()
  await share.turn('a')
  work(200)
  await nextTurn()
  await nextTurn()
  assert.equal(share.count('a', 0), false)
  assert.equal(share.count('b', 0), true)
})

test('work of others in the same turn of the event loop is not counted', async (t) => {
  const { work } = openClock(t)
  const { share } = open()
  const turn = share.turn('a')
  setImmediate(() => work(200))
  await turn
  await nextTurn()
  await nextTurn()
  assert.equal(share.count('a', 0), true)
})

test('two pieces of work never begin in one turn of the event loop', async () => {
  const { share } = open()
  let turns = 0
  let isOver = false
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const at: number[] = []
  const names = ['a', 'a', 'b', 'c', 'a', 'b']
  await Promise.all(names.map((name) => share.turn(name).then(() => at.push(turns))))
  isOver = true
  assert.equal(new Set(at).size, names.length)
})

test('whoever waits and however much is counted, each gets its turn once', async () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd')
  const step = fc.record({ name, bytes: fc.nat(GB), isTurn: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { share, state } = open()
      let served = 0
      const turns = steps.flatMap(({ name, bytes, isTurn }) => {
        if (isTurn) return [share.turn(name).then(() => (served += 1))]
        share.count(name, bytes)
        return []
      })
      state.isShared = false
      await Promise.all(turns)
      assert.equal(served, turns.length)
    }),
    { numRuns: 30 },
  )
})
