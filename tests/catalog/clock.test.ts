/** Prices by the hour: peak hours, and calls near a boundary. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { clockFacts, peakHours } from '../../server/money/catalog/price/clock.ts'

const beijing = {
  time_zone: '+08:00',
  days: [1, 2, 3, 4, 5],
  hours: ['09:00-12:00', '14:00-18:00'],
  except: ['2027-01-01'],
}
const facts = (moment: string, peak_hours: unknown = beijing) => {
  const { onArrival, alternatives } = clockFacts({ details: { peak_hours } }, new Date(moment))
  assert.equal(alternatives[0], onArrival)
  return [onArrival.clock, alternatives.length]
}

const moments: [string, string, [string, number]][] = [
  ['a Monday morning', '2026-11-23T09:30:00+08:00', ['peak', 1]],
  ['the first moment', '2026-11-23T09:00:00+08:00', ['peak', 1]],
  ['the moment before it', '2026-11-23T08:59:59.999+08:00', ['off_peak', 2]],
  ['a quarter of an hour before', '2026-11-23T08:45:00+08:00', ['off_peak', 2]],
  ['longer before', '2026-11-23T08:44:59+08:00', ['off_peak', 1]],
  ['the last quarter', '2026-11-23T11:46:00+08:00', ['peak', 2]],
  ['the end', '2026-11-23T12:00:00+08:00', ['off_peak', 1]],
  ['a Sunday', '2026-11-22T10:00:00+08:00', ['off_peak', 1]],
  ['a holiday', '2027-01-01T10:00:00+08:00', ['off_peak', 1]],
  ['a Friday evening in UTC that is Saturday there', '2026-11-27T17:30:00Z', ['off_peak', 1]],
  ['a Sunday evening in UTC that is Monday there', '2026-11-23T01:30:00Z', ['peak', 1]],
]
for (const [name, moment, expected] of moments) {
  test(`${name} is ${expected[0]}`, () => assert.deepEqual(facts(moment), expected))
}

test('a model without peak hours has no clock', () => {
  assert.deepEqual(clockFacts({ details: {} }, new Date()), { onArrival: {}, alternatives: [{}] })
})

test('hours up to midnight, days across it, zones west of Greenwich', () => {
  const late = { time_zone: '-03:30', days: [7], hours: ['22:00-24:00'] }
  assert.deepEqual(facts('2026-11-23T02:00:00Z', late), ['peak', 1])
  assert.deepEqual(facts('2026-11-23T03:30:00Z', late), ['off_peak', 1])
  assert.deepEqual(facts('2026-11-23T03:20:00Z', late), ['peak', 2])
})

test('the alternatives include the fact at any moment of the next 15 minutes', () => {
  const minute = fc.integer({ min: 0, max: 7 * 24 * 60 })
  const property = fc.property(minute, fc.integer({ min: 0, max: 15 * 60_000 }), (start, later) => {
    const moment = Date.parse('2026-11-23T00:00:00Z') + start * 60_000
    const details = { peak_hours: beijing }
    const now = clockFacts({ details }, new Date(moment)).alternatives
    const { onArrival } = clockFacts({ details }, new Date(moment + later))
    assert.ok(now.some(({ clock }) => clock === onArrival.clock))
  })
  fc.assert(property, { numRuns: 1500 })
})

const bad = [
  { ...beijing, time_zone: 'Asia/Shanghai' },
  { ...beijing, days: [0] },
  { ...beijing, days: [] },
  { ...beijing, hours: ['9:00-12:00'] },
  { ...beijing, hours: ['22:00-02:00'] },
  { ...beijing, hours: ['12:00-12:00'] },
  { ...beijing, except: ['2027-02-30'] },
  { ...beijing, hour: [] },
]
for (const hours of bad) {
  test(`refused: ${JSON.stringify(hours)}`, () => {
    assert.equal(peakHours.safeParse(hours).success, false)
  })
}
