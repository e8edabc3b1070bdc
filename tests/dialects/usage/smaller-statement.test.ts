/** A later statement of usage that comes to less than an earlier one takes nothing back. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createChatUsageReader } from '../../../server/wire/dialects/chat/read-usage.ts'
import { createMessagesUsageReader } from '../../../server/wire/dialects/messages/read-usage.ts'
import { createResponseUsageReader } from '../../../server/wire/dialects/responses/read-usage.ts'
import { createAudioEventTap } from '../../../server/wire/dialects/synthesis/tap.ts'
import { createTranscriptTap } from '../../../server/wire/dialects/transcription/read-usage.ts'
import type { UsageReading } from '../../../server/wire/dialects/usage/usage-reading.ts'
import { totalTokens } from '../../../server/wire/dialects/usage/usage-reading.ts'

type Usage = Readonly<Record<string, unknown>>

function readChat(...statements: readonly Usage[]): UsageReading {
  const reader = createChatUsageReader()
  for (const usage of statements) reader.read({ usage })
  return reader.reading()
}

function readMessage(...statements: readonly Usage[]): UsageReading {
  const reader = createMessagesUsageReader()
  for (const usage of statements) reader.delta({ usage })
  return reader.reading()
}

function readResponse(...statements: readonly Usage[]): UsageReading {
  const reader = createResponseUsageReader()
  for (const usage of statements) reader.read({ usage })
  return reader.reading()
}

const REAL = { input_tokens: 10, output_tokens: 5 }
const SMALLER: readonly Usage[] = [
  { input_tokens: 0, output_tokens: 0 },
  { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
  { input_tokens: 10, output_tokens: 4 },
  { input_tokens: 9, output_tokens: 5 },
  { input_tokens: 1, output_tokens: 1 },
  { input_tokens: -1, output_tokens: 'x' },
  { output_tokens: 0 },
]

describe('a smaller statement behind a real one', () => {
  for (const later of SMALLER) {
    test(JSON.stringify(later), () => {
      const expected = { input_token: 10, output_token: 5 }
      for (const read of [readChat, readMessage, readResponse]) {
        assert.deepEqual(read(REAL, later).usage, expected)
      }
    })
  }

  test('tokens that turn out to be cached are not counted twice', () => {
    const later = { input_tokens: 2, cache_read_input_tokens: 8, output_tokens: 5 }
    const { usage } = readMessage({ input_tokens: 10 }, later)
    assert.deepEqual(usage, { input_token: 2, cached_input_token: 8, output_token: 5 })
  })

  describe('behind the input of message_start, which relays estimate', () => {
    const read = (opening: Usage, later: Usage, stopReason: string | null = 'end_turn') => {
      const reader = createMessagesUsageReader()
      reader.start({ usage: opening })
      reader.delta({ delta: { stop_reason: stopReason }, usage: later })
      return reader.reading().usage
    }
    const opening = { input_tokens: 1000, output_tokens: 1 }
    const later = { input_tokens: 700, output_tokens: 5 }
    const LARGER = { input_token: 1000, output_token: 5 }

    test('the end of the message is believed, where it states both sides', () => {
      assert.deepEqual(read(opening, later), { input_token: 700, output_token: 5 })
      const cached = { ...later, input_tokens: 0, cache_read_input_tokens: 600 }
      assert.equal(read(opening, cached)?.cached_input_token, 600)
      assert.deepEqual(read({ ...opening, cache_read_input_tokens: 9 }, later), {
        input_token: 700,
        cached_input_token: 9,
        output_token: 5,
      })
    })

    test('no other statement is', () => {
      assert.deepEqual(read(opening, later, null), LARGER, 'not the end')
      for (const input of [0, null, -1, 'x', 0.5, undefined]) {
        assert.deepEqual(read(opening, { input_tokens: input, output_tokens: 5 }), LARGER)
      }
      assert.equal(read(opening, { input_tokens: 700, output_tokens: 0 })?.input_token, 1000)
      assert.equal(read(opening, { input_tokens: 700 })?.input_token, 1000)
    })

    test('of several deltas the later does not take the earlier back', () => {
      const reader = createMessagesUsageReader()
      reader.start({ usage: opening })
      for (const output of [9, 5]) {
        const usage = { input_tokens: output * 100, output_tokens: output }
        reader.delta({ delta: { stop_reason: 'end_turn' }, usage })
      }
      assert.deepEqual(reader.reading().usage, { input_token: 900, output_token: 9 })
    })

    test('a second end does not take back what the first one left', () => {
      const reader = createMessagesUsageReader()
      reader.start({ usage: opening })
      for (const usage of [{ output_tokens: 9 }, { input_tokens: 500, output_tokens: 5 }]) {
        reader.delta({ delta: { stop_reason: 'end_turn' }, usage })
      }
      assert.deepEqual(reader.reading().usage, { input_token: 1000, output_token: 9 })
    })
  })

  test('a cost, and calls of tools', () => {
    const chat = readChat({ ...REAL, cost: 0.5 }, { ...REAL, cost: 0 })
    assert.equal(chat.statedCost?.nanos, 500_000_000n)
    const searches = (count: number) => ({ server_tool_use: { web_search_requests: count } })
    for (const read of [readChat, readMessage]) {
      const { usage } = read({ ...REAL, ...searches(3) }, { ...REAL, ...searches(0) })
      assert.equal(usage?.web_search_call, 3)
    }
  })

  test('passes, and images of a response', () => {
    const pass = { type: 'advisor_message', model: 'other', input_tokens: 7, output_tokens: 7 }
    const own = { type: 'message', ...REAL }
    const { passes } = readMessage(
      { ...REAL, iterations: [own, pass] },
      { ...REAL, iterations: [own] },
    )
    assert.equal(passes?.[0]?.usage.output_token, 7)
    const reader = createResponseUsageReader({ imageModel: 'images' })
    for (const count of [9, 0]) {
      reader.read({ tool_usage: { image_gen: { input_tokens: count, output_tokens: count } } })
    }
    assert.equal(reader.reading().passes?.[0]?.usage.image_output_token, 9)
  })

  test('sound and transcripts', () => {
    const events = [REAL, { input_tokens: 0, output_tokens: 0 }].map((usage) => ({ usage }))
    const taps = [
      [createAudioEventTap(), 'audio_output_token'],
      [createTranscriptTap(), 'output_token'],
    ] as const
    for (const [tap, unit] of taps) {
      for (const one of events) tap.push(Buffer.from(`data: ${JSON.stringify(one)}\n\n`))
      assert.equal(tap.report().usage?.[unit], 5)
    }
  })
})

test('no order of statements comes to less than the largest of them on either side', () => {
  const count = fc.oneof(fc.nat(1000), fc.constantFrom<unknown>(0, null, -1, 'x', 1.5))
  const statement = fc.record(
    { input_tokens: count, output_tokens: count, cache_read_input_tokens: count },
    { requiredKeys: [] },
  )
  const sides = (reading: UsageReading) => {
    const { input = 0, output = 0 } = totalTokens(reading.usage)
    return [input, output] as const
  }
  fc.assert(
    fc.property(fc.array(statement, { minLength: 1, maxLength: 4 }), (statements) => {
      for (const read of [readChat, readMessage, readResponse]) {
        // Without cached tokens, which are a part of the prompt or not, depending on both.
        const isMessage = read === readMessage
        const told = isMessage
          ? statements
          : statements.map(({ cache_read_input_tokens: _, ...rest }) => rest)
        const [input, output] = sides(read(...told))
        for (const one of told) {
          const [least, leastOutput] = sides(read(one))
          assert.ok(input >= least && output >= leastOutput, JSON.stringify(statements))
        }
      }
    }),
    { numRuns: 2000 },
  )
})

describe('a total above its parts', () => {
  const parts = { prompt_tokens: 46, completion_tokens: 7 }
  test('is reasoning that is not named', () => {
    assert.equal(readChat({ ...parts, total_tokens: 20_053 }).usage?.output_token, 20_007)
  })
  for (const total of [131_126, 1e6, 2 ** 40, 9e15]) {
    test(`is a mistake from ${total} on`, () => {
      assert.equal(readChat({ ...parts, total_tokens: total }).usage?.output_token, 7)
    })
  }
})
