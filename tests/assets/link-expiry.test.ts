import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readLinkExpiry } from '../../server/work/assets/library/link-expiry.ts'

const NOW = new Date('2026-11-21T10:00:00Z')
const DAY_LATER = '2026-11-22T10:00:00.000Z'

const CASES: readonly (readonly [query: string, expiry: string])[] = [
  ['', DAY_LATER],
  ['?X-Tos-Date=20261121T093000Z&X-Tos-Expires=86400', '2026-11-22T09:30:00.000Z'],
  ['?x-amz-date=20261121T093000Z&X-Amz-Expires=3600', '2026-11-21T10:30:00.000Z'],
  ['?Expires=1795266000&Signature=x', '2026-11-21T13:00:00.000Z'],
  ['?X-Amz-Date=20261121T093000Z', DAY_LATER],
  ['?X-Amz-Expires=60', DAY_LATER],
  ['?X-Amz-Date=garbage&X-Amz-Expires=60', DAY_LATER],
  ['?Expires=12', DAY_LATER],
  // Over already by its own words, or senselessly far.
  ['?X-Amz-Date=20261120T093000Z&X-Amz-Expires=60', DAY_LATER],
  ['?Expires=9999999999', '2026-11-28T10:00:00.000Z'],
]

for (const [query, expiry] of CASES) {
  test(`${query || 'no query'} lives until ${expiry}`, () => {
    assert.equal(readLinkExpiry(`https://media.example/v.mp4${query}`, NOW).toISOString(), expiry)
  })
}

test('what is no URL lives a day', () => {
  assert.equal(readLinkExpiry('nonsense', NOW).toISOString(), DAY_LATER)
})
