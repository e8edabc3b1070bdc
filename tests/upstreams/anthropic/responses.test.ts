/** Responses over a messages-native upstream: the request that it gets, and its answer. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { anthropic } from '../../../server/wire/upstreams/anthropic/index.ts'
import { anthropicSettings } from '../../../server/wire/upstreams/anthropic/settings.ts'
import type { UpstreamAnswer } from '../../../server/wire/upstreams/upstream.ts'
import type { Wire } from '../../../server/wire/upstreams/wire.ts'
import { readEvents } from '../../dialects/responses-over-chat/read-events.ts'
import { startRecorded, wire } from '../recording-vendor.ts'

const PIXEL = 'data:image/png;base64,iVBORw0KGgo='
const USAGE = { input_tokens: 9, cache_creation_input_tokens: 4, output_tokens: 5 }
const message = (content: readonly object[], stopReason = 'end_turn') => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'vendor-model',
  content,
  stop_reason: stopReason,
  usage: USAGE,
})
const THOUGHT = { type: 'thinking', thinking: 'hm', signature: 'sig==' }
const CALL = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'x' } }
const TOOLS = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }]

function call(url: string, value: object, stream = false) {
  const settings = anthropicSettings.parse({
    base_url: url,
    api_key: 'k',
    quirks: { reasoning: 'budget', max_tokens_default: 8192 },
  })
  const request = {
    body: Buffer.alloc(0),
    fields: new Map(),
    value: { model: 'claude', stream, ...value },
    headers: {},
    requestId: 'req_1',
    createdAtSeconds: 1_795_000_000,
    model: 'claude',
    stream,
    estimateInputTokens: () => 77,
  }
  return { settings, upstreamModel: 'vendor-model', request } as never
}

async function ask(t: TestContext, body: unknown, value: object, stream = false) {
  const { url, seen } = await startRecorded(t, () => ({ '/v1/messages': { body } }))
  const send = anthropic.calls.responses
  assert.ok(send)
  const answer = await send(wire, call(url, value, stream))
  const text = await readAnswer(answer)
  return { sent: JSON.parse(seen[0]?.body ?? '{}'), text, report: answer.relay.report(), answer }
}

async function readAnswer({ body, relay }: UpstreamAnswer): Promise<string> {
  const parts: (Buffer | undefined)[] = []
  for await (const chunk of body) parts.push(relay.push(chunk))
  parts.push(relay.end())
  return Buffer.concat(parts.filter((part) => part !== undefined)).toString()
}

test('calls, their results with pictures and failures, and files', async (t) => {
  const pdf = 'data:application/pdf;base64,JVBERi0='
  const { sent } = await ask(t, message([{ type: 'text', text: 'ok' }]), {
    instructions: 'Be short.',
    max_output_tokens: 99,
    tools: TOOLS,
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'see' },
          { type: 'input_image', image_url: PIXEL },
          { type: 'input_file', filename: 'a.pdf', file_data: pdf },
        ],
      },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":"x"}' },
      { type: 'function_call', call_id: 'c2', name: 'look', arguments: '' },
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: [
          { type: 'input_text', text: 'a picture' },
          { type: 'input_image', image_url: PIXEL },
        ],
      },
      { type: 'function_call_output', call_id: 'c2', output: 'no such file', status: 'incomplete' },
    ],
  })
  assert.equal(sent.max_tokens, 99)
  assert.deepEqual(sent.system, [{ type: 'text', text: 'Be short.' }])
  const image = {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
  }
  const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }
  assert.deepEqual(sent.messages, [
    {
      role: 'user',
      content: [{ type: 'text', text: 'see' }, image, { type: 'document', source, title: 'a.pdf' }],
    },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'c1', name: 'look', input: { at: 'x' } },
        { type: 'tool_use', id: 'c2', name: 'look', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'c1',
          content: [{ type: 'text', text: 'a picture' }, image],
        },
        {
          type: 'tool_result',
          tool_use_id: 'c2',
          content: [{ type: 'text', text: 'no such file' }],
          is_error: true,
        },
      ],
    },
  ])
})

test('sealed reasoning goes back with its signature beside the call', async (t) => {
  const include = ['reasoning.encrypted_content']
  const asked = { reasoning: { effort: 'low' }, include, tools: TOOLS }
  const first = await ask(t, message([THOUGHT, CALL], 'tool_use'), { ...asked, input: 'go' })
  const { output, usage } = JSON.parse(first.text)
  assert.deepEqual(
    output.map(({ type }: { type: string }) => type),
    ['reasoning', 'function_call'],
  )
  assert.equal(usage.input_tokens, 13)
  assert.equal(first.report.usage?.cache_write_5m_token, 4, 'in the terms of the vendor')
  const result = { type: 'function_call_output', call_id: output[1].call_id, output: 'done' }
  const input = [{ role: 'user', content: 'go' }, ...output, result]
  const second = await ask(t, message([{ type: 'text', text: 'ok' }]), { ...asked, input })
  assert.deepEqual(second.sent.messages[1].content[0], THOUGHT)
  assert.equal(second.sent.thinking.type, 'enabled')
  // Without thinking in this request, or from another vendor, nothing of it is sent.
  const plain = await ask(t, message([]), { input, tools: TOOLS })
  assert.deepEqual(plain.sent.messages[1].content, [CALL])
  const foreign = input.map((item) => ({ ...item, encrypted_content: 'gAAAA' }))
  const other = await ask(t, message([]), { ...asked, input: foreign })
  assert.deepEqual(other.sent.messages[1].content, [CALL])
  assert.equal(other.sent.thinking, undefined)
})

test('a request without a limit may use all of the model’s output', async (t) => {
  const { url, seen } = await startRecorded(t, () => ({ '/v1/messages': { body: message([]) } }))
  const send = async (quirks: object, outputTokensMax?: number) => {
    const settings = anthropicSettings.parse({ base_url: url, api_key: 'k', quirks })
    const one = { ...(call(url, { input: 'x' }) as object), settings, outputTokensMax }
    await anthropic.calls.responses?.(wire, one as never)
    return JSON.parse(seen.at(-1)?.body ?? '{}').max_tokens
  }
  assert.equal(await send({}, 64_000), 64_000)
  assert.equal(await send({ max_tokens_default: 8_192 }, 64_000), 8_192)
  assert.equal(await send({ max_tokens_limit: 32_000 }, 64_000), 32_000)
  assert.equal(await send({}), 4_096)
})

const REDACTED = { type: 'redacted_thinking', data: 'c2VjcmV0' }
const OMITTED = { type: 'thinking', thinking: '', signature: 'sig2==' }
const MORE = { type: 'thinking', thinking: 'aha', signature: 'sig3==' }
const BLOCKS = [THOUGHT, REDACTED, OMITTED, MORE, CALL]

/** The events of a message, with signatures and arguments in two pieces. */
function toEvents(blocks: readonly Readonly<Record<string, unknown>>[]): string {
  const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
  const parts = blocks.map((block, index) => {
    const { thinking, signature, input } = block
    const delta = (fields: object) => event({ type: 'content_block_delta', index, delta: fields })
    const halves = (text: string) => [text.slice(0, 3), text.slice(3)]
    const empty = { ...block, thinking: '', signature: '', input: {} }
    const deltas = [
      ...(thinking ? [delta({ type: 'thinking_delta', thinking })] : []),
      ...(signature ? halves(`${signature}`) : []).map((part) =>
        delta({ type: 'signature_delta', signature: part }),
      ),
      ...(input ? halves(JSON.stringify(input)) : []).map((part) =>
        delta({ type: 'input_json_delta', partial_json: part }),
      ),
    ]
    const start = event({ type: 'content_block_start', index, content_block: empty })
    return start + deltas.join('') + event({ type: 'content_block_stop', index })
  })
  const start = event({ type: 'message_start', message: { usage: USAGE } })
  const stop = event({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: USAGE })
  return start + parts.join('') + stop + event({ type: 'message_stop' })
}

for (const stream of [false, true]) {
  test(`every block of reasoning keeps its own signature; stream: ${stream}`, async (t) => {
    const include = ['reasoning.encrypted_content']
    const asked = { reasoning: { effort: 'low' }, include, tools: TOOLS }
    const sending: Wire = {
      ...wire,
      send: async () => ({
        status: 200,
        headers: {},
        body: Readable.from([
          Buffer.from(stream ? toEvents(BLOCKS) : JSON.stringify(message(BLOCKS, 'tool_use'))),
        ]),
      }),
    }
    const value = { ...asked, input: 'go' }
    const answer = await anthropic.calls.responses?.(sending, call('http://x', value, stream))
    assert.ok(answer)
    const text = await readAnswer(answer)
    const { output } = stream ? readEvents(text).response : JSON.parse(text)
    const items = output as readonly { type: string; summary: unknown[]; call_id: string }[]
    assert.deepEqual(
      items.map(({ type, summary }) => [type, summary?.length]),
      [
        ['reasoning', 1],
        ['reasoning', 0],
        ['reasoning', 0],
        ['reasoning', 1],
        ['function_call', undefined],
      ],
    )
    const callId = items.at(-1)?.call_id
    const result = { type: 'function_call_output', call_id: callId, output: 'done' }
    const input = [{ role: 'user', content: 'go' }, ...items, result]
    const { sent } = await ask(t, message([]), { ...asked, input })
    assert.deepEqual(sent.messages[1].content, BLOCKS)
    const plain = await ask(t, message([]), { input, tools: TOOLS })
    assert.deepEqual(plain.sent.messages[1].content, [CALL])
  })
}

test('a document in place of a stream is the stream; its usage stands', async (t) => {
  const document = message([{ type: 'text', text: 'whole' }])
  const seen = await ask(t, document, { input: 'x' }, true)
  assert.match(seen.text, /event: response\.output_text\.delta\n.*whole/)
  assert.match(seen.text, /event: response\.completed\n.*\n\n$/)
  assert.deepEqual([seen.report.finished, seen.report.usage?.output_token], [true, 5])
})

for (const [name, body] of [
  ['an error', { type: 'error', error: { type: 'overloaded_error', message: 'busy' } }],
  ['a chat completion', { object: 'chat.completion', choices: [{ message: { content: 'x' } }] }],
  ['an empty object', {}],
] as const) {
  test(`refused: ${name} under 200`, async (t) => {
    for (const stream of [false, true]) {
      const { answer, report } = await ask(t, body, { input: 'x' }, stream)
      assert.ok(answer.refusal?.(report), `stream: ${stream}`)
    }
  })
}

test('a stream in place of a document is collected; one that breaks off is an error', async () => {
  const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
  const start = event({ type: 'message_start', message: { usage: USAGE } })
  const text = {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'text', text: 'hi' },
  }
  const stop = event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: USAGE })
  const whole = start + event(text) + stop + event({ type: 'message_stop' })
  for (const [stream, isWhole] of [
    [whole, true],
    [start + event(text), false],
  ] as const) {
    const sending: Wire = {
      ...wire,
      send: async () => ({
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: Readable.from([Buffer.from(stream)]),
      }),
    }
    const answer = await anthropic.calls.responses?.(sending, call('http://x', { input: 'x' }))
    assert.ok(answer)
    const document = JSON.parse(await readAnswer(answer))
    const { error } = answer.relay.report()
    assert.equal(error === undefined, isWhole)
    if (isWhole) assert.equal(document.output[0].content[0].text, 'hi')
  }
})

test('a conversation that is too long has the code by which callers of responses know it', async (t) => {
  const message = 'prompt is too long: 210000 tokens > 200000 maximum'
  const body = { type: 'error', error: { type: 'invalid_request_error', message } }
  const { url } = await startRecorded(t, () => ({ '/v1/messages': { status: 400, body } }))
  const sent = anthropic.calls.responses?.(wire, call(url, { input: 'hi' }))
  await assert.rejects(Promise.resolve(sent), ({ kind, details }) => {
    assert.deepEqual([kind, details.code], ['rejected', 'context_length_exceeded'])
    return true
  })
})
