/** What `keepTickShape` relies on in Node: the object that queues a callback is its resource. */
import assert from 'node:assert/strict'
import { executionAsyncResource } from 'node:async_hooks'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { keepTickShape } from '../../../bin/lib/engine-flags.ts'

test('the kept object is queued by process.nextTick and has the shape of later ones', async () => {
  const kept = keepTickShape()
  const later: object[] = []
  process.nextTick(() => later.push(executionAsyncResource()))
  await new Promise(setImmediate)
  const [tick] = kept
  assert.ok(tick && 'callback' in tick && 'args' in tick)
  assert.ok(Object.getOwnPropertySymbols(tick).length >= 2, 'it has the computed keys')
  setFlagsFromString('--allow-natives-syntax')
  const haveSameShape = new Function('one', 'other', 'return %HaveSameMap(one, other)')
  setFlagsFromString('--no-allow-natives-syntax')
  assert.equal(haveSameShape(tick, later[0]), true)
})
