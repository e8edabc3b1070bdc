/** What one account may take of something that all share, and what is left for the others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Budget, type Portion } from '../../../server/base/lib/memory/budget.ts'

const SHARES = { small: { ofFree: 1 / 4 }, large: { ofFree: 1, takesOne: true } }

const usedBy = (budget: Budget) => budget.list().map(({ used }) => used)

test('an account may take its share of what is free, and less the more is in use', () => {
  const budget = new Budget(1_000, SHARES)
  const first = budget.portion('a', 'small')
  assert.equal(first.grow(200), true)
  assert.equal(first.grow(1), false)
  assert.equal(first.amount, 200)
  // Its other portions count, those of another kind do not.
  assert.equal(budget.portion('a', 'small').grow(1), false)
  assert.equal(budget.portion('a', 'large').grow(400), true)
  const second = budget.portion('b', 'small')
  assert.equal(second.grow(81), false)
  assert.equal(second.grow(80), true)
  assert.deepEqual(usedBy(budget), [280, 400])
})

test('one thing that cannot be parted may take all that is free', () => {
  const budget = new Budget(1_000, SHARES)
  const one = budget.portion('a', 'large')
  assert.equal(one.grow(1_001), false)
  assert.equal(one.grow(900), true)
  assert.equal(budget.portion('a', 'large').grow(50), false)
  assert.equal(budget.portion('b', 'large').grow(100), true)
  assert.equal(budget.portion('c', 'large').grow(1), false)
})

test('what is reserved is for accounts that use little, whatever the others use', () => {
  const budget = new Budget(1_000, SHARES, 160)
  assert.equal(budget.portion('a', 'large').grow(841), false)
  assert.equal(budget.portion('a', 'large').grow(840), true)
  assert.equal(budget.portion('b', 'large').grow(11), false)
  const little = budget.portion('b', 'large')
  assert.equal(little.grow(10), true)
  assert.equal(little.grow(1), false)
  for (let at = 0; at < 15; at += 1) {
    assert.equal(budget.portion(`account ${at}`, 'small').grow(10), true)
  }
  assert.equal(budget.portion('late', 'small').grow(1), false)
  assert.equal(budget.usedInAll(), 1_000)
})

test('a refusal says whose use is too much, and is counted so', () => {
  const budget = new Budget(1_000, SHARES)
  const own = budget.portion('a', 'small')
  own.force(200)
  const refused = own.refuse(1, 'too many')
  assert.deepEqual([refused.status, refused.message], [429, 'too many'])
  assert.ok(refused.details.retryAfterSeconds)
  budget.portion('b', 'large').force(800)
  const crowded = budget.portion('c', 'small')
  assert.equal(crowded.grow(10), false)
  const unavailable = crowded.refuse(10, 'too many')
  assert.equal(unavailable.status, 503)
  assert.ok(unavailable.details.retryAfterSeconds)
  assert.deepEqual(budget.list()[0]?.refused, { account: 1, all: 1 })
})

test('those that wait are served in their order, and no account holds up another', async () => {
  const budget = new Budget(1_000, SHARES)
  const taken = budget.portion('a', 'large')
  taken.force(400)
  const other = budget.portion('b', 'large')
  other.force(550)
  const served: string[] = []
  const wait = (account: string, amount: number) => {
    const waiting = budget.portion(account, 'large').growSoon(amount, 60_000)
    return Promise.resolve(waiting).then(() => served.push(`${account}${amount}`))
  }
  const all = [wait('a', 450), wait('a', 20), wait('b', 30)]
  other.release()
  await all[2]
  assert.deepEqual(served, ['b30'])
  taken.release()
  await Promise.all(all)
  assert.deepEqual(served, ['b30', 'a450', 'a20'])
})

test('a wait ends when its time is over', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const budget = new Budget(1_000, SHARES)
  const taken = budget.portion('a', 'large')
  taken.force(1_000)
  const late = budget.portion('b', 'large')
  const waiting = late.growSoon(10, 100)
  t.mock.timers.tick(100)
  assert.equal(await waiting, false)
  taken.release()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(late.amount, 0)
})

test('whatever accounts take and give back, a share is left, and in the end nothing is used', () => {
  const step = fc.record({
    account: fc.constantFrom('a', 'b', 'c'),
    kind: fc.constantFrom('small' as const, 'large' as const),
    amount: fc.integer({ min: 1, max: 600 }),
    isReturn: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const budget = new Budget(1_000, SHARES)
      const portions: Portion[] = []
      for (const { account, kind, amount, isReturn } of steps) {
        if (isReturn) {
          portions[amount % (portions.length + 1)]?.release()
          continue
        }
        const before = budget.usedInAll()
        const portion = budget.portion(account, kind)
        if (portion.grow(amount)) portions.push(portion)
        assert.ok(budget.usedInAll() <= 1_000)
        // What is not all for one thing leaves as much as a share.
        if (kind === 'small' && budget.usedInAll() > before) {
          assert.ok(amount <= (1_000 - budget.usedInAll()) / 4)
        }
      }
      const sum = portions.reduce((total, { amount }) => total + amount, 0)
      assert.equal(budget.usedInAll(), sum)
      for (const portion of portions) portion.release()
      assert.deepEqual([budget.usedInAll(), ...usedBy(budget)], [0, 0, 0])
    }),
  )
})

test('accounts without use are forgotten, those with use are not', () => {
  const budget = new Budget(1_000_000, SHARES)
  const held = budget.portion('held', 'large')
  held.force(500_000)
  for (let at = 0; at < 25_000; at += 1) budget.portion(`account ${at}`, 'small').grow(1)
  assert.equal(budget.portion('held', 'large').grow(10), false)
  for (let at = 0; at < 25_000; at += 1) budget.portion(`idle ${at}`, 'small')
  assert.equal(budget.portion('held', 'large').grow(10), false)
})

test('a portion that is over takes nothing more, also if it has waited for that', async () => {
  const budget = new Budget(1_000, SHARES)
  const other = budget.portion('a', 'large')
  other.force(1_000)
  const portion = budget.portion('b', 'large')
  const waiting = portion.growSoon(500, 60_000)
  portion.end()
  other.release()
  assert.equal(await waiting, false)
  assert.equal(portion.growSoon(500, 60_000), false)
  portion.force(500)
  assert.equal(budget.usedInAll(), 0)
})
