/** How a pool of slots is shared among owners who hold theirs for long. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GatewayError } from '../../server/lib/errors.ts'
import { createFairSlots, type FairSlots } from '../../server/lib/queues/fair-slots.ts'

const create = (slots: number) => createFairSlots({ slots, what: 'calls', retryAfterSeconds: 1 })

/** Takes slots until one is refused. Returns what frees them. */
function takeAll(slots: FairSlots, owner: string): (() => void)[] {
  const leaves: (() => void)[] = []
  try {
    for (;;) leaves.push(slots.take(owner))
  } catch (error) {
    assert.ok(error instanceof GatewayError)
    assert.deepEqual([error.status, error.details.retryAfterSeconds], [503, 1])
    assert.match(error.message, /try again when one of them has ended$/)
    return leaves
  }
}

test('one owner alone gets 75 % of the slots, and the others find the rest', () => {
  const slots = create(12_000)
  const first = takeAll(slots, 'first')
  assert.ok(Math.abs(first.length / 12_000 - 0.75) < 0.01, `${first.length}`)
  for (let other = 0; other < 100; other += 1) slots.take(`other ${other}`)
})

test('owners who want everything again and again end with equal shares', () => {
  for (const owners of [2, 3, 10]) {
    const slots = create(1_000)
    const held = Array.from({ length: owners }, (_, owner) => takeAll(slots, `${owner}`))
    // Calls end and begin again, those of the first owner always first.
    for (let round = 0; round < 200; round += 1) {
      for (const [owner, leaves] of held.entries()) {
        for (const leave of leaves.splice(0, Math.ceil(leaves.length / 10))) leave()
        leaves.push(...takeAll(slots, `${owner}`))
      }
    }
    const shares = held.map(({ length }) => length)
    assert.ok(Math.min(...shares) > (0.8 * 1_000) / owners, shares.join())
    assert.ok(Math.max(...shares) < (1.2 * 1_000) / owners, shares.join())
  }
})

test('two owners who take all they can leave slots to a third, also in a small pool', () => {
  for (const size of [64, 80, 1_000]) {
    const slots = create(size)
    const taken = takeAll(slots, 'first').length + takeAll(slots, 'second').length
    assert.ok(taken < size, `${taken} of ${size}`)
    slots.take('third')
  }
})

test('small pools can be used', () => {
  for (const size of [1, 2, 3]) assert.equal(takeAll(create(size), 'only').length, size)
})

test('an owner with fewer is admitted wherever one with more is, and a slot is freed once', () => {
  const step = fc.record({ owner: fc.integer({ min: 0, max: 5 }), frees: fc.boolean() })
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.array(step, { maxLength: 600 }),
      (size, steps) => {
        const slots = create(size)
        const held = Array.from({ length: 6 }, () => [] as (() => void)[])
        const isAdmitted = (owner: number) => {
          try {
            slots.take(`${owner}`)()
            return true
          } catch {
            return false
          }
        }
        for (const { owner, frees } of steps) {
          const own = held[owner] ?? []
          const leave = frees ? own.pop() : undefined
          leave?.()
          leave?.()
          if (!frees && isAdmitted(owner)) own.push(slots.take(`${owner}`))
          const total = held.reduce((sum, { length }) => sum + length, 0)
          assert.equal(slots.taken(), total)
          assert.ok(total <= size)
          const byNumber = held.map(({ length }, at) => ({ length, at }))
          byNumber.sort((a, b) => a.length - b.length)
          const admitted = byNumber.map(({ at }) => isAdmitted(at))
          const fewestFirst = admitted.toSorted((a, b) => Number(b) - Number(a))
          assert.deepEqual(admitted, fewestFirst)
          const [fewest] = byNumber
          if (total < size && fewest?.length === 0) assert.ok(admitted[0])
        }
      },
    ),
  )
})
