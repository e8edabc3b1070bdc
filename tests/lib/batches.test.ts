/** Batches collect while one of them runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBatches } from '../../server/base/lib/queues/batcher.ts'

test('sends the next batch before the owners of the last one go on', async () => {
  const events: string[] = []
  const first = Promise.withResolvers<void>()
  const isSent = Promise.withResolvers<void>()
  const batches = createBatches<string>({
    batchLimit: 1_000,
    queueLimit: 1_000,
    async run(items) {
      const names = items.join(' ')
      events.push(`sent ${names}`)
      isSent.resolve()
      if (names === 'one') await first.promise
      return () => events.push(`answered ${names}`)
    },
  })
  batches.push('one')
  await isSent.promise
  batches.push('two')
  batches.push('three')
  first.resolve()
  await batches.flushed()
  assert.deepEqual(events, ['sent one', 'sent two three', 'answered one', 'answered two three'])
  assert.equal(batches.size(), 0)
})
