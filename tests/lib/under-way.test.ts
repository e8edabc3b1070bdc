import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnderWay } from '../../server/base/lib/queues/under-way.ts'

test('who waits for one owner waits for what began before, and for no other', async () => {
  const underWay = new UnderWay()
  const [first, failing, second, stuck] = Array.from({ length: 4 }, () =>
    Promise.withResolvers<string>(),
  )
  assert.ok(first && failing && second && stuck)
  underWay.add('b', stuck.promise)
  assert.equal(underWay.add('a', first.promise), first.promise)
  const refused = underWay.add('a', failing.promise)
  const ended: string[] = []
  const wait = (name: string, owner?: string) => underWay.ended(owner).then(() => ended.push(name))
  const waits = [wait('both', 'a'), wait('nobody', 'c'), wait('all')]
  underWay.add('a', second.promise)
  await waits[1]
  assert.deepEqual(ended, ['nobody'])
  first.resolve('')
  failing.reject(new Error('refused'))
  await assert.rejects(refused, /refused/)
  await waits[0]
  assert.deepEqual(ended, ['nobody', 'both'])
  stuck.resolve('')
  await Promise.all(waits)
  second.resolve('')
  await underWay.ended()
})
