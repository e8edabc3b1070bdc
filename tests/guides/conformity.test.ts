/** docs/conformity.md is what the titles of the tests make of it. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { buildConformity, CONFORMITY_PAGE } from '../../scripts/build-conformity.ts'

test('every promise has a test, and the page lists them as they are', () => {
  assert.equal(readFileSync(CONFORMITY_PAGE, 'utf8'), buildConformity())
})
