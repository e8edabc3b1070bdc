/** Beta features: known ones reach the vendor, a header names the ignored ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Betas, nameBetas, readBetas } from '../../../server/wire/upstreams/anthropic/betas.ts'
import { nameIgnored } from '../../../server/wire/upstreams/ignored-header.ts'

const describeIgnored = (betas: Betas) => nameIgnored(nameBetas(betas))

test('known betas are forwarded as they are written, each once', () => {
  const header = 'interleaved-thinking-2025-05-14, claude-code-20250219,,Effort-2025-11-24, effort'
  const betas = readBetas(`${header},claude-code-20250219`, [])
  assert.equal(
    betas.forwarded,
    'interleaved-thinking-2025-05-14,claude-code-20250219,Effort-2025-11-24,effort',
  )
  assert.deepEqual(describeIgnored(betas), {})
})

test('unknown betas are not forwarded, and named', () => {
  const betas = readBetas('dream-mode-2027-01-01,fast-mode-2026-02-01', [])
  assert.equal(betas.forwarded, 'fast-mode-2026-02-01')
  assert.deepEqual(describeIgnored(betas), {
    'x-tributary-ignored': 'anthropic-beta=dream-mode-2027-01-01',
  })
  assert.equal(readBetas('dream-mode-2027-01-01', []).forwarded, undefined)
})

test('a name that only begins like a known one is unknown', () => {
  for (const value of [
    'fast-modes-2026-02-01',
    'skills-x',
    'x-skills',
    'effort-2025',
    'skills;a',
  ]) {
    assert.equal(readBetas(value, []).forwarded, undefined, value)
  }
})

test('the operator may let further ones pass', () => {
  const betas = readBetas('dream-mode-2027-01-01,other', ['dream-mode-2027-01-01'])
  assert.equal(betas.forwarded, 'dream-mode-2027-01-01')
  assert.deepEqual(betas.ignored, ['other'])
})

test('whatever a caller writes, the header that tells it is a plain one', () => {
  const odd = 'a b,ü,"x",\u0001'
  const headers = describeIgnored(readBetas(`${odd},${'y'.repeat(5000)},${'z,'.repeat(500)}`, []))
  assert.match(headers['x-tributary-ignored'] ?? '', /^[\w=?, .-]{1,2500}$/)
  assert.deepEqual(readBetas(undefined, []), { forwarded: undefined, ignored: [] })
})
