/** Deferred figures equal those that the library would have kept itself. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram, Registry } from 'prom-client'
import { createDeferredHistogram } from '../../server/api/metrics/deferred.ts'

const BUCKETS = [0.001, 0.01, 0.1, 1, 10]
const LABELS = [{ route: '/a' }, { route: '/b' }, { route: '/c' }]
const shape = { name: 'seconds', help: 'Seconds.', labelNames: ['route'] as const }

/** Values in and beyond the buckets, and on their bounds. */
function drawValue(): number {
  const bound = BUCKETS[Math.floor(Math.random() * BUCKETS.length)] ?? 0
  return Math.random() < 0.3 ? bound : 10 ** (Math.random() * 7 - 4)
}

test('a deferred histogram reads as the library writes it, however often it is read', async () => {
  const expected = new Registry()
  const actual = new Registry()
  const plain = new Histogram({ ...shape, buckets: BUCKETS, registers: [expected] })
  const create = createDeferredHistogram({ ...shape, buckets: BUCKETS, registers: [actual] })
  const figures = LABELS.map((labels) => ({ labels, deferred: create(labels) }))
  for (const { labels } of figures) plain.zero(labels)
  for (let round = 0; round < 5; round += 1) {
    for (let drawn = 0; drawn < 200; drawn += 1) {
      const { labels, deferred } = figures[Math.floor(Math.random() * figures.length)] ?? {}
      const value = drawValue()
      if (labels) plain.observe(labels, value)
      deferred?.observe(value)
    }
    assert.deepEqual(roundSums(await actual.metrics()), roundSums(await expected.metrics()))
  }
  // As for a model and a channel that are named like those of the places beyond the bound.
  const [first] = figures
  assert.equal(first && create(first.labels), first?.deferred)
})

/** Sums are added in another order, so their last digits may differ. */
function roundSums(text: string): readonly string[] {
  return text.split('\n').map((line) => {
    const [, name, value] = /^(seconds_sum.*) (\S+)$/.exec(line) ?? []
    return name === undefined ? line : `${name} ${Number(value).toFixed(6)}`
  })
}
