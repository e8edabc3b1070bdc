import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { KeyedRoster, Roster } from '../../server/base/lib/queues/roster.ts'

setFlagsFromString('--expose-gc')
// As gateways run: what often survives would otherwise soon be allocated as old from the start.
setFlagsFromString('--no-allocation-site-pretenuring')
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

  it('has values by key, each replaced by a later one', () => {
    const roster = new KeyedRoster<string | undefined>()
    roster.set('a', undefined)
    assert.equal(roster.has('a'), true)
    roster.set('a', 'first')
    roster.set('a', 'second')
    roster.set('b', 'other')
    roster.delete('b')
    roster.delete('unknown')
    assert.equal(roster.get('a'), 'second')
    assert.equal(roster.has('b'), false)
    assert.deepEqual(roster.list(), [['a', 'second']])
  })

  it('lets a minor collection free members that have left, other than a Set', () => {
    const all = MEMBERS * MEMBER_BYTES
    const roster = new Roster<object>()
    const inRoster = measureRemains((member) => roster.add(member))
    const keyed = new KeyedRoster<object>()
    let count = 0
    const inKeyed = measureRemains((member) => {
      count += 1
      const key = `member ${count}`
      keyed.set(key, member)
      return () => keyed.delete(key)
    })
    const set = new Set<object>()
    const inSet = measureRemains((member) => {
      set.add(member)
      return () => void set.delete(member)
    })
    assert.ok(inRoster < all / 10, `${inRoster} of ${all} bytes remain`)
    assert.ok(inKeyed < all / 10, `${inKeyed} of ${all} bytes remain under keys`)
    assert.ok(inSet > all / 2, `${inSet} bytes remain in a Set: it no longer needs a replacement`)
  })
})
