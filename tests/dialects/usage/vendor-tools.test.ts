/** Calls of tools that a vendor ran and the cost it states, read from OpenAI-shaped usage. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readChatUsage } from '../../../server/wire/dialects/chat/read-usage.ts'
import { readChatUsageOptions } from '../../../server/wire/upstreams/openai-compatible/read-usage-options.ts'

const read = (usage: unknown, rest: object = {}) => readChatUsage({ ...rest, usage })

describe('tools that the vendor ran', () => {
  const cases: readonly [name: string, document: object, expected: object][] = [
    [
      'server_tool_use',
      { usage: { server_tool_use: { web_search_requests: 3, web_fetch_requests: 1 } } },
      { web_search_call: 3, web_fetch_call: 1 },
    ],
    [
      'OpenRouter, with details',
      { usage: { server_tool_use_details: { web_search_requests: 2, tool_calls_executed: 5 } } },
      { web_search_call: 2 },
    ],
    [
      'OpenRouter, in both places',
      {
        usage: {
          server_tool_use: { web_search_requests: 2 },
          server_tool_use_details: { web_search_requests: 2 },
        },
      },
      { web_search_call: 2 },
    ],
    [
      'LiteLLM',
      { usage: { prompt_tokens: 4, prompt_tokens_details: { web_search_requests: 1 } } },
      { input_token: 4, web_search_call: 1 },
    ],
    [
      'xAI, by kind and in sum',
      {
        usage: {
          num_server_side_tools_used: 6,
          server_side_tool_usage_details: {
            web_search_calls: 2,
            x_search_calls: 1,
            code_interpreter_calls: 1,
            file_search_calls: 1,
            mcp_calls: 1,
            document_search_calls: 0,
          },
        },
      },
      { web_search_call: 3, code_execution_call: 1, file_search_call: 1 },
    ],
    [
      'xAI, in sum only',
      { usage: { num_server_side_tools_used: 2, num_sources_used: 0 } },
      { web_search_call: 2 },
    ],
    [
      'the same searches in two places',
      { tool_usage: { web_search: 3 }, usage: { tool_usage: { web_search: 3, mcp: 2 } } },
      { web_search_call: 3 },
    ],
    [
      'DashScope',
      { usage: { plugins: { search: { count: 1 } }, x_tools: { web_extractor: { count: 2 } } } },
      { web_search_call: 1, web_fetch_call: 2 },
    ],
    ['Mistral', { usage: { connectors: { web_search: 2 } } }, { web_search_call: 2 }],
  ]
  for (const [name, document, expected] of cases) {
    test(name, () => assert.deepEqual(readChatUsage(document).usage, expected))
  }

  test('a count that no unit stands for is named', () => {
    const usage = { server_tool_use: { dream_requests: 2, nothing_requests: 0 } }
    assert.deepEqual(read(usage).unknownUsage, ['usage.server_tool_use.dream_requests'])
  })

  test('results beside the answer are one search, for a request with one', () => {
    const choices = [{ message: { content: 'a' } }]
    for (const found of [
      { web_search: [{ link: 'https://a.example' }] },
      { search_info: { search_results: [{ url: 'https://a.example' }] } },
    ]) {
      const asked = readChatUsage({ choices, ...found }, { asksForSearch: true })
      assert.deepEqual(asked.usage, { web_search_call: 1 })
      assert.equal(readChatUsage({ choices, ...found }).usage, undefined)
    }
    const none = readChatUsage({ choices, web_search: [] }, { asksForSearch: true })
    assert.equal(none.usage, undefined)
  })

  test('what asks for a search, and what is one for certain', () => {
    const ask = (value: object, model?: string) => {
      const { asksForSearch, billsSearch } = readChatUsageOptions({ ...value }, model)
      return [asksForSearch, billsSearch]
    }
    assert.deepEqual(ask({}, 'gpt-5'), [false, false])
    assert.deepEqual(ask({}, 'gpt-5-search-api'), [true, true])
    assert.deepEqual(ask({}, 'perplexity/sonar'), [true, true])
    assert.deepEqual(ask({}, 'sonar-pro'), [true, true])
    assert.deepEqual(ask({}, 'my-sonar'), [false, false])
    assert.deepEqual(ask({ tools: [{ type: 'web_search' }] }), [true, false])
    assert.deepEqual(ask({ tools: [{ type: 'openrouter:web_search' }] }), [true, false])
    assert.deepEqual(ask({ enable_search: true }), [true, false])
    const search_options = { forced_search: true }
    assert.deepEqual(ask({ enable_search: true, search_options }), [true, true])
    assert.deepEqual(ask({ search_options }), [false, false])
  })

  test('citations count once, for a request with a search', () => {
    const annotations = [{ type: 'url_citation' }, { type: 'url_citation' }]
    const document = { choices: [{ message: { content: 'a', annotations } }] }
    assert.equal(readChatUsage(document).usage, undefined)
    const reading = readChatUsage(document, { asksForSearch: true })
    assert.deepEqual(reading.usage, { web_search_call: 1 })
  })

  test('a search that the vendor bills for each answer, unless the answer counts searches', () => {
    const options = { asksForSearch: true, billsSearch: true }
    const answer = { choices: [{ message: { content: 'a' } }] }
    const searchesIn = (document: object) => readChatUsage(document, options).usage?.web_search_call
    assert.equal(searchesIn(answer), 1)
    assert.equal(searchesIn({ ...answer, usage: { prompt_tokens: 1, completion_tokens: 1 } }), 1)
    assert.equal(searchesIn({ choices: [{ message: { content: '' } }] }), undefined)
    const stated = { prompt_tokens: 1, server_tool_use: { web_search_requests: 3 } }
    assert.equal(searchesIn({ ...answer, usage: stated }), 3)
    assert.equal(searchesIn({ ...answer, usage: { num_search_queries: 0 } }), undefined)
    const none = { web_search_requests: 0 }
    assert.equal(searchesIn({ ...answer, usage: { server_tool_use_details: none } }), undefined)
    assert.equal(searchesIn({ ...answer, usage: { prompt_tokens_details: none } }), undefined)
  })

  test('a search that is a call in the answer', () => {
    const call = { type: 'builtin_function', function: { name: '$web_search', arguments: '{}' } }
    const document = { choices: [{ message: { tool_calls: [call, call] } }] }
    assert.deepEqual(readChatUsage(document).usage, { web_search_call: 1 })
  })
})

describe('the cost that an answer states', () => {
  const cases: readonly [usage: object, nanos: bigint | undefined][] = [
    [{ cost: 0.00014123 }, 141_230n],
    [{ cost: 0 }, 0n],
    [{ cost: 1e-7 }, 100n],
    [{ cost: 1.5e-10 }, 1n],
    [{ cost: 0.1 }, 100_000_000n],
    [{ cost: 12.000000001 }, 12_000_000_001n],
    [{ cost: 0.29 }, 290_000_000n],
    [{ cost: { total_cost: 0.006 } }, 6_000_000n],
    [{ cost_in_usd_ticks: 1_466_250 }, 146_625n],
    [{ cost_in_usd_ticks: 1 }, 1n],
    [{ cost_in_usd_ticks: 0 }, 0n],
    [{ cost: 0.001, is_byok: true, cost_details: { upstream_inference_cost: 0.02 } }, 21_000_000n],
    [{ cost: 0.001, is_byok: true }, undefined],
    [{ cost: 0.00003, surcharge_cost: 0.0001, gateway_cost: 0.00013 }, 130_000n],
    [{ cost: 0.00003, gateway_cost: null }, 30_000n],
    [{ cost: -1 }, undefined],
    [{ cost: '0.1' }, undefined],
    [{ cost: null }, undefined],
    [{ cost: 1e30 }, undefined],
    [{ cost_in_usd_ticks: 1.5 }, undefined],
    [{}, undefined],
  ]
  for (const [usage, nanos] of cases) {
    test(JSON.stringify(usage), () => {
      const expected = nanos === undefined ? undefined : { nanos, currency: 'USD' }
      assert.deepEqual(read(usage).statedCost, expected)
    })
  }
})
