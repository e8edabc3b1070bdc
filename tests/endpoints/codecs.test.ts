import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import {
  base64Text,
  count,
  decimalAmount,
  encode,
  givenTime,
  serial,
  storedList,
  storedTime,
  time,
  unixTime,
  unlessNull,
} from '../../server/api/endpoints/codecs.ts'

const AT = new Date('2026-11-21T09:30:00.250Z')

function roundTrip<Schema extends z.ZodType>(schema: Schema, row: z.output<Schema>) {
  const json = schema.encode(row)
  assert.deepEqual(schema.decode(json), row)
  return json
}

describe('codecs between rows and JSON', () => {
  test('lose nothing', () => {
    assert.equal(roundTrip(decimalAmount, -1_500_000_000n), '-1.5')
    assert.equal(roundTrip(time, AT), '2026-11-21T09:30:00.250Z')
    assert.equal(roundTrip(unixTime, new Date('2026-11-21T09:30:00Z')), 1_795_253_400)
    assert.equal(roundTrip(count, 7n), 7)
    assert.equal(roundTrip(serial, 2n ** 60n), '1152921504606846976')
    assert.equal(roundTrip(base64Text, 'w6k='), 'é')
    assert.equal(roundTrip(unlessNull(time), AT), AT.toISOString())
    assert.equal(roundTrip(unlessNull(time), null), undefined)
  })

  test('read a time of a request in UTC, and none that there is not', () => {
    const times = {
      '2026-11-21': '2026-11-21T00:00:00.000Z',
      '2026-11-21T09:30:00.250Z': '2026-11-21T09:30:00.250Z',
      '2026-11-21T09:30': '2026-11-21T09:30:00.000Z',
      '2026-11-21T17:30:00+08:00': '2026-11-21T09:30:00.000Z',
      '2026-11-21T17:30:00 08:00': '2026-11-21T09:30:00.000Z',
      '2026-11-21 09:30:00.123456': '2026-11-21T09:30:00.123Z',
      '2026-11-21 17:30:00+08:00': '2026-11-21T09:30:00.000Z',
    }
    for (const [text, expected] of Object.entries(times)) {
      assert.equal(givenTime.decode(text).toISOString(), expected, text)
    }
    for (const text of ['2026-02-30', '2026-02-30T00:00:00Z', '5', 'May 1', '', '2026-11']) {
      assert.equal(givenTime.safeParse(text).success, false, text)
    }
  })

  test('read a time as the database writes it in JSON', () => {
    assert.equal(storedTime.encode('2026-11-21T17:30:00.25+08:00'), AT.toISOString())
  })

  test('leave out the items of a stored list that do not fit', () => {
    const item = z.object({ unit: z.string(), quantity: z.number().nullable() })
    const stored = item.extend({ quantity: z.number().nullable().default(null) })
    const list = storedList(item, stored)
    assert.deepEqual(list.encode([{ unit: 'a' }, 'b', { unit: 3 }]), [
      { unit: 'a', quantity: null },
    ])
    assert.deepEqual(list.encode({}), [])
  })
})

describe('the encoder of a row', () => {
  const schema = z.object({ state: z.enum(['open']), limit: z.int().min(1).max(10) })

  test('drops columns that the schema does not name', () => {
    const row = { state: 'open', limit: 2, secret: 'x' } as const
    assert.deepEqual(encode(schema, row), { state: 'open', limit: 2 })
  })

  test('shows a stored value beyond the bounds of today', () => {
    assert.deepEqual(encode(schema, { state: 'open', limit: 99 }), { state: 'open', limit: 99 })
  })

  test('refuses a value of another type, and a missing one', () => {
    const wrong = { state: 'shut', limit: 2 } as unknown as z.output<typeof schema>
    assert.throws(() => encode(schema, wrong), z.core.$ZodError)
    const short = { state: 'open' } as unknown as z.output<typeof schema>
    assert.throws(() => encode(schema, short), z.core.$ZodError)
  })
})
