/** How a pool of slots is shared among owners who hold theirs for long. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GatewayError } from '../../server/base/lib/errors.ts'
import { createFairSlots, type FairSlots } from '../../server/base/lib/queues/fair-slots.ts'

type Leave = () => void

const create = (slots: number, waitMs = 0) =>
  createFairSlots({ slots, what: 'calls', retryAfterSeconds: 1, waitMs })

/** Takes a slot that must be free. */
function takeFree(slots: FairSlots, owner: string): Leave {
  const taken = slots.take(owner)
  if (taken instanceof Promise) throw new Error(`${owner} waits`)
  return taken
}

/** Takes slots until one is refused. Returns what frees them. */
function takeAll(slots: FairSlots, owner: string): Leave[] {
  const leaves: Leave[] = []
  try {
    for (;;) leaves.push(takeFree(slots, owner))
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
    takeFree(slots, 'third')
  }
})

test('small pools can be used', () => {
  for (const size of [1, 2, 3]) assert.equal(takeAll(create(size), 'only').length, size)
})

test('an owner of few waits while others fill the pool, and gets the next slot first', async () => {
  const slots = create(1_000, 60_000)
  const first = takeAll(slots, 'first')
  for (let other = 0; slots.taken() < 1_000; other += 1) takeFree(slots, `other ${other}`)
  const order: string[] = []
  const take = async (owner: string) => {
    const leave = await slots.take(owner)
    order.push(owner)
    return leave
  }
  const waiting = ['other 1', 'honest', 'other 1', 'honest', 'other 2'].map(take)
  assert.throws(() => slots.take('first'), /all 1000 calls/)
  for (const leave of first) leave()
  await Promise.all(waiting)
  assert.deepEqual(order, ['honest', 'other 1', 'honest', 'other 2', 'other 1'])
})

test('no owner has more calls that run and wait than an even share; a wait ends with 503', async () => {
  const slots = create(100, 1)
  takeAll(slots, 'first')
  for (let other = 0; slots.taken() < 100; other += 1) takeFree(slots, `other ${other}`)
  const owners = slots.owners()
  const waiting: Promise<Leave>[] = []
  const wait = () => {
    for (;;) waiting.push(Promise.resolve(slots.take('honest')))
  }
  assert.throws(wait, /all 100 calls/)
  assert.equal(waiting.length, Math.ceil(100 / (owners + 2)))
  for (const ended of await Promise.allSettled(waiting)) {
    assert.ok(ended.status === 'rejected' && ended.reason instanceof GatewayError)
    assert.equal(ended.reason.status, 503)
  }
  assert.equal(slots.taken(), 100)
})

test('nobody waits for a slot that is free for it, and one with fewer comes first', async () => {
  const step = fc.record({ owner: fc.integer({ min: 0, max: 5 }), frees: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 200 }),
      fc.array(step, { maxLength: 600 }),
      async (size, steps) => {
        const slots = create(size, 60_000)
        const held = Array.from({ length: 6 }, () => [] as Leave[])
        const waiting = Array.from({ length: 6 }, () => 0)
        const own = (owner: number) => held[owner]?.length ?? 0
        const total = () => held.reduce((sum, { length }) => sum + length, 0)
        const isFree = (owner: number) => {
          const free = size - total()
          return free > 0 && own(owner) * size < 12 * free * free
        }
        const count = (owner: number, more: number) => {
          waiting[owner] = (waiting[owner] ?? 0) + more
        }
        const take = (owner: number) => {
          const free = isFree(owner)
          try {
            const taken = slots.take(`${owner}`)
            assert.equal(taken instanceof Promise, !free)
            if (!(taken instanceof Promise)) return void held[owner]?.push(taken)
            count(owner, 1)
            taken.then((leave) => {
              count(owner, -1)
              held[owner]?.push(leave)
            }, assert.fail)
          } catch (error) {
            assert.ok(error instanceof GatewayError && !free)
            const owners = held.filter(({ length }, at) => length > 0 || at === owner).length
            assert.ok((own(owner) + (waiting[owner] ?? 0)) * (owners + 1) >= size)
          }
        }
        const check = async () => {
          await null
          assert.equal(slots.taken(), total())
          assert.ok(total() <= size)
          for (const owner of waiting.keys()) if (waiting[owner]) assert.ok(!isFree(owner))
        }
        for (const { owner, frees } of steps) {
          const leave = frees ? held[owner]?.pop() : undefined
          leave?.()
          leave?.()
          if (!frees) take(owner)
          await check()
        }
        while (total() > 0) {
          held.find(({ length }) => length > 0)?.pop()?.()
          await check()
        }
        assert.deepEqual(waiting, [0, 0, 0, 0, 0, 0])
      },
    ),
  )
})
