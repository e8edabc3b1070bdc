/** What is left of the caller's rates, in the form that each vendor's SDK reads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printDuration, RATE_HEADERS, rateHeaders } from '../../server/base/http/rate-headers.ts'

const atMs = Date.parse('2026-11-25T10:00:00.250Z')
const rates = {
  atMs,
  requests: { limit: 60, remaining: 59, resetMs: 60_000 },
  tokens: { limit: 1_000, remaining: 0, resetMs: 1_500 },
}

test('OpenAI’s form: durations from now', () => {
  assert.deepEqual(rateHeaders(rates, 'nested', atMs + 1_400), {
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-requests': '59',
    'x-ratelimit-reset-requests': '58.6s',
    'x-ratelimit-limit-tokens': '1000',
    'x-ratelimit-remaining-tokens': '0',
    'x-ratelimit-reset-tokens': '100ms',
  })
  const [late] = [rateHeaders(rates, 'flat', atMs + 90_000)]
  assert.equal(late['x-ratelimit-reset-requests'], '0ms')
})

test('the messages dialect: whole times in RFC 3339, never too early', () => {
  const headers = rateHeaders(rates, 'messages', atMs)
  assert.equal(headers['anthropic-ratelimit-requests-reset'], '2026-11-25T10:01:01Z')
  for (const kind of ['tokens', 'input-tokens', 'output-tokens']) {
    assert.equal(headers[`anthropic-ratelimit-${kind}-limit`], '1000')
    assert.equal(headers[`anthropic-ratelimit-${kind}-remaining`], '0')
    assert.equal(headers[`anthropic-ratelimit-${kind}-reset`], '2026-11-25T10:00:02Z')
  }
})

test('only of limits that are set, and not in the native form; pages may read each', () => {
  const { tokens: _tokens, ...requests } = rates
  assert.equal(Object.keys(rateHeaders(requests, 'messages', atMs)).length, 3)
  assert.deepEqual(rateHeaders(rates, 'native', atMs), {})
  const both = (['nested', 'messages'] as const).flatMap((envelope) =>
    Object.keys(rateHeaders(rates, envelope, atMs)),
  )
  assert.deepEqual([...RATE_HEADERS].sort(), both.sort())
})

test('durations', () => {
  const cases: readonly [number, string][] = [
    [0, '0ms'],
    [0.2, '1ms'],
    [999, '999ms'],
    [1_000, '1s'],
    [59_873, '59.873s'],
    [60_000, '1m0s'],
    [360_000, '6m0s'],
  ]
  for (const [milliseconds, printed] of cases) assert.equal(printDuration(milliseconds), printed)
})
