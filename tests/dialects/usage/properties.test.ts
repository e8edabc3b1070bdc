/** Whatever an upstream writes into its usage, the books get whole numbers that it stated. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  INPUT_UNITS,
  OUTPUT_UNITS,
  type Quantities,
  TOKEN_UNITS,
  type Unit,
} from '../../../server/base/lib/units.ts'
import { readChatUsage } from '../../../server/wire/dialects/chat/read-usage.ts'
import { createMessagesUsageReader } from '../../../server/wire/dialects/messages/read-usage.ts'
import type { RelayReport } from '../../../server/wire/dialects/relay.ts'
import { createResponseUsageReader } from '../../../server/wire/dialects/responses/read-usage.ts'

const NAMES = [
  'prompt_tokens',
  'completion_tokens',
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'prompt_tokens_details',
  'completion_tokens_details',
  'input_token_details',
  'cached_tokens',
  'num_cached_tokens',
  'prompt_cache_hit_tokens',
  'cache_write_tokens',
  'prompt_cache_miss_tokens',
  'cache_creation',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'ephemeral_5m_input_tokens',
  'ephemeral_1h_input_tokens',
  'audio_tokens',
  'image_tokens',
  'video_tokens',
  'text_tokens',
  'reasoning_tokens',
  'cached_tokens_details',
  'audio_cached_tokens',
  'citation_tokens',
  'iterations',
  'type',
  'model',
  'server_tool_use',
  'server_tool_use_details',
  'web_search_requests',
  'server_side_tool_usage_details',
  'web_search_calls',
  'num_search_queries',
  'cost',
  'total_cost',
  'gateway_cost',
  'cost_in_usd_ticks',
  'is_byok',
  'service_tier',
  'speed',
  'inference_geo',
  'tool_usage',
  'web_search',
  'plugins',
  'image_gen',
  'usage',
  'choices',
  'output',
  'tools',
  'x_groq',
  '__proto__',
  'constructor',
]

const number = fc.oneof(
  fc.nat(50),
  fc.maxSafeNat(),
  fc.constantFrom(0, -0, 1.5, -1, 2 ** 53, 1e300, Number.MAX_SAFE_INTEGER),
)
const leaf = fc.oneof(
  { weight: 6, arbitrary: number },
  fc.constantFrom<unknown>(null, true, '7', 'message', 'advisor_message', 'ephemeral', ''),
)
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('json'), { maxKeys: 8, noNullPrototype: false }),
  ),
}))
const object = fc.dictionary(fc.constantFrom(...NAMES), json, { maxKeys: 10 })

/** As it comes off the wire: a member `__proto__` is one like any other. */
function wire(value: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value))
}

function sum(usage: Quantities, units: readonly Unit[]): bigint {
  return units.reduce((total, unit) => total + BigInt(usage[unit] ?? 0), 0n)
}

function checkNumbers({ usage = {}, passes = [], statedCost, facts = {} }: Partial<RelayReport>) {
  for (const quantities of [usage, ...passes.map((pass) => pass.usage)]) {
    for (const [unit, count] of Object.entries(quantities)) {
      assert.ok(Number.isSafeInteger(count) && count >= 0 && !Object.is(count, -0), unit)
    }
  }
  if (statedCost) assert.ok(statedCost.nanos >= 0n)
  for (const fact of Object.values(facts)) assert.equal(typeof fact, 'string')
}

/** All numbers that a document states anywhere, in sum. */
function sumStated(value: unknown): bigint {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value > 0 ? BigInt(value) : 0n
  }
  if (typeof value !== 'object' || value === null) return 0n
  return Object.values(value).reduce((total: bigint, one) => total + sumStated(one), 0n)
}

test('any JSON in the usage of a chat or a response', () => {
  fc.assert(
    fc.property(object, object, (usage, rest) => {
      const document = wire({ ...rest, usage })
      const chat = readChatUsage(document)
      const reader = createResponseUsageReader({ imageModel: 'images' })
      reader.read(document)
      reader.read(document)
      reader.readItem(document, 0)
      for (const reading of [chat, reader.reading()]) {
        checkNumbers(reading)
        const stated = sumStated(document)
        assert.ok(sum(reading.usage ?? {}, TOKEN_UNITS) <= stated)
      }
    }),
    { numRuns: 1000 },
  )
})

test('both sides of a sane usage add up to what was stated', () => {
  const count = fc.oneof(fc.nat(2000), fc.constantFrom<unknown>(null, 'x', 1.5))
  const details = fc.record(
    {
      cached_tokens: count,
      cache_write_tokens: count,
      audio_tokens: count,
      image_tokens: count,
      video_tokens: count,
      audio_cached_tokens: count,
      reasoning_tokens: count,
      cached_tokens_details: fc.record({ audio_tokens: count }),
    },
    { requiredKeys: [] },
  )
  const sane = fc.record({ prompt: fc.nat(5000), output: fc.nat(5000), details, of: details })
  fc.assert(
    fc.property(sane, ({ prompt, output, details: of, of: outputDetails }) => {
      const usage = {
        prompt_tokens: prompt,
        completion_tokens: output,
        total_tokens: prompt + output,
        prompt_tokens_details: of,
        completion_tokens_details: outputDetails,
      }
      const read = readChatUsage({ usage }).usage ?? {}
      const beside = [of.cached_tokens, of.cache_write_tokens]
        .filter((one) => Number.isInteger(one))
        .reduce<number>((total, one) => total + Number(one), 0)
      const input = beside > prompt ? prompt + beside : prompt
      assert.equal(sum(read, INPUT_UNITS), BigInt(input))
      assert.equal(sum(read, OUTPUT_UNITS), BigInt(output))
    }),
    { numRuns: 1000 },
  )
})

test('any JSON in the usage of a message, whole and in a stream', () => {
  fc.assert(
    fc.property(object, object, object, (first, last, rest) => {
      const whole = createMessagesUsageReader()
      whole.whole(wire({ ...rest, usage: first }))
      const stream = createMessagesUsageReader()
      stream.start(wire({ ...rest, usage: first }))
      checkNumbers(stream.reading())
      assert.equal(stream.reading().usage?.output_token, undefined)
      stream.block(wire(rest))
      stream.delta(wire({ delta: rest, usage: last }))
      for (const reader of [whole, stream]) {
        checkNumbers(reader.reading())
        const stated = sumStated(wire([first, last]))
        const { usage = {} } = reader.reading()
        assert.ok(sum(usage, TOKEN_UNITS) <= stated)
      }
    }),
    { numRuns: 1000 },
  )
})
