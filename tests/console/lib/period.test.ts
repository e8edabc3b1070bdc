/** Periods of lists and charts, in the time zone of this process. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatPeriod } from '../../../console/src/lib/format.ts'
import {
  chartSpan,
  fromDay,
  PRESETS,
  periodOf,
  presetOf,
  toDay,
} from '../../../console/src/lib/period.ts'

const NOW = new Date(2026, 2, 31, 15, 42)
const local = (...[year, month, day]: [number, number, number]) =>
  new Date(year, month - 1, day).toISOString()

test('presets are whole local days, also where a month has no 31st', () => {
  const bounds = PRESETS.map((preset) => Object.values(periodOf(preset, NOW)))
  assert.deepEqual(bounds, [
    [local(2026, 3, 31), local(2026, 4, 1)],
    [local(2026, 3, 30), local(2026, 3, 31)],
    [local(2026, 3, 25), local(2026, 4, 1)],
    [local(2026, 3, 2), local(2026, 4, 1)],
    [local(2026, 3, 1), local(2026, 4, 1)],
    [local(2026, 2, 1), local(2026, 3, 1)],
  ])
})

test('a preset is recognised in an address until its days have passed', () => {
  for (const preset of PRESETS) assert.equal(presetOf(periodOf(preset, NOW), NOW), preset)
  const yesterday = periodOf('yesterday', NOW)
  assert.equal(presetOf(yesterday, new Date(2026, 3, 1)), undefined)
  assert.equal(presetOf({ from: '', to: '' }, NOW), undefined)
  assert.equal(presetOf({ from: 'nonsense', to: 'x' }, NOW), undefined)
})

test('a chosen last day is included, and shown as itself', () => {
  assert.equal(fromDay('2026-03-31', true), local(2026, 4, 1))
  assert.equal(toDay(local(2026, 4, 1), true), '2026-03-31')
  assert.equal(toDay(fromDay('2026-03-31', false), false), '2026-03-31')
  assert.deepEqual([toDay('', true), toDay('nonsense', false), fromDay('', true)], ['', '', ''])
})

test('a chart ends with this hour, by hour up to three days', () => {
  const hour = new Date(2026, 2, 31, 16).toISOString()
  const today = chartSpan(periodOf('today', NOW), NOW.getTime(), 30)
  assert.deepEqual(today, { from: local(2026, 3, 31), to: hour, step: 'hour' })
  const unset = chartSpan({ from: '', to: '' }, NOW.getTime(), 30)
  assert.deepEqual([unset.to, unset.step], [hour, 'day'])
  assert.equal(Date.parse(hour) - Date.parse(unset.from), 30 * 86_400_000)
})

test('a period is worded by its days, or by times where it has any', () => {
  const thisYear = new Date().getFullYear()
  const at = (...[month, day, hour = 0]: [number, number, number?]) =>
    new Date(thisYear, month - 1, day, hour).toISOString()
  assert.equal(formatPeriod(at(3, 1), at(3, 4), 'en').replaceAll('\u2009', ' '), 'Mar 1 – 3')
  assert.equal(formatPeriod(at(3, 3), at(3, 4), 'en'), 'Mar 3')
  assert.match(formatPeriod(at(3, 3, 9), at(3, 3, 11), 'en'), /^Mar 3, 09:00\s–\s11:00$/)
  assert.equal(formatPeriod(at(3, 3), undefined, 'en'), 'Mar 3')
  assert.match(formatPeriod(local(2001, 3, 1), local(2001, 3, 4), 'zh'), /^2001/)
  assert.equal(formatPeriod('nonsense', '', 'en'), 'nonsense – ')
})
