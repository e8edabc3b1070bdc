/** The vendor's web search for callers of chat completions and responses: request and answer. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, streamText } from 'ai'
import OpenAI from 'openai'
import { anthropic } from '../../../server/wire/upstreams/anthropic/index.ts'
import { anthropicSettings } from '../../../server/wire/upstreams/anthropic/settings.ts'
import type { UpstreamAnswer } from '../../../server/wire/upstreams/upstream.ts'
import { readEvents } from '../../dialects/responses-over-chat/read-events.ts'
import { startRecorded, wire } from '../recording-vendor.ts'

const SOURCE = { url: 'https://a.example/1', title: 'One' }
const OTHER = { url: 'https://b.example/2', title: null }
const cite = (source: object) => ({
  type: 'web_search_result_location',
  ...source,
  cited_text: 'words of the page',
  encrypted_index: 'Eo8B',
})
const found = (source: object) => ({
  type: 'web_search_result',
  ...source,
  encrypted_content: 'EqgB',
  page_age: null,
})
/** The emoji is one code point and two UTF-16 units. */
const BLOCKS = [
  { type: 'text', text: 'Let me look 🔎. ' },
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'rivers' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [found(SOURCE), found(OTHER)],
  },
  { type: 'text', text: 'It says ' },
  { type: 'text', text: 'that 🌊', citations: [cite(SOURCE), cite(SOURCE), cite(OTHER)] },
  { type: 'text', text: '.' },
]
const TEXT = 'Let me look 🔎. It says that 🌊.'
const USAGE = {
  input_tokens: 9,
  output_tokens: 5,
  server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
}
const MESSAGE = { id: 'msg_1', type: 'message', content: BLOCKS, stop_reason: 'end_turn' }

interface Block {
  readonly text?: string
  readonly input?: object
  readonly citations?: readonly object[]
}

/** The events of the message, with text, query and citations in pieces. */
function toEvents(): string {
  const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
  const parts = BLOCKS.map((block, index) => {
    const { text, input, citations = [] }: Block = block
    const delta = (fields: object) => event({ type: 'content_block_delta', index, delta: fields })
    const empty = text ? { type: 'text', text: '' } : input ? { ...block, input: {} } : block
    const query = JSON.stringify(input ?? '')
    return [
      event({ type: 'content_block_start', index, content_block: empty }),
      ...(text ? [delta({ type: 'text_delta', text })] : []),
      ...citations.map((citation) => delta({ type: 'citations_delta', citation })),
      ...(input ? [query.slice(0, 5), query.slice(5)] : []).map((piece) =>
        delta({ type: 'input_json_delta', partial_json: piece }),
      ),
      event({ type: 'content_block_stop', index }),
    ].join('')
  })
  const start = event({ type: 'message_start', message: { usage: { input_tokens: 9 } } })
  const stop = event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: USAGE })
  return start + parts.join('') + stop + event({ type: 'message_stop' })
}

async function ask(
  t: TestContext,
  operation: 'chat' | 'responses',
  value: object,
  { stream = false, sellsSearch = true } = {},
) {
  const { url, seen } = await startRecorded(t, () => ({
    '/v1/messages': { body: { ...MESSAGE, usage: USAGE } },
  }))
  const send = anthropic.calls[operation]
  assert.ok(send)
  const settings = anthropicSettings.parse({ base_url: url, api_key: 'k' })
  const streaming = {
    ...wire,
    send: async (request: Parameters<typeof wire.send>[0]) => ({
      ...(await wire.send(request)),
      body: Readable.from([Buffer.from(toEvents())]),
    }),
  }
  const answer = await send(stream ? streaming : wire, {
    settings,
    upstreamModel: 'vendor-model',
    sellsSearch,
    request: {
      body: Buffer.alloc(0),
      fields: new Map(),
      value: { model: 'claude', stream, ...value },
      headers: {},
      createdAtSeconds: 1,
      model: 'claude',
      stream,
      estimateInputTokens: () => 7,
    },
  } as never)
  const text = await readAnswer(answer)
  const ignored = answer.headers['x-tributary-ignored']
  const sent = JSON.parse(seen[0]?.body ?? '{}')
  return { sent, text, ignored, usage: answer.relay.report().usage }
}

async function readAnswer({ body, relay }: UpstreamAnswer): Promise<string> {
  const parts: (Buffer | undefined)[] = []
  for await (const chunk of body) parts.push(relay.push(chunk))
  parts.push(relay.end())
  return Buffer.concat(parts.filter((part) => part !== undefined)).toString()
}

const HI = [{ role: 'user', content: 'hi' }]
const TOOL = { type: 'web_search_20250305', name: 'web_search', max_uses: 5 }
const PLACE = { city: 'Basel', country: 'CH' }
const FUNCTION = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }

test('chat: web_search_options are the vendor’s tool', async (t) => {
  const web_search_options = {
    search_context_size: 'low',
    user_location: { type: 'approximate', approximate: { ...PLACE, region: null } },
  }
  const { sent, ignored } = await ask(t, 'chat', { messages: HI, web_search_options })
  assert.deepEqual(sent.tools, [{ ...TOOL, user_location: { type: 'approximate', ...PLACE } }])
  assert.equal(ignored, 'web_search_options.search_context_size')
  const none = { messages: HI, web_search_options: {}, tool_choice: 'none' }
  const off = await ask(t, 'chat', none)
  assert.deepEqual([off.sent.tools, off.ignored], [undefined, 'web_search_options'])
  const unsold = ask(t, 'chat', { messages: HI, web_search_options: {} }, { sellsSearch: false })
  await assert.rejects(unsold, /web_search_options: this model does not search/)
})

test('responses: web_search is the vendor’s tool, with its limits', async (t) => {
  for (const type of ['web_search', 'web_search_2025_08_26', 'web_search_preview_2025_03_11']) {
    const filters = { allowed_domains: ['a.example'] }
    const place = { type: 'approximate', ...PLACE }
    const search = { type, filters, user_location: place, search_context_size: 'high' }
    const value = { input: 'x', tools: [FUNCTION, search], max_tool_calls: 2 }
    const { sent, ignored } = await ask(t, 'responses', value)
    assert.deepEqual(sent.tools[1], { ...TOOL, max_uses: 2, ...filters, user_location: place })
    assert.equal(ignored, 'tools[1].search_context_size')
  }
  const search = { type: 'web_search', external_web_access: true }
  const forced = { input: 'x', tools: [FUNCTION, search], tool_choice: { type: 'web_search' } }
  const { sent } = await ask(t, 'responses', forced)
  assert.deepEqual(sent.tool_choice, { type: 'tool', name: 'web_search' })
  const only = await ask(t, 'responses', { input: 'x', tools: [search], tool_choice: 'required' })
  assert.deepEqual([only.sent.tools, only.sent.tool_choice], [[TOOL], { type: 'any' }])
})

const SEARCH = { type: 'web_search' }
for (const [name, value, sellsSearch] of [
  ['a model without a price for it', { tools: [SEARCH] }, false],
  ['stored pages alone', { tools: [{ ...SEARCH, external_web_access: false }] }, true],
  ['a function of its name', { tools: [SEARCH, { ...FUNCTION, name: 'web_search' }] }, true],
] as const) {
  test(`responses: the search is left out and named: ${name}`, async (t) => {
    const { sent, ignored } = await ask(t, 'responses', { input: 'x', ...value }, { sellsSearch })
    assert.equal(ignored, 'tools[0]=web_search')
    const types = (sent.tools ?? []).map(({ type }: { type?: string }) => type)
    assert.ok(!types.includes(TOOL.type))
  })
}

const ANNOTATIONS = [
  { start_index: 23, end_index: 29, url: SOURCE.url, title: 'One' },
  { start_index: 23, end_index: 29, url: OTHER.url, title: OTHER.url },
]

test('chat: citations are annotations, in both forms; the fees are the vendor’s count', async (t) => {
  const value = { messages: HI, web_search_options: {} }
  const annotations = ANNOTATIONS.map((url_citation) => ({ type: 'url_citation', url_citation }))
  const whole = await ask(t, 'chat', value)
  const { message } = JSON.parse(whole.text).choices[0]
  assert.equal(message.content, TEXT)
  assert.deepEqual(message.annotations, annotations)
  assert.equal(Array.from(TEXT).slice(23, 29).join(''), 'that 🌊')
  const streamed = await ask(t, 'chat', value, { stream: true })
  const deltas = streamed.text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .flatMap((frame) => JSON.parse(frame.slice(6)).choices)
    .map(({ delta }) => delta)
  assert.equal(deltas.map(({ content = '' }) => content).join(''), TEXT)
  assert.deepEqual(
    deltas.flatMap(({ annotations: some = [] }) => some),
    annotations,
  )
  for (const { text, usage } of [whole, streamed]) {
    assert.doesNotMatch(text, /hosted_searches/)
    assert.equal(usage?.web_search_call, 2)
  }
})

const CALL = { type: 'web_search_call', status: 'completed' }
const ACTION = { type: 'search', query: 'rivers', queries: ['rivers'] }

test('responses: a search is an item, and its sources are annotations of the text', async (t) => {
  const value = { input: 'x', tools: [SEARCH] }
  const { text, usage } = await ask(t, 'responses', value)
  const [call, message] = JSON.parse(text).output
  assert.deepEqual(call, { id: call.id, ...CALL, action: ACTION })
  const annotations = ANNOTATIONS.map((citation) => ({ type: 'url_citation', ...citation }))
  assert.deepEqual(message.content[0].annotations, annotations)
  assert.equal(message.content[0].text, TEXT)
  assert.equal(usage?.web_search_call, 2)
})

test('responses: a stream has the search between two messages', async (t) => {
  const include = ['web_search_call.action.sources']
  const value = { input: 'x', tools: [SEARCH], include }
  const { text, usage } = await ask(t, 'responses', value, { stream: true })
  const { response, types } = readEvents(text)
  const [first, call, second] = response.output
  assert.deepEqual(
    response.output.map(({ type }) => type),
    ['message', 'web_search_call', 'message'],
  )
  const sources = [SOURCE, OTHER].map(({ url }) => ({ type: 'url', url }))
  assert.deepEqual(call, { id: call?.id, ...CALL, action: { ...ACTION, sources } })
  assert.deepEqual(
    types.filter((type) => type.includes('web_search')),
    ['in_progress', 'searching', 'completed'].map((state) => `response.web_search_call.${state}`),
  )
  assert.equal(first?.content[0]?.text, BLOCKS[0]?.text)
  const part = second?.content[0]
  const spans = ANNOTATIONS.map((citation) => {
    return { type: 'url_citation', ...citation, start_index: 8, end_index: 14 }
  })
  assert.deepEqual(part?.annotations, spans, 'counted from the beginning of their own text')
  assert.equal(usage?.web_search_call, 2)
})

for (const stream of [false, true]) {
  test(`the AI SDK and OpenAI’s SDK read searches and sources; stream: ${stream}`, async (t) => {
    const contentType = stream ? 'text/event-stream' : 'application/json'
    const fetchFor =
      (operation: 'chat' | 'responses') => async (_: unknown, init?: RequestInit) => {
        const { text, sent } = await ask(t, operation, JSON.parse(String(init?.body)), { stream })
        assert.ok(stream || sent.tools.some(({ type }: { type: string }) => type === TOOL.type))
        return new Response(text, { headers: { 'content-type': contentType } })
      }
    const baseURL = 'http://127.0.0.1/v1'
    const provider = createOpenAI({ baseURL, apiKey: 'k', fetch: fetchFor('responses') })
    const request = {
      model: provider.responses('claude'),
      prompt: 'rivers?',
      tools: { web_search: provider.tools.webSearch({}) },
    }
    const answer = stream ? streamText(request) : await generateText(request)
    const [text, sources, results] = await Promise.all([
      answer.text,
      answer.sources,
      answer.toolResults,
    ])
    assert.equal(text, TEXT)
    const urls = sources.map((source) => (source.sourceType === 'url' ? source.url : ''))
    assert.deepEqual(new Set(urls), new Set([SOURCE.url, OTHER.url]))
    assert.deepEqual(
      results.map(({ toolName }) => toolName),
      ['web_search'],
    )
    const client = new OpenAI({ baseURL, apiKey: 'k', fetch: fetchFor('chat') })
    const asked = { model: 'claude', messages: [], web_search_options: {} }
    const completion = stream
      ? await client.chat.completions.stream({ ...asked, messages: HI as never }).finalMessage()
      : (await client.chat.completions.create({ ...asked, messages: HI as never })).choices[0]
          ?.message
    assert.equal(completion?.content, TEXT)
    const annotations = completion?.annotations ?? []
    assert.ok(stream || annotations.length === ANNOTATIONS.length)
  })
}
