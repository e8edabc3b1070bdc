import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import OpenAI from 'openai'
import { dataLines, type Json, KEYS, list, simulated } from '../support.ts'

const sim = simulated()
const PATH = '/openai/v1/responses'
const client = () => new OpenAI({ apiKey: 'sim-openai-key', baseURL: `${sim.url}/openai/v1` })
const bash = {
  type: 'function' as const,
  name: 'Bash',
  parameters: { type: 'object', properties: {} },
  strict: null,
}
const body = (input: unknown, more: object = {}) => ({ model: 'sim-chat', input, ...more })
const streamed = async (input: unknown, more: object = {}) => {
  const answer = await sim.post(PATH, KEYS.openai, body(input, { stream: true, ...more }))
  return { ...answer, events: dataLines(answer.text) }
}
const types = (events: Json[]) => events.map((event) => String(event.type))
const TOOL = '[[tool:Bash {"command":"ls"}]]'

describe('responses with the real SDK', () => {
  test('a whole answer with exact usage', async () => {
    const answer = await client().responses.create({
      model: 'sim-chat',
      instructions: 'Be brief.',
      input: 'Hello [[cached:2]][[reason:hm]][[call:r-1]]',
    })
    assert.match(answer.output_text, /Hello/)
    assert.equal(answer.status, 'completed')
    assert.deepEqual(
      answer.output.map((item) => item.type),
      ['reasoning', 'message'],
    )
    const { usage } = answer
    assert.equal(usage?.output_tokens_details.reasoning_tokens, 1)
    const [entry] = sim.running.book.entries({ marker: 'r-1' })
    assert.deepEqual(entry?.units, {
      input_token: (usage?.input_tokens ?? 0) - 2,
      cached_input_token: 2,
      output_token: usage?.output_tokens,
    })
  })

  test('the stream helper accepts every event; tools run, then are quoted', async () => {
    const input: OpenAI.Responses.ResponseInput = [
      { role: 'user', content: `[[say:pre]][[reason:hm]]${TOOL}[[tool:Bash {"command":"pwd"}]]` },
    ]
    const stream = client().responses.stream({ model: 'sim-chat', input, tools: [bash] })
    const first = await stream.finalResponse()
    const calls = first.output.filter((item) => item.type === 'function_call')
    assert.deepEqual(
      calls.map((call) => call.arguments),
      ['{"command":"ls"}', '{"command":"pwd"}'],
    )
    input.push(...(first.output as unknown as OpenAI.Responses.ResponseInput))
    for (const [index, call] of calls.entries()) {
      const { call_id } = call
      input.push({ type: 'function_call_output', call_id, output: `result ${index}` })
    }
    const second = await client()
      .responses.stream({ model: 'sim-chat', input, tools: [bash] })
      .finalResponse()
    assert.equal(second.output_text, 'Tool result 1: result 0\nTool result 2: result 1')
  })

  test('stored responses are found, continued and deleted', async () => {
    const responses = client().responses
    const first = await responses.create({ model: 'sim-chat', input: 'one' })
    assert.equal((await responses.retrieve(first.id)).id, first.id)
    const input = await responses.inputItems.list(first.id)
    assert.equal(input.data.length, 1)
    const next = await responses.create({
      model: 'sim-chat',
      input: 'two',
      previous_response_id: first.id,
    })
    const alone = await responses.create({ model: 'sim-chat', input: 'two' })
    assert.ok((next.usage?.input_tokens ?? 0) > (alone.usage?.input_tokens ?? 0))
    await responses.delete(first.id)
    await assert.rejects(responses.retrieve(first.id), OpenAI.NotFoundError)
    const lost = responses.create({
      model: 'sim-chat',
      input: 'x',
      previous_response_id: first.id,
    })
    await assert.rejects(lost, /Previous response with id/)
  })
})

describe('responses on the wire', () => {
  test('the full sequence of a text answer, numbered from 0', async () => {
    const { text, events } = await streamed('[[say:one two]][[chunks:2]]')
    assert.deepEqual(types(events), [
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    assert.deepEqual(
      events.map((event) => Number(event.sequence_number)),
      events.map((_, index) => index),
    )
    const names = [...text.matchAll(/^event: (.+)$/gm)].map((match) => match[1])
    assert.deepEqual(names, types(events))
    assert.ok(!text.includes('[DONE]'))
    assert.equal(events[0]?.response?.usage, null)
    assert.equal(events[2]?.item?.id, list(events.at(-1)?.response?.output)[0]?.id)
  })

  test('a limit or a filter ends in response.incomplete', async () => {
    const cut = await streamed('[[tokens:50]]', { max_output_tokens: 5 })
    const last = cut.events.at(-1)
    assert.equal(String(last?.type), 'response.incomplete')
    assert.equal(String(last?.response?.incomplete_details?.reason), 'max_output_tokens')
    assert.equal(Number(last?.response?.usage?.output_tokens), 5)
    const filtered = await streamed('x [[stop:filter]]')
    const { response } = filtered.events.at(-1) ?? {}
    assert.equal(String(response?.incomplete_details?.reason), 'content_filter')
  })

  test('freeform tools and namespaces', async () => {
    const tools = [
      { type: 'custom', name: 'apply_patch' },
      { type: 'namespace', name: 'agents', tools: [{ ...bash, name: 'close' }] },
    ]
    const sent = '[[tool:apply_patch {"input":"*** Begin"}]][[tool:agents.close {"id":1}]]'
    const { events } = await streamed(sent, { tools })
    const items = list(events.at(-1)?.response?.output)
    assert.equal(String(items[0]?.type), 'custom_tool_call')
    assert.equal(String(items[0]?.input), '*** Begin')
    assert.equal(String(items[1]?.namespace), 'agents')
    assert.ok(types(events).includes('response.custom_tool_call_input.done'))
  })

  const call = { type: 'function_call', call_id: 'c1', name: 'Bash', arguments: '{}' }
  const output = { type: 'function_call_output', call_id: 'c1', output: 'ok' }
  const refusals: [string, unknown, RegExp][] = [
    ['unknown field', body('x', { messages: [] }), /Unknown parameter: 'messages'/],
    ['no input', { model: 'sim-chat' }, /Missing required parameter: 'input'/],
    ['unknown item', body([{ type: 'thought' }]), /Invalid value: 'thought'/],
    ['wrong part', body([{ role: 'user', content: [{ type: 'text', text: '' }] }]), /'text'/],
    ['nested tool', body('x', { tools: [{ type: 'function', function: {} }] }), /tools\[0\].name/],
    ['output without call', body([output]), /No tool call found.*c1/],
    ['call without output', body([call]), /No tool output found for function call c1/],
    ['arguments object', body([{ ...call, arguments: {} }, output]), /input\[0\].arguments/],
  ]
  for (const [name, sent, expected] of refusals) {
    test(`refused with 400: ${name}`, async () => {
      const { status, json } = await sim.post(PATH, KEYS.openai, sent)
      assert.equal(status, 400)
      assert.match(String(json.error?.message), expected)
    })
  }

  test('a model without this API is not found', async () => {
    const { status } = await sim.post(PATH, KEYS.openai, { model: 'sim-chat-only', input: 'x' })
    assert.equal(status, 404)
  })

  test('errors inside the stream: failed, event and flat', async () => {
    const failed = await streamed('[[fault:error-mid=failed;error-code=insufficient_quota]]')
    const last = failed.events.at(-1)
    assert.equal(String(last?.type), 'response.failed')
    assert.equal(String(last?.response?.error?.code), 'insufficient_quota')
    const event = await streamed('[[fault:error-mid=event]]')
    assert.deepEqual(Object.keys(event.events.at(-1) ?? {}), [
      'type',
      'sequence_number',
      'code',
      'message',
      'param',
    ])
    const flat = await streamed('[[fault:error-mid=flat]]')
    assert.equal(typeof flat.events.at(-1)?.error, 'string')
  })
})

describe('oddities of responses', () => {
  const item = (events: Json[]) => list(events.at(-1)?.response?.output)[0]
  const cases: [string, string, (events: Json[], text: string) => boolean][] = [
    ['r_doneonly', 'x', (events) => events.length === 2],
    ['r_completedonly', 'x', (events) => events.length === 1],
    ['r_noitemdone', 'x', (events) => !types(events).includes('response.output_item.done')],
    ['r_nodeltas', 'x', (events) => !types(events).includes('response.output_text.delta')],
    ['r_nocreated', 'x', (events) => !types(events).includes('response.created')],
    ['r_noadded', 'x', (events) => !types(events).some((type) => type.endsWith('.added'))],
    ['r_nocompleted', 'x', (events) => !types(events).includes('response.completed')],
    ['r_unknownevent', 'x', (events) => types(events).includes('response.vendor_notice')],
    ['r_noevent', 'x', (_, text) => !text.includes('event:')],
    ['r_nosequence', 'x', (_, text) => !text.includes('sequence_number')],
    ['r_donetail', 'x', (_, text) => text.endsWith('data: [DONE]\n\n')],
    ['r_noid', 'x', (events) => events.at(-1)?.response?.id === undefined],
    ['r_nototal', 'x', (events) => events.at(-1)?.response?.usage?.total_tokens === undefined],
    ['r_norole', 'x', (events) => item(events)?.role === undefined],
    ['r_nomsgid', 'x', (events) => item(events)?.id === undefined],
    ['r_nocallid', TOOL, (events) => item(events)?.call_id === undefined],
    ['r_nofcid', TOOL, (events) => item(events)?.id === undefined],
    ['r_argsobj', TOOL, (events) => typeof item(events)?.arguments === 'object'],
    ['r_emptyargs', TOOL, (events) => String(item(events)?.arguments) === ''],
    ['r_badargs', TOOL, (events) => String(item(events)?.arguments) === '{bad'],
    ['r_toolcase', TOOL, (events) => String(item(events)?.name) === 'bash'],
  ]
  for (const [name, sent, holds] of cases) {
    test(name, async () => {
      const plain = await streamed(sent, { tools: [bash] })
      assert.ok(!holds(plain.events, plain.text), 'a correct stream does not show it')
      const odd = await streamed(`${sent}[[fault:${name}]]`, { tools: [bash] })
      assert.ok(holds(odd.events, odd.text), odd.text)
    })
  }
})
