/** What a response says beside its tokens: tools in items, images of another model, the tier. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readResponseBody } from '../../../server/wire/dialects/responses/read-response.ts'
import { createResponsesTap } from '../../../server/wire/dialects/responses/tap.ts'
import { readChatUsageOptions } from '../../../server/wire/upstreams/openai-compatible/read-usage-options.ts'
import { chunkings, run } from '../replay.ts'

const usage = { input_tokens: 20, output_tokens: 3, total_tokens: 23 }
const tokens = { input_token: 20, output_token: 3 }
const search = (id: string, type = 'search') => {
  return { id, type: 'web_search_call', status: 'completed', action: { type } }
}
const OUTPUT = [
  search('ws_1'),
  search('ws_2', 'open_page'),
  search('ws_3', 'find_in_page'),
  search('ws_4'),
  { id: 'fs_1', type: 'file_search_call' },
  { id: 'fs_2', type: 'file_search_call' },
  { id: 'ci_1', type: 'code_interpreter_call', container_id: 'cntr_1' },
  { id: 'ci_2', type: 'code_interpreter_call', container_id: 'cntr_1' },
  { id: 'sh_1', type: 'shell_call', environment: { container_id: 'cntr_2' } },
  { id: 'sh_2', type: 'shell_call', environment: { type: 'local' } },
  { id: 'msg_1', type: 'message', content: [{ type: 'output_text', text: 'web_search_call"' }] },
]
const CALLS = { web_search_call: 2, file_search_call: 2, container_minute: 40 }
const IMAGES = {
  input_tokens: 7,
  input_tokens_details: { text_tokens: 7, image_tokens: 0 },
  output_tokens: 9,
  output_tokens_details: { image_tokens: 9, text_tokens: 0 },
  total_tokens: 16,
}
const PASS = {
  model: 'painter',
  role: 'image_generation',
  usage: { input_token: 7, image_output_token: 9 },
}

function whole(response: object, imageModel?: string) {
  return readResponseBody({ object: 'response', output: [], usage, ...response }, { imageModel })
}

describe('whole', () => {
  test('tools are counted by their items', () => {
    assert.deepEqual(whole({ output: OUTPUT }).usage, { ...tokens, ...CALLS })
  })

  test('containers are named with their minutes, if they have an id', () => {
    const minutes = 20
    const containers = [
      { id: 'cntr_1', minutes },
      { id: 'cntr_2', minutes },
    ]
    assert.deepEqual(whole({ output: OUTPUT }).containers, containers)
    const unnamed = whole({ output: [{ type: 'code_interpreter_call' }] })
    assert.deepEqual(unnamed.usage, { ...tokens, container_minute: minutes })
    assert.equal('containers' in unnamed, false)
    const both = whole({ output: [...OUTPUT, { type: 'code_interpreter_call' }] })
    assert.equal(both.usage?.container_minute, 60)
    assert.equal('containers' in whole({}), false)
    const done = OUTPUT.map((item, output_index) => {
      return { type: 'response.output_item.done', output_index, item }
    })
    const response = { output: OUTPUT.slice(0, 7), usage }
    const events = [...done, { type: 'response.completed', response }]
    const tap = createResponsesTap()
    run(tap, [Buffer.from(events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''))])
    assert.deepEqual(tap.report().containers, containers)
    assert.equal(tap.report().usage?.container_minute, 40)
  })

  test('code that the usage counts by its runs has no container', () => {
    const ran = { type: 'code_interpreter_call', outputs: null }
    const counts = [
      [{ server_side_tool_usage_details: { code_interpreter_calls: 1 } }, 'code_execution_call'],
      [{ num_server_side_tools_used: 1 }, 'web_search_call'],
    ] as const
    for (const [counted, unit] of counts) {
      const stated = { ...usage, ...counted }
      assert.deepEqual(whole({ output: [ran], usage: stated }).usage, { ...tokens, [unit]: 1 })
      const done = { type: 'response.output_item.done', output_index: 0, item: ran }
      const events = [done, { type: 'response.completed', response: { usage: stated } }]
      const tap = createResponsesTap()
      run(tap, [Buffer.from(events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''))])
      assert.deepEqual(tap.report().usage, { ...tokens, [unit]: 1 })
    }
  })

  test('a count beside the items is not added to them', () => {
    const tool_usage = { web_search: { num_requests: 2 } }
    assert.deepEqual(whole({ output: OUTPUT, tool_usage }).usage, { ...tokens, ...CALLS })
    const more = whole({ output: [], tool_usage: { web_search: 3 } })
    assert.deepEqual(more.usage, { ...tokens, web_search_call: 3 })
  })

  test('images are a pass of the model that the tool names', () => {
    const tools = [{ type: 'image_generation', model: 'painter' }]
    const tool_usage = { image_gen: IMAGES }
    assert.deepEqual(whole({ tools, tool_usage }, 'other').passes, [PASS])
    assert.deepEqual(whole({ tool_usage }, 'painter').passes, [PASS])
  })

  test('images of tools with two models are for a person to see', () => {
    const tool_usage = { image_gen: IMAGES }
    const two = [
      { type: 'image_generation', model: 'painter' },
      { type: 'image_generation', model: 'master' },
    ]
    const options = readChatUsageOptions({ tools: two })
    assert.equal(options.imageModel, undefined)
    const { passes, unknownUsage } = whole({ tools: two, tool_usage }, options.imageModel)
    assert.deepEqual([passes, unknownUsage], [undefined, ['output.image_generation_call']])
    assert.equal(readChatUsageOptions({ tools: two.slice(1) }).imageModel, 'master')
    assert.equal(readChatUsageOptions({}).imageModel, 'gpt-image-1')
  })

  test('images without a usage or a model are for a person to see', () => {
    const output = [{ id: 'ig_1', type: 'image_generation_call', result: 'x' }]
    assert.deepEqual(whole({ output }).unknownUsage, ['output.image_generation_call'])
    const { unknownUsage } = whole({ tool_usage: { image_gen: IMAGES } })
    assert.deepEqual(unknownUsage, ['output.image_generation_call'])
  })
})

describe('a stream', () => {
  const event = (type: string, data: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
  const response = { id: 'resp_1', object: 'response', service_tier: 'priority' }
  const items = OUTPUT.map((item, output_index) =>
    event('response.output_item.done', { output_index, item }),
  ).join('')
  const created = event('response.created', { response: { ...response, usage: null } })
  const completed = (rest: object) =>
    event('response.completed', {
      response: { ...response, service_tier: 'default', usage, ...rest },
    })

  for (const [name, last] of Object.entries({
    'an ending with all items again': completed({ output: OUTPUT }),
    'an ending without items': completed({ output: [] }),
  })) {
    test(`${name}: each call once, at any chunking`, () => {
      for (const { name: chunking, chunks } of chunkings(Buffer.from(created + items + last))) {
        const tap = createResponsesTap()
        run(tap, chunks)
        const report = tap.report()
        assert.deepEqual(report.usage, { ...tokens, ...CALLS }, chunking)
        assert.deepEqual(report.facts, { service_tier: 'standard' }, chunking)
      }
    })
  }

  test('cut before its end: the calls that were done, and the tier of its start', () => {
    const tap = createResponsesTap()
    run(tap, [Buffer.from(created + items)])
    assert.deepEqual(tap.report().usage, CALLS)
    assert.deepEqual(tap.report().facts, { service_tier: 'fast' })
  })

  test('bytes of an event that is too large to read are no output', () => {
    const tap = createResponsesTap()
    tap.push(Buffer.from(`data: {"type":"response.output_text.delta","delta":"`))
    tap.push(Buffer.alloc(25 * 1024 * 1024, 'x'))
    assert.equal(tap.report().outputBytes, 0)
  })
})
