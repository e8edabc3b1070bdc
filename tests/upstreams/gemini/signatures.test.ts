/** Tools over Gemini: signatures come back with their calls, in every dialect. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'

const VERSION = { 'anthropic-version': '2023-06-01' }
const STAND_IN = 'skip_thought_signature_validator'
const STEPS =
  '[[reason:look]] [[tool:find {"at":1}]] [[tool:find {"at":2}]] [[then]] [[tool:read {"at":3}]] go'
const PARAMETERS = { type: 'object', properties: { at: { type: 'number' } } }

describe('signatures of Gemini', () => {
  let gateway: TestGateway
  let key: string
  before(async () => {
    gateway = await startTestGateway()
    const settings = { base_url: `${gateway.simulators.url}/google`, api_key: 'sim-google-key' }
    const model = (id: string, upstream_model: string) => ({
      id,
      type: 'chat',
      free: true,
      routes: [{ channel: 'g', upstream_model }],
    })
    await gateway.apply({
      currency: 'CNY',
      channels: [{ id: 'g', upstream: 'gemini', settings }],
      models: [
        model('two', 'sim-gemini-2.5'),
        model('three', 'sim-gemini-3'),
        model('four', 'sim-gemini-4'),
      ],
    })
    key = (await gateway.tenant({ balance: '1000' })).key
  })
  after(() => gateway.stop())

  /** The signatures of the calls that reached the vendor last, by its contents. */
  const sent = () => {
    const calls = gateway.simulators.calls.list().filter((call) => call.operation === 'contents')
    const { contents } = JSON.parse(
      Buffer.from(calls.at(-1)?.body_base64 ?? '', 'base64').toString(),
    )
    return contents
      .filter(({ role }: { role: string }) => role === 'model')
      .map(({ parts }: { parts: { functionCall?: object; thoughtSignature?: string }[] }) =>
        parts
          .filter(({ functionCall }) => functionCall)
          .map(({ thoughtSignature }) => {
            if (thoughtSignature === undefined || thoughtSignature === STAND_IN)
              return thoughtSignature
            return Buffer.from(thoughtSignature, 'base64').toString()
          }),
      )
  }
  const signed = (model: string) => [
    [`sig:sim-gemini-${model}:find`, undefined],
    [`sig:sim-gemini-${model}:read`],
  ]

  // biome-ignore lint/suspicious/noExplicitAny: messages of a test
  type Any = any

  async function playChat(
    model: string,
    keep: (message: Any) => Any = (one) => one,
  ): Promise<string> {
    const tools = ['find', 'read'].map((name) => ({
      type: 'function',
      function: { name, parameters: PARAMETERS },
    }))
    const messages: Any[] = [{ role: 'user', content: STEPS }]
    for (let round = 0; round < 4; round += 1) {
      const answer = await gateway.post('/v1/chat/completions', key, { model, messages, tools })
      assert.equal(answer.status, 200, answer.text)
      const [{ message, finish_reason: reason }] = answer.json.choices
      if (!message.tool_calls) return message.content
      assert.equal(reason, 'tool_calls')
      messages.push(keep(message))
      for (const { id } of message.tool_calls.toReversed()) {
        messages.push({ role: 'tool', tool_call_id: id, content: `result of ${id}` })
      }
    }
    throw new Error('it never ends')
  }

  for (const [model, number] of [
    ['three', '3'],
    ['four', '4'],
  ] as const) {
    test(`${model}: chat returns them in extra_content`, async () => {
      assert.match(await playChat(model), /Tool result 1/)
      assert.deepEqual(sent(), signed(number))
    })

    test(`${model}: a history without them gets the vendor's stand-in`, async () => {
      await playChat(model, ({ tool_calls: calls, ...message }) => ({
        ...message,
        tool_calls: calls.map(({ extra_content: _, ...call }: Any) => call),
      }))
      assert.deepEqual(sent(), [[STAND_IN, undefined], [STAND_IN]])
    })

    test(`${model}: one that the vendor refuses is replaced`, async () => {
      const thought_signature = Buffer.from('of another model').toString('base64')
      await playChat(model, ({ tool_calls: calls, ...message }) => ({
        ...message,
        tool_calls: calls.map((call: Any) => ({
          ...call,
          extra_content: { google: { thought_signature } },
        })),
      }))
      assert.deepEqual(sent(), [[STAND_IN, undefined], [STAND_IN]])
    })

    for (const stream of [false, true]) {
      test(`${model}: messages return them in thinking, ${stream ? 'streamed' : 'whole'}`, async () => {
        const tools = ['find', 'read'].map((name) => ({ name, input_schema: PARAMETERS }))
        const messages: Any[] = [{ role: 'user', content: STEPS }]
        for (let round = 0; round < 3; round += 1) {
          const body = { model, max_tokens: 900, messages, tools, stream }
          const answer = await gateway.post('/v1/messages', key, body, VERSION)
          assert.equal(answer.status, 200, answer.text)
          const content = stream ? collectBlocks(answer.text) : answer.json.content
          const calls = content.filter(({ type }: Any) => type === 'tool_use')
          assert.equal(calls.length, [2, 1, 0][round])
          messages.push({ role: 'assistant', content })
          const results = calls.map(({ id }: Any) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: 'ok',
          }))
          messages.push({ role: 'user', content: results })
        }
        assert.deepEqual(sent(), signed(number))
      })

      test(`${model}: responses return them sealed, ${stream ? 'streamed' : 'whole'}`, async () => {
        const tools = ['find', 'read'].map((name) => ({
          type: 'function',
          name,
          parameters: PARAMETERS,
        }))
        const input: Any[] = [{ role: 'user', content: STEPS }]
        for (let round = 0; round < 3; round += 1) {
          const answer = await gateway.post('/v1/responses', key, { model, input, tools, stream })
          assert.equal(answer.status, 200, answer.text)
          const output = stream ? lastResponse(answer.text).output : answer.json.output
          const calls = output.filter(({ type }: Any) => type === 'function_call')
          assert.equal(calls.length, [2, 1, 0][round])
          input.push(...output)
          for (const { call_id } of calls)
            input.push({ type: 'function_call_output', call_id, output: 'ok' })
        }
        assert.deepEqual(sent(), signed(number))
      })
    }
  }

  test('models before them get none', async () => {
    await playChat('two')
    assert.deepEqual(sent(), [[undefined, undefined], [undefined]])
  })

  test('calls without ids get some, and a choice is kept', async () => {
    const tools = [{ type: 'function', function: { name: 'find', parameters: PARAMETERS } }]
    const body = {
      model: 'three',
      tools,
      tool_choice: { type: 'function', function: { name: 'find' } },
      parallel_tool_calls: false,
      messages: [{ role: 'user', content: '[[fault:g_noids]] [[tool:find {"at":1}]] go' }],
    }
    const answer = await gateway.post('/v1/chat/completions', key, body)
    assert.match(answer.json.choices[0].message.tool_calls[0].id, /^call_/)
    assert.equal(answer.headers.get('x-tributary-ignored'), 'parallel_tool_calls')
  })
})

// biome-ignore lint/suspicious/noExplicitAny: events of a test
type Any = any

function events(text: string): Any[] {
  return [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, data = '']) => JSON.parse(data))
}

function lastResponse(text: string): Any {
  return events(text).at(-1).response
}

function collectBlocks(text: string): Any[] {
  const blocks: Any[] = []
  for (const { type, index, content_block: block, delta } of events(text)) {
    if (type === 'content_block_start') blocks[index] = { ...block, json: '' }
    if (type !== 'content_block_delta') continue
    const open = blocks[index]
    if (delta.type === 'text_delta') open.text += delta.text
    if (delta.type === 'thinking_delta') open.thinking += delta.thinking
    if (delta.type === 'signature_delta') open.signature += delta.signature
    if (delta.type === 'input_json_delta') open.json += delta.partial_json
  }
  return blocks.map(({ json, ...block }) => {
    return block.type === 'tool_use' ? { ...block, input: JSON.parse(json || '{}') } : block
  })
}
