/** The wire forms of the worked examples of vendors' bills, read to quantities, passes and facts. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Quantities } from '../../../server/base/lib/units.ts'
import { readChatUsage } from '../../../server/wire/dialects/chat/read-usage.ts'
import { readImageUsage } from '../../../server/wire/dialects/images/read-answer.ts'
import { readMessagesUsage } from '../../../server/wire/dialects/messages/read-usage.ts'
import type { ModelPass } from '../../../server/wire/dialects/relay.ts'
import { createResponseUsageReader } from '../../../server/wire/dialects/responses/read-usage.ts'
import { readTranscription } from '../../../server/wire/dialects/transcription/read-usage.ts'
import type { UsageReading } from '../../../server/wire/dialects/usage/usage-reading.ts'

interface Vector {
  readonly n: number
  readonly title: string
  readonly dialect: string
  readonly wire: Readonly<Record<string, unknown>> | null
  readonly usage: Quantities
  readonly served?: Readonly<Record<string, unknown>>
  readonly passes?: readonly ModelPass[]
}

const FIXTURE = new URL('../../catalog/fixtures/price-vectors.json', import.meta.url)
const vectors: Vector[] = JSON.parse(readFileSync(FIXTURE, 'utf8'))

const READERS: Readonly<Record<string, (wire: Record<string, unknown>) => UsageReading>> = {
  chat: (wire) => readChatUsage(wire),
  embeddings: (wire) => readChatUsage(wire),
  messages: (wire) => readMessagesUsage({ content: [{ type: 'text' }], ...wire }),
  images: (wire) => readImageUsage(wire, 0),
  transcription: (wire) => readTranscription({ text: '', ...wire }),
  responses(wire) {
    const reader = createResponseUsageReader()
    reader.read(wire)
    return reader.reading()
  },
}

/** What was not used has no line: zero and absent are alike. */
function used(quantities: Quantities = {}): object {
  return Object.fromEntries(Object.entries(quantities).filter(([, count]) => count > 0))
}

let count = 0
for (const { n, title, dialect, wire, usage, served = {}, passes = [] } of vectors) {
  const read = READERS[dialect]
  if (!wire || !read) continue
  count += 1
  test(`${n}. ${dialect}: ${title}`, () => {
    const reading = read(wire)
    const { vendor_cost: cost, ...expected } = usage
    if (cost === undefined) assert.deepEqual(used(reading.usage), used(expected))
    else assert.equal(reading.statedCost?.nanos, BigInt(cost))
    const actual = (reading.passes ?? []).map((pass) => ({ ...pass, usage: used(pass.usage) }))
    assert.deepEqual(
      actual,
      passes.map((pass) => ({ ...pass, usage: used(pass.usage) })),
    )
    for (const [fact, value] of Object.entries(served)) {
      assert.equal(reading.facts?.[fact], value, fact)
    }
    assert.equal(reading.unknownUsage, undefined)
  })
}

test('most of the examples have a wire form that is read here', () => {
  assert.ok(count >= 45, `${count} of ${vectors.length}`)
})
