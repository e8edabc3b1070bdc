import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Roster } from '../../server/lib/queues/roster.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: (options?: { type: 'minor' }) => void = runInNewContext('gc')

const PRESENT = 32
const MEMBERS = 5_000
const MEMBER_BYTES = 8_000

/** Returns the bytes that members leave after a minor collection, with a few present at a time. */
function measureRemains(add: (member: object) => () => void): number {
  const leaves: (() => void)[] = []
  const pass = (count: number) => {
    for (let i = 0; i < count; i += 1) {
      leaves.push(add({ fields: new Array(MEMBER_BYTES / 8).fill(i) }))
      if (leaves.length > PRESENT) leaves.shift()?.()
    }
  }
  pass(PRESENT)
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  pass(MEMBERS)
  collectGarbage({ type: 'minor' })
  return process.memoryUsage().heapUsed - before
}

describe('a roster', () => {
  it('lists and counts the present members', () => {
    const roster = new Roster<string>()
    const leaveA = roster.add('a')
    roster.add('b')
    leaveA()
    roster.add('c')
    assert.equal(roster.size, 2)
    assert.deepEqual(roster.list().sort(), ['b', 'c'])
  })

  it('keeps the place of a new member if an earlier one leaves twice', () => {
    const roster = new Roster<string>()
    const leave = roster.add('a')
    leave()
    roster.add('b')
    leave()
    roster.add('c')
    assert.equal(roster.size, 2)
    assert.deepEqual(roster.list().sort(), ['b', 'c'])
  })

  it('may be left by members while it is listed', () => {
    const roster = new Roster<() => void>()
    for (let i = 0; i < 3; i += 1) {
      const leave = roster.add(() => leave())
    }
    for (const end of roster.list()) end()
    assert.equal(roster.size, 0)
  })

  it('lets a minor collection free members that have left, other than a Set', () => {
    const all = MEMBERS * MEMBER_BYTES
    // First, since the engine soon allocates what survives often as old from the start.
    const roster = new Roster<object>()
    const inRoster = measureRemains((member) => roster.add(member))
    const set = new Set<object>()
    const inSet = measureRemains((member) => {
      set.add(member)
      return () => void set.delete(member)
    })
    assert.ok(inRoster < all / 10, `${inRoster} of ${all} bytes remain`)
    assert.ok(inSet > all / 2, `${inSet} bytes remain in a Set: it no longer needs a replacement`)
  })
})
