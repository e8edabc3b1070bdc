import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { dataLines, type Json, KEYS, list, simulated } from '../support.ts'

const sim = simulated()
const PATH = '/anthropic/v1/messages'
const client = () => {
  return new Anthropic({ apiKey: 'sim-anthropic-key', baseURL: `${sim.url}/anthropic` })
}
const body = (content: unknown, more: object = {}) => ({
  model: 'sim-claude',
  max_tokens: 1000,
  messages: [{ role: 'user', content }],
  ...more,
})
const bash = { name: 'Bash', input_schema: { type: 'object' as const, properties: {} } }
const tools = { tools: [bash] }
const streamed = async (content: string, more: object = {}) => {
  const answer = await sim.post(PATH, KEYS.anthropic, body(content, { stream: true, ...more }))
  return { ...answer, events: dataLines(answer.text) }
}
const types = (events: Json[]) => events.map((event) => String(event.type))

/** A question with thinking, its call of a tool, and the result. */
const loop = (first: object[]) => ({
  thinking: { type: 'enabled', budget_tokens: 1024 },
  max_tokens: 2000,
  ...tools,
  messages: [
    { role: 'user', content: '[[reason:hm]] [[tool:Bash {}]] [[then]] [[tool:Bash {}]]' },
    {
      role: 'assistant',
      content: [...first, { type: 'tool_use', id: 'a', name: 'Bash', input: {} }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'ok' }] },
  ],
})
const THOUGHT = { type: 'thinking', thinking: 'hm', signature: 'simsig-1' }

describe('messages with the real SDK', () => {
  test('a whole message with exact usage, cache apart', async () => {
    const message = await client().messages.create({
      model: 'sim-claude',
      max_tokens: 100,
      system: 'Be brief.',
      messages: [{ role: 'user', content: 'Hello [[cached:2]][[cache-write:1]][[call:m-1]]' }],
    })
    assert.equal(message.stop_reason, 'end_turn')
    assert.equal(message.usage.cache_read_input_tokens, 2)
    assert.equal(message.usage.cache_creation_input_tokens, 1)
    const [entry] = sim.running.book.entries({ marker: 'm-1' })
    assert.deepEqual(entry?.units, {
      input_token: message.usage.input_tokens,
      cached_input_token: 2,
      cache_write_token: 1,
      output_token: message.usage.output_tokens,
    })
  })

  test('a stream with thinking, text and parallel tools', async () => {
    const sent =
      '[[reason:let me think]][[say:pre]]' +
      '[[tool:Bash {"command":"ls"}]][[tool:Bash {"command":"pwd"}]]'
    const message = await client()
      .messages.stream({
        model: 'sim-claude',
        max_tokens: 4000,
        tools: [bash],
        messages: [{ role: 'user', content: sent }],
      })
      .finalMessage()
    assert.deepEqual(
      message.content.map((block) => block.type),
      ['thinking', 'text', 'tool_use', 'tool_use'],
    )
    assert.equal(message.stop_reason, 'tool_use')
    const [thinking, , first, second] = message.content
    assert.ok(thinking?.type === 'thinking' && thinking.signature.startsWith('simsig'))
    assert.deepEqual(first?.type === 'tool_use' && first.input, { command: 'ls' })
    const results = [second, first].map((block) => ({
      type: 'tool_result' as const,
      tool_use_id: block?.type === 'tool_use' ? block.id : '',
      content: block === first ? 'files' : [{ type: 'text' as const, text: '/home' }],
    }))
    const after = await client().messages.create({
      model: 'sim-claude',
      max_tokens: 4000,
      tools: [bash],
      messages: [
        { role: 'user', content: sent },
        { role: 'assistant', content: message.content },
        { role: 'user', content: results },
      ],
    })
    const text = after.content.find((block) => block.type === 'text')
    assert.equal(text?.text, 'Tool result 1: /home\nTool result 2: files')
  })

  test('after the tool the answer quotes its result; [[then]] makes another step', async () => {
    const question = {
      role: 'user' as const,
      content: '[[tool:Bash {"a":1}]][[then]][[tool:Bash]]',
    }
    const messages: Anthropic.MessageParam[] = [question]
    const stops: unknown[] = []
    let last: Anthropic.Message | undefined
    for (const result of ['one', 'two', '']) {
      last = await client().messages.create({
        model: 'sim-claude',
        max_tokens: 100,
        tools: [bash],
        messages,
      })
      stops.push(last.stop_reason)
      const call = last.content.find((block) => block.type === 'tool_use')
      if (!call) break
      messages.push({ role: 'assistant', content: last.content })
      const answer = { type: 'tool_result' as const, tool_use_id: call.id, content: result }
      messages.push({ role: 'user', content: [answer] })
    }
    assert.deepEqual(stops, ['tool_use', 'tool_use', 'end_turn'])
    const [text] = last?.content ?? []
    assert.equal(text?.type === 'text' && text.text, 'Tool result 1: one\nTool result 2: two')
  })

  test('count_tokens, models and error classes', async () => {
    const messages = [{ role: 'user' as const, content: 'x'.repeat(40) }]
    const counted = await client().messages.countTokens({ model: 'sim-claude', messages })
    assert.equal(counted.input_tokens, 10)
    const models = await client().models.list({ limit: 1 })
    assert.equal(models.data.length, 1)
    assert.ok(models.has_more)
    const options = { apiKey: 'x', baseURL: `${sim.url}/anthropic`, maxRetries: 0 }
    await assert.rejects(new Anthropic(options).models.list(), Anthropic.AuthenticationError)
    const limited = client().messages.create(
      {
        ...body('[[fault:status=429]]'),
        messages: [{ role: 'user', content: '[[fault:status=429]]' }],
      },
      { maxRetries: 0 },
    )
    await assert.rejects(limited, Anthropic.RateLimitError)
  })
})

describe('messages on the wire', () => {
  test('events come in order, named by their type', async () => {
    const { text, events } = await streamed('[[say:one two]][[chunks:2]]')
    const names = [...text.matchAll(/^event: (.+)$/gm)].map((match) => match[1])
    assert.deepEqual(names, types(events))
    assert.deepEqual(names, [
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
  })

  test('both credential headers; the request id is in header and error body', async () => {
    const { 'x-api-key': key, ...rest } = KEYS.anthropic
    const bearer = await sim.post(PATH, { ...rest, authorization: `Bearer ${key}` }, body('hi'))
    assert.equal(bearer.status, 200)
    const none = await sim.post(PATH, rest, body('hi'))
    assert.equal(none.status, 401)
    assert.equal(none.json.error?.type, 'authentication_error')
    assert.equal(none.headers['request-id'], none.json.request_id)
    const unversioned = await sim.post(PATH, { 'x-api-key': key }, body('hi'))
    assert.equal(unversioned.status, 400)
  })

  test('529 is overloaded_error', async () => {
    const { status, json } = await sim.post(PATH, KEYS.anthropic, body('[[fault:status=529]]'))
    assert.equal(status, 529)
    assert.equal(json.error?.type, 'overloaded_error')
  })

  const use = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: {} }
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }
  const turns = (assistant: object[], user: unknown) => ({
    ...body(''),
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: assistant },
      { role: 'user', content: user },
    ],
  })
  const refusals: [string, unknown, RegExp][] = [
    ['unknown field', body('x', { n: 1 }), /n: Extra inputs are not permitted/],
    ['no max_tokens', body('x', { max_tokens: undefined }), /max_tokens: Field required/],
    ['zero max_tokens', body('x', { max_tokens: 0 }), /greater than or equal to 1/],
    ['empty content', body(''), /must have non-empty content/],
    ['empty text block', body([{ type: 'text', text: '' }]), /must be non-empty/],
    ['unknown block', body([{ type: 'video' }]), /Input tag 'video'/],
    ['role tool', body('x', { messages: [{ role: 'tool', content: 'x' }] }), /role: Input should/],
    ['unanswered tool_use', turns([use], 'no'), /without `tool_result` blocks.*toolu_1/],
    ['text before the result', turns([use], [{ type: 'text', text: 'a' }, result]), /come first/],
    ['a result without its call', body([result]), /unexpected `tool_use_id`/],
    ['odd id', turns([{ ...use, id: 'a|b' }], [result]), /should match pattern/],
    [
      'foreign signature',
      turns([{ type: 'thinking', thinking: 'x', signature: '' }], 'x'),
      /Invalid `signature`/,
    ],
    [
      'small budget',
      body('x', { thinking: { type: 'enabled', budget_tokens: 5 } }),
      /budget_tokens: Input should/,
    ],
    ['schema', body('x', { tools: [{ name: 'a', input_schema: {} }] }), /type: Input should/],
  ]
  for (const [name, sent, expected] of refusals) {
    test(`refused with 400: ${name}`, async () => {
      const { status, json } = await sim.post(PATH, KEYS.anthropic, sent)
      assert.equal(status, 400)
      assert.equal(json.error?.type, 'invalid_request_error')
      assert.match(String(json.error?.message), expected)
    })
  }

  test('with thinking, a turn that waits for results begins with its thinking', async () => {
    const refused = await sim.post(PATH, KEYS.anthropic, body('', loop([])))
    assert.equal(refused.status, 400)
    assert.match(String(refused.json.error?.message), /^messages\.1\.content\.0.*found `tool_use`/)
    assert.equal((await sim.post(PATH, KEYS.anthropic, body('', loop([THOUGHT])))).status, 200)
  })

  test('with thinking, the first call of a tool comes after some that no script says', async () => {
    const { thinking, max_tokens } = loop([])
    const messages = [{ role: 'user', content: '[[tool:Bash {}]]' }]
    const sent = body('', { thinking, max_tokens, ...tools, messages })
    const { json } = await sim.post(PATH, KEYS.anthropic, sent)
    const blocks = list(json.content)
    assert.deepEqual(
      blocks.map((block) => String(block.type)),
      ['thinking', 'tool_use'],
    )
    const [first] = blocks
    assert.equal((await sim.post(PATH, KEYS.anthropic, body('', loop([first ?? {}])))).status, 200)
  })

  test('interleaved thinking comes between tools, and may have more tokens than one turn', async () => {
    const interleaved = { 'anthropic-beta': 'a, interleaved-thinking-2025-05-14' }
    const sent = body('', loop([THOUGHT]))
    const blocks = async (headers: object) => {
      const { json } = await sim.post(PATH, { ...KEYS.anthropic, ...headers }, sent)
      return list(json.content).map((block) => String(block.type))
    }
    assert.deepEqual(await blocks({}), ['tool_use'])
    assert.deepEqual(await blocks(interleaved), ['thinking', 'tool_use'])
    const large = { ...sent, thinking: { type: 'enabled', budget_tokens: 4000 } }
    assert.equal((await sim.post(PATH, KEYS.anthropic, large)).status, 400)
    const headers = { ...KEYS.anthropic, ...interleaved }
    assert.equal((await sim.post(PATH, headers, large)).status, 200)
  })

  test('a system message between call and result is accepted', async () => {
    const sent = turns([use], [result])
    sent.messages.splice(2, 0, { role: 'system', content: 'note' })
    assert.equal((await sim.post(PATH, KEYS.anthropic, sent)).status, 200)
  })
})

describe('oddities of the messages stream', () => {
  const TOOL = '[[tool:Bash {"command":"ls"}]]'
  const cases: [string, string, (events: Json[], text: string) => boolean][] = [
    ['s_noevent', 'x', (_, text) => !text.includes('event:')],
    ['s_nostop', 'x', (events) => !types(events).includes('message_stop')],
    ['s_nodelta', 'x', (events) => !types(events).includes('message_delta')],
    ['s_noblockstop', 'x', (events) => !types(events).includes('content_block_stop')],
    ['s_noblockstart', 'x', (events) => !types(events).includes('content_block_start')],
    ['s_empty', 'x', (events) => !types(events).some((type) => type.startsWith('content'))],
    ['s_index1', 'x', (events) => Number(events[2]?.index) === 1],
    ['s_nostartusage', 'x', (events) => events[0]?.message?.usage === undefined],
    ['s_nodeltausage', 'x', (events) => events.at(-2)?.usage === undefined],
    ['s_twostarts', 'x', (events) => String(events[1]?.type) === 'message_start'],
    ['s_twodeltas', 'x', (events) => String(events.at(-3)?.type) === 'message_delta'],
    ['s_thinkintext', 'x', (events) => String(events[4]?.delta?.type) === 'thinking_delta'],
    ['s_jsonintext', 'x', (events) => String(events[4]?.delta?.type) === 'input_json_delta'],
    ['s_textintool', TOOL, (events) => String(events[4]?.delta?.type) === 'text_delta'],
    ['s_texttooltext', TOOL, (events) => Number(events.at(-3)?.index) === 1],
    ['s_unknownevent', 'x', (events) => types(events).includes('vendor_notice')],
    ['s_fullinput', TOOL, (_, text) => text.includes('"input":{"command":"ls"}')],
    ['s_toolnodelta', TOOL, (_, text) => !text.includes('input_json_delta')],
    ['s_badargs', TOOL, (_, text) => text.includes('"partial_json":"{bad"')],
    ['s_oddid', TOOL, (events) => String(events[2]?.content_block?.id).endsWith('|a:b.c')],
    ['s_toolcase', TOOL, (events) => String(events[2]?.content_block?.name) === 'bash'],
    ['s_donetail', 'x', (_, text) => text.endsWith('data: [DONE]\n\n')],
    ['s_endturntool', TOOL, (events) => String(events.at(-2)?.delta?.stop_reason) === 'end_turn'],
  ]
  for (const [name, sent, holds] of cases) {
    test(name, async () => {
      const plain = await streamed(sent, tools)
      assert.ok(!holds(plain.events, plain.text), 'a correct stream does not show it')
      const odd = await streamed(`${sent}[[fault:${name}]]`, tools)
      assert.ok(holds(odd.events, odd.text), odd.text)
    })
  }

  test('same ids, interleaved blocks, thinking without its field', async () => {
    const two = `${TOOL}[[tool:Bash {"command":"pwd"}]]`
    const same = await streamed(`${two}[[fault:s_dupid]]`, tools)
    const starts = same.events.filter((event) => String(event.type) === 'content_block_start')
    assert.equal(starts[0]?.content_block?.id, starts[1]?.content_block?.id)
    const mixed = await streamed(`${two}[[fault:s_interleaved]]`, tools)
    assert.deepEqual(types(mixed.events).slice(2, 4), [
      'content_block_start',
      'content_block_start',
    ])
    const bare = await streamed('[[reason:hm]][[fault:s_thinknofield]]')
    assert.deepEqual(bare.events[2]?.content_block, { type: 'thinking' })
  })

  test('an error event ends the stream and is not billed', async () => {
    const { events } = await streamed('[[fault:error-mid]][[call:m-err]]')
    assert.equal(String(events.at(-1)?.error?.type), 'overloaded_error')
    assert.equal(sim.running.book.entries({ marker: 'm-err' })[0]?.billed, false)
  })
})
