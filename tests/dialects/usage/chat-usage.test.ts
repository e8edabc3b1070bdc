/** What is read from OpenAI-shaped usage, vendor by vendor, and what counts as not stated. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createChatUsageReader,
  readChatUsage,
} from '../../../server/wire/dialects/chat/read-usage.ts'

const read = (usage: unknown, rest: object = {}) => readChatUsage({ ...rest, usage })
const units = (usage: unknown) => read(usage).usage

describe('tokens in units that do not overlap', () => {
  const cases: readonly [name: string, usage: object, expected: object][] = [
    [
      'reasoning inside the completion',
      {
        prompt_tokens: 1200,
        completion_tokens: 350,
        total_tokens: 1550,
        completion_tokens_details: { reasoning_tokens: 200 },
      },
      { input_token: 1200, output_token: 350 },
    ],
    [
      'cached and written inside the prompt',
      {
        prompt_tokens: 2600,
        completion_tokens: 100,
        total_tokens: 2700,
        prompt_tokens_details: { cached_tokens: 2000, cache_write_tokens: 400 },
      },
      { input_token: 200, cached_input_token: 2000, cache_write_token: 400, output_token: 100 },
    ],
    [
      'the names of responses',
      {
        input_tokens: 300,
        output_tokens: 10,
        input_tokens_details: { cached_tokens: 250, cache_write_tokens: 10 },
      },
      { input_token: 40, cached_input_token: 250, cache_write_token: 10, output_token: 10 },
    ],
    [
      'rejected predictions are output',
      {
        prompt_tokens: 800,
        completion_tokens: 600,
        completion_tokens_details: {
          accepted_prediction_tokens: 300,
          rejected_prediction_tokens: 120,
        },
      },
      { input_token: 800, output_token: 600 },
    ],
    [
      'audio on both sides',
      {
        prompt_tokens: 300,
        completion_tokens: 420,
        total_tokens: 720,
        prompt_tokens_details: { audio_tokens: 250, cached_tokens: 0 },
        completion_tokens_details: { audio_tokens: 380, text_tokens: 40 },
      },
      { input_token: 50, audio_input_token: 250, output_token: 40, audio_output_token: 380 },
    ],
    [
      'cached of two kinds',
      {
        input_tokens: 1500,
        output_tokens: 500,
        total_tokens: 2000,
        input_token_details: {
          text_tokens: 300,
          audio_tokens: 1200,
          cached_tokens: 1000,
          cached_tokens_details: { text_tokens: 200, audio_tokens: 800 },
        },
        output_token_details: { text_tokens: 100, audio_tokens: 400 },
      },
      {
        input_token: 100,
        cached_input_token: 200,
        audio_input_token: 400,
        cached_audio_input_token: 800,
        output_token: 100,
        audio_output_token: 400,
      },
    ],
    [
      'cached audio beside the details of ARK',
      {
        prompt_tokens: 100,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 40, audio_tokens: 60, audio_cached_tokens: 30 },
      },
      {
        input_token: 30,
        cached_input_token: 10,
        audio_input_token: 30,
        cached_audio_input_token: 30,
        output_token: 5,
      },
    ],
    [
      'images and video in the prompt, and more cached than text',
      {
        prompt_tokens: 1000,
        completion_tokens: 1,
        prompt_tokens_details: { image_tokens: 600, video_tokens: 100, cached_tokens: 500 },
      },
      {
        input_token: 0,
        cached_input_token: 300,
        image_input_token: 400,
        cached_image_input_token: 200,
        video_input_token: 100,
        output_token: 1,
      },
    ],
    [
      'parts that exceed their total: the total is trusted',
      {
        prompt_tokens: 25,
        completion_tokens: 3,
        prompt_tokens_details: { audio_tokens: 554, text_tokens: 25 },
      },
      { input_token: 0, audio_input_token: 25, output_token: 3 },
    ],
    [
      'hits and misses make up the prompt',
      {
        prompt_tokens: 10_000,
        completion_tokens: 500,
        total_tokens: 10_500,
        prompt_cache_hit_tokens: 8000,
        prompt_cache_miss_tokens: 2000,
        completion_tokens_details: { reasoning_tokens: 300 },
      },
      { input_token: 2000, cached_input_token: 8000, output_token: 500 },
    ],
    [
      'cached at the top',
      { prompt_tokens: 10, completion_tokens: 1, cached_tokens: 4 },
      { input_token: 6, cached_input_token: 4, output_token: 1 },
    ],
    [
      'the spelling of Mistral',
      {
        prompt_tokens: 171,
        completion_tokens: 14,
        total_tokens: 185,
        num_cached_tokens: 128,
        prompt_token_details: { cached_tokens: 128 },
      },
      { input_token: 43, cached_input_token: 128, output_token: 14 },
    ],
    [
      'an explicit cache of five minutes',
      {
        prompt_tokens: 5000,
        completion_tokens: 200,
        prompt_tokens_details: {
          cached_tokens: 3000,
          cache_creation_input_tokens: 1000,
          cache_type: 'ephemeral',
          cache_creation: { ephemeral_5m_input_tokens: 1000 },
        },
      },
      {
        input_token: 1000,
        cached_input_token: 3000,
        cache_write_5m_token: 1000,
        output_token: 200,
      },
    ],
    [
      'writes for an hour',
      {
        prompt_tokens: 9000,
        completion_tokens: 700,
        prompt_tokens_details: {
          cached_tokens: 2000,
          cache_creation_tokens: 6000,
          cache_creation: { ephemeral_1h_input_tokens: 6000 },
        },
      },
      {
        input_token: 1000,
        cached_input_token: 2000,
        cache_write_1h_token: 6000,
        output_token: 700,
      },
    ],
    [
      'more cached than prompt: they stand beside it',
      {
        prompt_tokens: 9,
        completion_tokens: 5,
        total_tokens: 304,
        prompt_tokens_details: { cached_tokens: 290 },
      },
      { input_token: 9, cached_input_token: 290, output_token: 5 },
    ],
    [
      'reasoning beside the completion (a recorded answer)',
      {
        prompt_tokens: 12,
        completion_tokens: 1,
        total_tokens: 303,
        prompt_tokens_details: { text_tokens: 12, cached_tokens: 11 },
        completion_tokens_details: { reasoning_tokens: 290 },
      },
      { input_token: 1, cached_input_token: 11, output_token: 291 },
    ],
    [
      'reasoning beside the completion and in no detail',
      { prompt_tokens: 46, completion_tokens: 7, total_tokens: 241 },
      { input_token: 46, output_token: 195 },
    ],
    [
      'a total in place of the output',
      { prompt_tokens: 60, completion_tokens: null, total_tokens: 100 },
      { input_token: 60, output_token: 40 },
    ],
    [
      'a total in place of the input',
      { completion_tokens: 40, total_tokens: 100 },
      { input_token: 60, output_token: 40 },
    ],
    [
      'seconds of sound, which are the rest of the total',
      { prompt_tokens: 4, completion_tokens: 10, total_tokens: 2639, prompt_audio_seconds: 203 },
      { input_token: 4, output_token: 10, second: 203 },
    ],
    [
      'the difference counts up to the stated reasoning',
      {
        prompt_tokens: 10,
        completion_tokens: 10,
        total_tokens: 1000,
        completion_tokens_details: { reasoning_tokens: 30 },
      },
      { input_token: 10, output_token: 40 },
    ],
    [
      'reasoning that exceeds the completion, without a total, stands beside it',
      {
        prompt_tokens: 12,
        completion_tokens: 1,
        completion_tokens_details: { reasoning_tokens: 290 },
      },
      { input_token: 12, output_token: 291 },
    ],
    [
      'counts of 0 under names that the vendor does not use',
      {
        prompt_tokens: 0,
        completion_tokens: 0,
        total_tokens: 120,
        input_tokens: 100,
        output_tokens: 20,
      },
      { input_token: 100, output_token: 20 },
    ],
    [
      'deep research: pages read and reasoning stand beside both sides',
      {
        prompt_tokens: 30,
        completion_tokens: 500,
        total_tokens: 530,
        citation_tokens: 1000,
        reasoning_tokens: 4000,
        num_search_queries: 18,
      },
      { input_token: 1030, output_token: 4500, web_search_call: 18 },
    ],
  ]
  for (const [name, usage, expected] of cases) {
    test(name, () => assert.deepEqual(units(usage), expected))
  }
})

describe('what is not stated', () => {
  const bad = [null, '7', 1.5, -1, 2 ** 53, 1e18, true, [], {}]
  for (const value of bad) {
    test(`${JSON.stringify(value)} for a total leaves its side out`, () => {
      const output = units({ prompt_tokens: 5, completion_tokens: value, total_tokens: 1e6 })
      assert.deepEqual(output, { input_token: 5 })
      const input = units({ prompt_tokens: value, completion_tokens: 5, total_tokens: 1e6 })
      assert.deepEqual(input, { output_token: 5 })
    })
    test(`${JSON.stringify(value)} for a detail leaves its tokens ordinary`, () => {
      const details = { cached_tokens: value, cache_write_tokens: value, audio_tokens: value }
      const usage = { prompt_tokens: 5, completion_tokens: 6, prompt_tokens_details: details }
      assert.deepEqual(units({ ...usage, completion_tokens_details: details }), {
        input_token: 5,
        output_token: 6,
      })
    })
  }
  for (const usage of [undefined, null, 'x', 7, [], {}, { prompt_tokens: 'x' }]) {
    test(`${JSON.stringify(usage)} as a whole`, () => assert.equal(units(usage), undefined))
  }
})

describe('places and repetitions', () => {
  const usage = { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 }
  const expected = { input_token: 5, output_token: 6 }

  test('usage in the first choice, and in an extension of the vendor', () => {
    assert.deepEqual(readChatUsage({ choices: [{ usage }] }).usage, expected)
    assert.deepEqual(readChatUsage({ x_groq: { id: 'x', usage } }).usage, expected)
    assert.deepEqual(readChatUsage({ x_groq: { usage }, usage: null }).usage, expected)
  })

  test('the same usage in two places and two chunks is one', () => {
    const reader = createChatUsageReader()
    for (let at = 0; at < 2; at += 1) {
      reader.read({ usage, x_groq: { usage }, choices: [{ usage }] })
    }
    assert.deepEqual(reader.reading().usage, expected)
  })

  test('running totals are never added, and null takes nothing back', () => {
    const reader = createChatUsageReader()
    reader.read({ usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } })
    reader.read({ usage })
    reader.read({ usage: null })
    reader.read({ usage: { completion_tokens: null } })
    assert.deepEqual(reader.reading().usage, expected)
  })

  test('a requested hour is the lifetime of cache writes that state none', () => {
    const details = { cache_write_tokens: 2 }
    const document = { usage: { ...usage, prompt_tokens_details: details } }
    const { usage: stated } = readChatUsage(document, { writeLifetime: () => '1h' })
    assert.deepEqual(stated, { input_token: 3, cache_write_1h_token: 2, output_token: 6 })
  })
})

describe('facts', () => {
  const tiers: readonly [served: unknown, fact: string | undefined][] = [
    ['default', 'standard'],
    ['on_demand', 'standard'],
    [null, 'standard'],
    ['priority', 'fast'],
    ['fast', 'fast'],
    ['performance', 'fast'],
    ['Priority', 'fast'],
    ['flex', 'flex'],
    ['batch', 'batch'],
    ['ultrafast', 'ultrafast'],
    ['scale', 'prepaid'],
    ['auto', undefined],
    ['', undefined],
    [7, undefined],
    [undefined, undefined],
  ]
  for (const [served, fact] of tiers) {
    test(`service_tier ${JSON.stringify(served)} is ${fact}`, () => {
      const { facts, unknownUsage } = readChatUsage({ service_tier: served })
      assert.equal(facts?.service_tier, fact)
      assert.equal(unknownUsage, undefined)
    })
  }

  test('a tier that no price can name is for a person to see', () => {
    const { facts, unknownUsage } = readChatUsage({ service_tier: 'Turbo' })
    assert.deepEqual([facts?.service_tier, unknownUsage], ['turbo', ['service_tier']])
  })

  test('the last event that has a tier tells it', () => {
    const reader = createChatUsageReader()
    for (const served of ['priority', 'default', null, undefined]) {
      reader.read({ service_tier: served })
    }
    assert.deepEqual(reader.reading().facts, { service_tier: 'standard' })
  })

  test('an explicit cache and thinking', () => {
    const usage = {
      prompt_tokens: 1,
      completion_tokens: 2,
      prompt_tokens_details: { cache_type: 'ephemeral' },
      completion_tokens_details: { reasoning_tokens: 1 },
    }
    assert.deepEqual(read(usage).facts, { cache_mode: 'explicit', thinking: 'on' })
  })
})
