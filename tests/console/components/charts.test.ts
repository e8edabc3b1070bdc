import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillBuckets, fromFirst } from '../../../console/src/components/charts/fill-buckets.ts'
import {
  axisMarks,
  axisWidth,
  labelledSlots,
} from '../../../console/src/components/charts/scale.ts'

test('an axis has round marks from zero to at least the highest value', () => {
  assert.deepEqual(axisMarks(0), [0])
  assert.deepEqual(axisMarks(4.7), [0, 2, 4, 6])
  assert.deepEqual(axisMarks(0.00012), [0, 0.00005, 0.0001, 0.00015])
  for (const max of [1, 7, 99, 1_234_567, 0.3, 1e-9]) {
    const marks = axisMarks(max)
    assert.ok((marks.at(-1) ?? 0) >= max && marks.length <= 5, `${max}: ${marks}`)
  }
})

test('the axis has room for its longest label', () => {
  assert.equal(axisWidth(['¥0', '¥1']), 52)
  assert.ok(axisWidth(['¥0.00', '¥0.000050']) >= '¥0.000050'.length * 7)
})

test('as many slots are labelled as there is room for, the last among them', () => {
  assert.deepEqual([...labelledSlots(24, 3)], [23, 15, 7])
  assert.deepEqual([...labelledSlots(3, 10)], [2, 1, 0])
  assert.equal(labelledSlots(24, 0).size, 1)
})

test('hours without a call are in the chart as nothing', () => {
  const rows = [{ at: '2026-11-21T03:00:00.000Z', calls: 2 }]
  const span = { from: '2026-11-21T02:10:00Z', to: '2026-11-21T05:00:00Z', step: 'hour' } as const
  assert.deepEqual(
    fillBuckets(rows, span).map(({ at, row }) => [at.slice(11, 13), row?.calls]),
    [
      ['02', undefined],
      ['03', 2],
      ['04', undefined],
    ],
  )
})

test('a chart begins with the first data, with six slots at least', () => {
  const span = {
    from: '2026-11-01T00:00:00.000Z',
    to: '2026-11-21T05:00:00.000Z',
    step: 'hour',
  } as const
  const at = (time: string) => fromFirst([{ at: '2026-11-21T04:00:00Z' }, { at: time }], span).from
  assert.equal(at('2026-11-20T07:00:00Z'), '2026-11-20T07:00:00.000Z')
  assert.equal(at('2026-11-21T03:00:00Z'), '2026-11-20T23:00:00.000Z')
  assert.equal(at('2026-10-01T00:00:00Z'), span.from)
  assert.deepEqual(fromFirst([], span), span)
})

test('days begin at this place’s midnight', () => {
  const midnight = new Date(2026, 10, 20)
  const rows = [{ at: midnight.toISOString(), calls: 1 }]
  const from = new Date(2026, 10, 19, 15).toISOString()
  const to = new Date(2026, 10, 21, 1).toISOString()
  const filled = fillBuckets(rows, { from, to, step: 'day' })
  assert.deepEqual(
    filled.map(({ row }) => row?.calls),
    [undefined, 1, undefined],
  )
})
