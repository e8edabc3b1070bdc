import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUploadSlots } from '../../server/assets/uploads/upload-slots.ts'
import { GatewayError } from '../../server/lib/errors.ts'

const status = (expected: number) => (error: unknown) =>
  error instanceof GatewayError && error.status === expected

test('one account gets half of the slots, all accounts together all, and they are reusable', () => {
  const slots = createUploadSlots(4)
  const leaves = [slots.take('a'), slots.take('a')]
  assert.throws(() => slots.take('a'), status(429))
  leaves.push(slots.take('b'), slots.take('c'))
  assert.throws(() => slots.take('d'), status(503))
  for (const leave of leaves) leave()
  for (const account of ['a', 'a', 'b', 'b']) slots.take(account)
  assert.throws(() => slots.take('e'), status(503))
})
