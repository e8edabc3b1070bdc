/**
 * The worked examples from the vendor's answer on: what the readers of usage find in it comes to
 * the example's total, at the catalog's prices.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { priceCharge } from '../../../server/money/catalog/price/price.ts'
import { readChatUsage } from '../../../server/wire/dialects/chat/read-usage.ts'
import { readMessagesUsage } from '../../../server/wire/dialects/messages/read-usage.ts'
import { createMessagesTap } from '../../../server/wire/dialects/messages/tap.ts'
import type { RelayReport } from '../../../server/wire/dialects/relay.ts'
import { readResponseBody } from '../../../server/wire/dialects/responses/read-response.ts'
import { findSold, PRICE_VECTORS, type PriceVector } from '../../support/price-vectors.ts'

type Reading = Pick<RelayReport, 'usage' | 'passes' | 'facts' | 'statedCost' | 'unknownUsage'>

const TEXT = [{ type: 'text', text: 'a' }]

function readStream(events: NonNullable<PriceVector['events']>): Reading {
  const tap = createMessagesTap()
  for (const event of events) {
    tap.push(Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
  }
  tap.end()
  return tap.report()
}

function read({ dialect, wire = {}, events }: PriceVector): Reading {
  if (events) return readStream(events)
  if (dialect === 'responses') {
    return readResponseBody({ object: 'response', output: [], ...wire }, {})
  }
  if (dialect === 'messages') return readMessagesUsage({ content: TEXT, ...wire })
  return readChatUsage({ choices: [], ...wire })
}

/** Answers of media have tests of their own, beside their readers. */
const isText = ({ dialect }: PriceVector) => dialect !== 'transcription' && dialect !== 'images'

const readable = PRICE_VECTORS.filter((one) => (one.wire ?? one.events) && isText(one))

for (const vector of readable) {
  const { n, title, channel = {} } = vector
  test(`${n}. ${vector.model ?? 'own prices'}: ${title}`, () => {
    const { prices, requested } = findSold(vector)
    const { usage = {}, passes = [], facts = {}, statedCost, unknownUsage = [] } = read(vector)
    assert.deepEqual(unknownUsage, [])
    const isSold = prices.some(({ unit }) => unit === 'vendor_cost')
    const cost = isSold && statedCost ? { vendor_cost: Number(statedCost.nanos) } : {}
    const known = { ...requested, ...facts }
    const charge = priceCharge(prices, { ...usage, ...cost }, known, channel, passes)
    assert.equal(charge.totalNanos, BigInt(vector.total_nanos))
    // A vendor that says what a call cost says the same as its prices.
    if (statedCost) assert.equal(statedCost.nanos, charge.totalNanos)
    const found = charge.lines.filter(({ amount }) => amount !== '0')
    assert.deepEqual(
      found.map(({ unit, quantity, model, role }) => ({ unit, quantity, model, role })),
      vector.lines.map(({ unit, quantity, model, role }) => ({ unit, quantity, model, role })),
    )
  })
}

test('most of the examples are answers that can be read', () => {
  assert.ok(readable.length >= 45, `${readable.length}`)
})
