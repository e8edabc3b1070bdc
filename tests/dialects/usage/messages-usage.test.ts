/** What is read from usage in the messages format: lifetimes, passes, tools, how it was served. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createMessagesUsageReader,
  type MessagesUsageOptions,
  readMessagesUsage,
} from '../../../server/wire/dialects/messages/read-usage.ts'
import { createMessagesTap } from '../../../server/wire/dialects/messages/tap.ts'
import { chunkings, run } from '../replay.ts'

const TEXT = [{ type: 'text', text: 'a' }]

function read(usage: object, message: object = {}, options: MessagesUsageOptions = {}) {
  return readMessagesUsage({ content: TEXT, ...message, usage }, options)
}

describe('cache writes', () => {
  const counts = { input_tokens: 50, cache_creation_input_tokens: 4000, output_tokens: 400 }
  const rest = { input_token: 50, output_token: 400 }
  const split = (minutes: number, hour: number) => ({
    cache_creation: { ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hour },
  })
  const cases: readonly [name: string, usage: object, expected: object][] = [
    ['both', split(3000, 1000), { cache_write_5m_token: 3000, cache_write_1h_token: 1000 }],
    ['one hour', split(0, 4000), { cache_write_1h_token: 4000 }],
    ['no split', {}, { cache_write_5m_token: 4000 }],
    [
      'a split of less: the rest is of its one lifetime',
      split(0, 7),
      { cache_write_1h_token: 4000 },
    ],
    ['a split of more: the total is trusted', split(5000, 0), { cache_write_5m_token: 4000 }],
  ]
  for (const [name, usage, expected] of cases) {
    test(name, () =>
      assert.deepEqual(read({ ...counts, ...usage }).usage, { ...rest, ...expected }),
    )
  }

  test('a requested hour is the lifetime of cache writes that state none', () => {
    const { usage } = read(counts, {}, { writeLifetime: () => '1h' })
    assert.deepEqual(usage, { ...rest, cache_write_1h_token: 4000 })
  })

  test('a lifetime of another length is for a person to see', () => {
    const { unknownUsage } = read({ cache_creation: { ephemeral_24h_input_tokens: 1 } })
    assert.deepEqual(unknownUsage, ['usage.cache_creation.ephemeral_24h_input_tokens'])
  })
})

describe('a stream', () => {
  const start = {
    input_tokens: 6,
    cache_creation_input_tokens: 3337,
    cache_read_input_tokens: 6289,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 3337 },
    output_tokens: 1,
    service_tier: 'standard',
    speed: 'fast',
    inference_geo: 'us',
  }
  const input = { input_token: 6, cached_input_token: 6289, cache_write_1h_token: 3337 }

  test('the output of its start is no quantity, and the last total counts', () => {
    const reader = createMessagesUsageReader()
    reader.start({ usage: start })
    assert.deepEqual(reader.reading().usage, input)
    for (const output_tokens of [57, 198]) reader.delta({ usage: { output_tokens } })
    assert.deepEqual(reader.reading().usage, { ...input, output_token: 198 })
  })

  test('the split and the facts of the start stay beside later totals', () => {
    const reader = createMessagesUsageReader()
    reader.start({ usage: start })
    reader.delta({ usage: { cache_creation_input_tokens: 3400, output_tokens: 5 } })
    const { usage, facts } = reader.reading()
    assert.equal(usage?.cache_write_1h_token, 3400)
    assert.deepEqual(facts, { service_tier: 'standard', speed: 'fast', region: 'us' })
  })

  test('any chunking of its bytes gives the same report', () => {
    const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
    const delta = { type: 'text_delta', text: 'Hé' }
    const search = { type: 'web_search_tool_result', content: [] }
    const body = Buffer.from(
      [
        event({ type: 'message_start', message: { usage: start, container: { id: 'c' } } }),
        event({ type: 'content_block_start', index: 0, content_block: search }),
        event({ type: 'content_block_delta', index: 1, delta }),
        event({ type: 'message_delta', delta: {}, usage: { output_tokens: 9 } }),
        event({ type: 'message_stop' }),
      ].join(''),
    )
    for (const { name, chunks } of chunkings(body)) {
      const tap = createMessagesTap()
      run(tap, chunks)
      const { usage, outputEvents, containers } = tap.report()
      assert.deepEqual(containers, [{ id: 'c', minutes: 5 }])
      const calls = { web_search_call: 1, container_minute: 5 }
      assert.deepEqual(usage, { ...input, output_token: 9, ...calls }, name)
      assert.equal(outputEvents, 1)
    }
  })
})

describe('passes', () => {
  const pass = (type: string, input: number, output: number, rest: object = {}) => {
    return { type, input_tokens: input, output_tokens: output, ...rest }
  }

  test('a compaction is not in the counts beside it, and is added', () => {
    const iterations = [pass('compaction', 60_385, 522), pass('message', 612, 2819)]
    const { usage, passes } = read({ input_tokens: 612, output_tokens: 2819, iterations })
    assert.deepEqual(usage, { input_token: 60_997, output_token: 3341 })
    assert.equal(passes, undefined)
  })

  test('an advisor is billed at its own model', () => {
    const iterations = [
      pass('message', 1051, 35),
      pass('advisor_message', 2728, 3880, { model: 'wise' }),
      pass('message', 3676, 3356),
    ]
    const { usage, passes } = read({ input_tokens: 4727, output_tokens: 3391, iterations })
    assert.deepEqual(usage, { input_token: 4727, output_token: 3391 })
    const usageOfPass = { input_token: 2728, output_token: 3880 }
    assert.deepEqual(passes, [{ model: 'wise', role: 'advisor', usage: usageOfPass }])
  })

  test('an attempt that wrote nothing before its fallback is free', () => {
    const iterations = [
      pass('message', 408, 0, { model: 'first' }),
      pass('fallback_message', 410, 0, { model: 'second' }),
      pass('fallback_message', 412, 264, { model: 'third' }),
    ]
    const { usage, passes } = read({ input_tokens: 412, output_tokens: 264, iterations })
    assert.deepEqual(usage, { input_token: 0, output_token: 0 })
    const usageOfPass = { input_token: 412, output_token: 264 }
    assert.deepEqual(passes, [{ model: 'third', role: 'fallback', usage: usageOfPass }])
  })

  test('an attempt that wrote something is billed beside its fallback', () => {
    const iterations = [
      pass('message', 408, 3, { model: 'first' }),
      pass('fallback_message', 412, 264, { model: 'second' }),
    ]
    assert.deepEqual(read({ iterations }).usage, { input_token: 408, output_token: 3 })
  })

  test('entries have lifetimes of their own, whatever the sum beside them says', () => {
    const cache_creation = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 9 }
    const iterations = [pass('message', 1, 2, { cache_creation_input_tokens: 9, cache_creation })]
    const stale = { ephemeral_5m_input_tokens: 4369, ephemeral_1h_input_tokens: 0 }
    const { usage } = read({ iterations, cache_creation: stale, cache_creation_input_tokens: 9 })
    assert.deepEqual(usage, { input_token: 1, output_token: 2, cache_write_1h_token: 9 })
  })

  test('what cannot be priced is named', () => {
    const iterations = [
      pass('message', 1, 2),
      pass('dream', 9, 9),
      pass('advisor_message', 1, 1),
      { type: 'advisor_message', model: 'wise', input_tokens: null, output_tokens: 3 },
      null,
    ]
    assert.deepEqual(read({ iterations }).unknownUsage, [
      'usage.iterations[1].type',
      'usage.iterations[2].model',
      'usage.iterations[3]',
      'usage.iterations[4]',
    ])
  })

  test('a side that one pass does not state is not stated', () => {
    const iterations = [pass('message', 5, 6), { type: 'message', input_tokens: 7 }]
    assert.deepEqual(read({ iterations }).usage, { input_token: 12 })
  })

  test('an empty list leaves the counts beside it', () => {
    const usage = { input_tokens: 1, output_tokens: 2, iterations: [] }
    assert.deepEqual(read(usage).usage, { input_token: 1, output_token: 2 })
  })
})

describe('refusals', () => {
  const usage = { input_tokens: 2300, output_tokens: 0 }
  const free = { input_token: 0, output_token: 0 }

  test('before any output: nothing is billed', () => {
    const refused = { stop_reason: 'refusal', content: [] }
    assert.deepEqual(read(usage, refused).usage, free)
    const reader = createMessagesUsageReader()
    reader.start({ usage: { ...usage, output_tokens: 2 } })
    reader.delta({ delta: { stop_reason: 'refusal' }, usage: { output_tokens: 0 } })
    assert.deepEqual(reader.reading().usage, free)
  })

  test('in the middle, or for another reason: billed', () => {
    const billed = { input_token: 2300, output_token: 0 }
    assert.deepEqual(read(usage, { stop_reason: 'refusal', content: TEXT }).usage, billed)
    assert.deepEqual(read(usage, { stop_reason: 'end_turn', content: [] }).usage, billed)
    const written = read({ ...usage, output_tokens: 70 }, { stop_reason: 'refusal', content: [] })
    assert.deepEqual(written.usage, { input_token: 2300, output_token: 70 })
  })

  const refusal = (category: string | null) => {
    return { stop_reason: 'refusal', stop_details: { type: 'refusal', category } }
  }

  test('before any output: billed in three categories, with the tokens of the refusal', () => {
    const counted = { input_tokens: 106, output_tokens: 5 }
    for (const category of ['cyber', 'general_harms', 'one of next year', null]) {
      assert.deepEqual(read(counted, { ...refusal(category), content: [] }).usage, free)
    }
    for (const category of ['bio', 'frontier_llm', 'reasoning_extraction']) {
      const billed = { input_token: 106, output_token: 5 }
      assert.deepEqual(read(counted, { ...refusal(category), content: [] }).usage, billed)
      const reader = createMessagesUsageReader()
      reader.start({ usage: { ...counted, output_tokens: 1 } })
      reader.delta({ delta: refusal(category), usage: { output_tokens: 5 } })
      assert.deepEqual(reader.reading().usage, billed)
    }
  })

  const attempt = (type: string, model: string, output_tokens: number) => {
    return { type, model, input_tokens: 400, output_tokens }
  }
  const handover = (to: string, category: string | null) => {
    return { type: 'fallback', to: { model: to }, trigger: { type: 'refusal', category } }
  }
  const passOf = (model: string, output_token: number) => {
    return { model, role: 'fallback', usage: { input_token: 400, output_token } }
  }

  test('a model that declined before its fallback is billed by its category', () => {
    const iterations = [
      attempt('message', 'first', 0),
      attempt('message', 'second', 0),
      attempt('fallback_message', 'third', 9),
    ]
    const attempts = (...categories: string[]) => {
      const [first = null, second = null] = categories
      const content = [handover('second', first), handover('third', second), ...TEXT]
      const { usage, passes } = read({ output_tokens: 9, iterations }, { content })
      return [usage, passes]
    }
    const own = { input_token: 400, output_token: 0 }
    const third = passOf('third', 9)
    assert.deepEqual(attempts('cyber', 'cyber'), [free, [third]])
    assert.deepEqual(attempts('bio', 'cyber'), [own, [third]])
    assert.deepEqual(attempts('cyber', 'frontier_llm'), [free, [passOf('second', 0), third]])
    const unexplained = read({ output_tokens: 9, iterations }, { content: TEXT })
    assert.deepEqual([unexplained.usage, unexplained.passes], [free, [third]])
  })

  test('all entries of a fallback are its own, whatever their type', () => {
    const iterations = [
      attempt('message', 'first', 40),
      attempt('message', 'second', 3),
      attempt('message', 'third', 7),
      attempt('fallback_message', 'third', 9),
    ]
    const reader = createMessagesUsageReader()
    reader.start({ usage })
    const blocks = [
      ...TEXT,
      handover('second', 'cyber'),
      ...TEXT,
      handover('third', 'bio'),
      ...TEXT,
    ]
    blocks.forEach(reader.block)
    reader.delta({ delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9, iterations } })
    const { usage: own, passes } = reader.reading()
    assert.deepEqual(own, { input_token: 400, output_token: 40 })
    assert.deepEqual(passes, [passOf('second', 3), passOf('third', 7), passOf('third', 9)])
    const kept = iterations.slice(2)
    const remembered = read({ output_tokens: 9, iterations: kept }, { content: TEXT })
    assert.deepEqual(remembered.usage, free)
    assert.deepEqual(remembered.passes, [passOf('third', 7), passOf('third', 9)])
  })

  test('where all of them decline, the last is billed by the category of the answer', () => {
    const iterations = [attempt('message', 'first', 0), attempt('fallback_message', 'second', 0)]
    const ended = (category: string) => {
      const content = [handover('second', 'bio')]
      return read({ ...usage, iterations }, { ...refusal(category), content })
    }
    const own = { input_token: 400, output_token: 0 }
    assert.deepEqual(ended('cyber').usage, own)
    assert.equal(ended('cyber').passes, undefined)
    assert.deepEqual(ended('bio').passes, [passOf('second', 0)])
  })
})

describe('tools and how it was served', () => {
  const usage = { input_tokens: 1, output_tokens: 2 }
  const tokens = { input_token: 1, output_token: 2 }

  test('searches and fetches are counted, requests to a container are not', () => {
    const server_tool_use = {
      web_search_requests: 3,
      web_fetch_requests: 1,
      code_execution_requests: 4,
    }
    const stated = read({ ...usage, server_tool_use })
    assert.deepEqual(stated.usage, { ...tokens, web_search_call: 3, web_fetch_call: 1 })
    assert.equal(stated.unknownUsage, undefined)
  })

  test('results of searches stand in where nothing counts them; failed ones do not', () => {
    const failed = { type: 'web_search_tool_result_error', error_code: 'unavailable' }
    const content = [
      { type: 'web_search_tool_result', content: [{ type: 'web_search_result' }] },
      { type: 'web_search_tool_result', content: failed },
    ]
    assert.deepEqual(read(usage, { content }).usage, { ...tokens, web_search_call: 1 })
    const server_tool_use = { web_search_requests: 2 }
    const counted = read({ ...usage, server_tool_use }, { content })
    assert.deepEqual(counted.usage, { ...tokens, web_search_call: 2 })
  })

  test('a container is five minutes, unless the request’s tools make it free', () => {
    const container = { id: 'c', expires_at: '2026-11-22T00:00:00Z' }
    assert.deepEqual(read(usage, { container }).usage, { ...tokens, container_minute: 5 })
    assert.deepEqual(read(usage, { container }).containers, [{ id: 'c', minutes: 5 }])
    assert.equal('containers' in read(usage, { container: {} }), false)
    assert.equal('containers' in read(usage, { container, stop_reason: 'refusal' }), true)
    const nothing = { ...usage, output_tokens: 0 }
    const refused = read(nothing, { container, stop_reason: 'refusal', content: [] })
    assert.equal('containers' in refused, false)
    assert.deepEqual(read(usage, { container: null }).usage, tokens)
    const free = read(usage, { container }, { isContainerFree: () => true })
    assert.deepEqual(free.usage, tokens)
    assert.equal('containers' in free, false)
  })

  test('tier, speed and region', () => {
    const served = { service_tier: 'batch', speed: 'standard', inference_geo: 'not_available' }
    const { facts, unknownUsage } = read({ ...usage, ...served })
    assert.deepEqual(facts, { service_tier: 'batch', speed: 'standard' })
    assert.equal(unknownUsage, undefined)
    assert.deepEqual(read({ ...usage, service_tier: 'turbo' }).unknownUsage, ['usage.service_tier'])
  })

  test('honest further fields are no alarm, a further count is', () => {
    const honest = { output_tokens_details: { thinking_tokens: 1 }, total_tokens: 3, cost: 0.1 }
    assert.equal(read({ ...usage, ...honest, x_tokens: 0, y_tokens: null }).unknownUsage, undefined)
    const { unknownUsage } = read({ ...usage, dream_tokens: 9 })
    assert.deepEqual(unknownUsage, ['usage.dream_tokens'])
  })
})
