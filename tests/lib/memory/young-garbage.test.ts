/** Garbage of large work is collected while it is young, and only where there is much of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { YoungGarbage } from '../../../server/base/lib/memory/young-garbage.ts'
import { testMemory } from '../../support/memory.ts'

const MB = 1024 ** 2

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

function open() {
  const state = { collections: 0 }
  const garbage = new YoungGarbage(() => {
    state.collections += 1
  })
  return { garbage, state }
}

test('one collection follows each 16 MB, however they are counted', async () => {
  for (const piece of [16 * 1024, MB, 16 * MB]) {
    const { garbage, state } = open()
    for (let bytes = 0; bytes < 48 * MB; bytes += piece) {
      garbage.add(piece)
      await nextTurn()
    }
    assert.equal(state.collections, 3, `${piece} bytes at once`)
  }
})

test('nothing is collected before whoever counts has ended, and once for all of a turn', async () => {
  const { garbage, state } = open()
  for (let count = 0; count < 100; count += 1) garbage.add(4 * MB)
  assert.equal(state.collections, 0)
  await nextTurn()
  assert.equal(state.collections, 1)
  garbage.add(15 * MB)
  await nextTurn()
  assert.equal(state.collections, 1)
})

test('what accounts read counts, whosever it is', async (t) => {
  let collections = 0
  t.after(() => Reflect.deleteProperty(globalThis, 'gc'))
  Reflect.set(globalThis, 'gc', ({ type }: { readonly type: string }) => {
    assert.equal(type, 'minor')
    collections += 1
  })
  const memory = testMemory({})
  for (let count = 0; count < 20; count += 1) memory.loop.count(`account ${count % 4}`, MB)
  await nextTurn()
  assert.equal(collections, 1)
})
