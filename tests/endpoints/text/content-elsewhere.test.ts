/**
 * Requests whose input is not all in their body: the ceiling is then the model's own limit, because
 * the vendor bills what it reads elsewhere. What is in the body whole stays bounded by its bytes.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { chatCompletions } from '../../../server/api/endpoints/text/chat-completions.ts'
import { messagesEndpoint } from '../../../server/api/endpoints/text/messages.ts'
import { responses } from '../../../server/api/endpoints/text/responses.ts'
import { parseRequestJson } from '../../../server/wire/dialects/request-json/parse.ts'
import { model } from './priced-model.ts'

const WINDOW = model.limits.max_input_tokens ?? 0

const DIALECTS = {
  chat: {
    metering: chatCompletions.metering,
    wrap: (entry: unknown) => ({ messages: [{ role: 'user', content: 'hi' }, entry] }),
  },
  responses: {
    metering: responses.metering,
    wrap: (entry: unknown) => ({ input: [{ role: 'user', content: 'hi' }, entry] }),
  },
  messages: {
    metering: messagesEndpoint.metering,
    wrap: (entry: unknown) => ({
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }, entry],
    }),
  },
} as const
type Dialect = keyof typeof DIALECTS

/** Returns the most input tokens that are believed of a request with one further entry. */
function ceilingOf(dialect: Dialect, entry: unknown): number {
  const { metering, wrap } = DIALECTS[dialect]
  const body = Buffer.from(JSON.stringify({ model: 'm', ...wrap(entry) }))
  const parsed = parseRequestJson(body)
  assert.ok(parsed.ok)
  const { value, fields } = parsed
  return metering.quote({ body, value, fields, headers: {}, model }).ceiling.inputTokens
}

/** Every type of an item that a Responses request may have, and some that none has. */
const ITEM_TYPES = [
  undefined,
  null,
  '',
  5,
  {},
  [],
  'message',
  'Message',
  'item_reference',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'shell_call',
  'shell_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'tool_search_call',
  'tool_search_output',
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'computer_call',
  'computer_call_output',
  'mcp_call',
  'mcp_list_tools',
  'compaction',
  'a_type_of_next_year',
]
const IDS = ['msg_1', '', 'ig_1', 7, 0, false, ['msg_1'], { id: 'msg_1' }]
const EMPTY = [undefined, null, '', [], {}]
const CONTENTS = ['content', 'summary', 'arguments', 'input', 'output', 'action', 'tools', 'role']

test('an item with an id opens the input, whatever its type and however empty its content', () => {
  const bare = fc.record({
    type: fc.constantFrom(...ITEM_TYPES),
    id: fc.constantFrom(...IDS),
    status: fc.constantFrom(undefined, 'completed'),
    ...Object.fromEntries(CONTENTS.map((name) => [name, fc.constantFrom(...EMPTY)])),
  })
  fc.assert(
    fc.property(bare, (item) => ceilingOf('responses', item) >= WINDOW),
    { numRuns: 2_000 },
  )
})

/** Members that vendors have, or may have, for content of their own. */
const BRINGS = fc.constantFrom('file_id', 'attachments', 'file_ids', 'ref', 'x', 'conversation_id')
const VALUES = fc.oneof(
  fc.string({ minLength: 1, maxLength: 9 }),
  fc.constantFrom('file-1', 0, true, ['file-1'], { id: 'file-1' }, [[{ file_id: 'f' }]]),
)

test('an unknown member of a message, item, part, block or call opens the input', () => {
  fc.assert(
    fc.property(BRINGS, VALUES, (name, value) => {
      const more = { [name]: value }
      const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
      const cases: readonly (readonly [Dialect, object])[] = [
        ['chat', { role: 'user', content: 'hi', ...more }],
        ['chat', { role: 'user', content: [{ type: 'text', text: 'hi', ...more }] }],
        ['chat', { role: 'assistant', content: null, tool_calls: [{ ...call, ...more }] }],
        ['chat', { role: 'assistant', images: [{ type: 'text', text: 'hi', ...more }] }],
        ['chat', { role: 'user', content: { type: 'text', text: 'hi', ...more } }],
        ['responses', { role: 'user', content: 'hi', ...more }],
        ['responses', { role: 'user', content: [{ type: 'input_text', text: 'hi', ...more }] }],
        ['responses', { role: 'user', content: { type: 'input_text', text: 'hi' } }],
        ['responses', { type: 'function_call_output', call_id: 'c', output: { ...more } }],
        ['messages', { role: 'user', content: 'hi', ...more }],
        ['messages', { role: 'user', content: [{ type: 'text', text: 'hi', ...more }] }],
        ['messages', { role: 'user', content: { type: 'text', text: 'hi' } }],
        [
          'messages',
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 't',
                content: [{ type: 'text', text: 'hi', ...more }],
              },
            ],
          },
        ],
        [
          'messages',
          { role: 'user', content: [{ type: 'text', text: 'hi', source: { type: 'file' } }] },
        ],
      ]
      for (const [dialect, entry] of cases) {
        assert.ok(ceilingOf(dialect, entry) >= WINDOW, JSON.stringify([dialect, entry]))
      }
    }),
    { numRuns: 300 },
  )
})

const CACHE = { cache_control: { type: 'ephemeral' } }
const REPEATED: readonly (readonly [Dialect, object])[] = [
  [
    'chat',
    {
      role: 'assistant',
      content: '',
      reasoning_content: 'hm',
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'AAAA' }],
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
  ],
  ['chat', { role: 'tool', tool_call_id: 'c', content: 'found', name: 'f' }],
  ['chat', { role: 'assistant', content: 'a', refusal: null, annotations: [], audio: null }],
  ['responses', { type: 'reasoning', summary: [], encrypted_content: 'gAAAAAB' }],
  ['responses', { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }],
  ['responses', { type: 'function_call_output', call_id: 'c', output: '' }],
  ['responses', { type: 'web_search_call', status: 'completed', action: { type: 'search' } }],
  [
    'responses',
    {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'a', annotations: [], logprobs: [] }],
    },
  ],
  [
    'messages',
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'AAAA' },
        { type: 'redacted_thinking', data: 'AAAA' },
        { type: 'text', text: 'a', citations: null, ...CACHE },
        { type: 'tool_use', id: 't', name: 'f', input: { file_id: 'mine', x: [1] } },
        { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'q' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 's',
          content: [{ type: 'web_search_result', url: 'u', title: 't', encrypted_content: 'AAAA' }],
        },
        {
          type: 'web_search_tool_result',
          tool_use_id: 's',
          content: { type: 'web_search_tool_result_error', error_code: 'unavailable' },
        },
      ],
    },
  ],
  [
    'messages',
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 't',
          is_error: false,
          content: [{ type: 'text', text: 'found' }],
        },
      ],
    },
  ],
]

test('what agents repeat of their turns is bounded by its bytes', () => {
  for (const [dialect, entry] of REPEATED) {
    assert.ok(ceilingOf(dialect, entry) < 50_000, JSON.stringify([dialect, entry]))
  }
})

/** Returns what the call may read beyond its estimate. */
function openOf(dialect: Dialect, entry: unknown, more: object = {}) {
  const { metering, wrap } = DIALECTS[dialect]
  const body = Buffer.from(JSON.stringify({ model: 'm', ...wrap(entry), ...more }))
  const parsed = parseRequestJson(body)
  assert.ok(parsed.ok)
  const { value, fields } = parsed
  const { quantities, most } = metering.quote({ body, value, fields, headers: {}, model })
  const held = quantities.input_token ?? 0
  return { held, most: most?.input_token ?? held }
}

test('what the input may come to is known: nothing more, an image, or the window', () => {
  const document = (data: string) => ({ type: 'base64', media_type: 'application/pdf', data })
  const image = { type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } }
  const say = (content: unknown) => ({ role: 'user', content })
  const window: readonly (readonly [Dialect, object, object?])[] = [
    ['responses', { type: 'item_of_next_year', a: 'b' }],
    ['responses', say([{ type: 'input_file', file_url: 'https://a.example/b.pdf' }])],
    ['responses', say('x'), { conversation: 'conv_1' }],
    ['responses', say('x'), { tools: [{ type: 'mcp', server_url: 'https://a.example' }] }],
    ['chat', say([{ type: 'video_url', video_url: { url: 'https://a.example/b.mp4' } }])],
    ['chat', { ...say('x'), attachments: ['a'] }],
    ['chat', say('x'), { extra_body: { a: 'b' } }],
    ['messages', say([{ type: 'document', source: document('JVBERi0') }])],
    ['messages', say([{ type: 'document', source: { type: 'url', url: 'https://a.example' } }])],
  ]
  for (const [dialect, entry, more] of window) {
    assert.equal(openOf(dialect, entry, more).most, WINDOW, JSON.stringify([entry, more]))
  }
  for (const count of [1, 3, 400]) {
    const { held, most } = openOf('messages', say(Array(count).fill(image)))
    assert.equal(most, Math.max(held, Math.min(held + count * 36_000, WINDOW)))
  }
  const closed: readonly (readonly [Dialect, object, object?])[] = [
    ['responses', { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' }],
    ['responses', { type: 'compaction', id: 'c', encrypted_content: 'gAAA' }],
    ['responses', { type: 'web_search_call', id: 'w', action: { type: 'search' } }],
    ['chat', say('x'), { top_k: 5, min_p: 0.1, ignore_eos: true, provider: { order: ['a'] } }],
    [
      'messages',
      say([
        { type: 'bash_code_execution_tool_result', tool_use_id: 't', content: { stdout: 'a' } },
      ]),
    ],
  ]
  for (const [dialect, entry, more] of closed) {
    const { held, most } = openOf(dialect, entry, more)
    assert.equal(most, held, JSON.stringify([entry, more]))
  }
})

test('earlier turns are held for up to the window, however many tokens are stated of them', () => {
  const body = Buffer.from('{"model":"m","input":"hi","previous_response_id":"resp_1"}')
  const parsed = parseRequestJson(body)
  assert.ok(parsed.ok)
  const { value, fields } = parsed
  const { metering } = DIALECTS.responses
  const quoted = (tokens: number | null) =>
    metering.quote({ body, value, fields, headers: {}, model, chain: { tokens } })
  assert.equal(quoted(70_000).quantities.input_token, 70_000 + Math.ceil(body.length / 4))
  assert.equal(quoted(70_000).most, undefined, 'all of it is known')
  const least = quoted(9e15).quantities.input_token ?? 0
  assert.ok(least >= WINDOW && least < WINDOW + 100)
  assert.equal(quoted(null).most?.input_token, WINDOW)
})

test('a member in another letter case is refused, since some vendors read it', () => {
  const misspelt: readonly (readonly [Dialect, object, RegExp])[] = [
    ['chat', { role: 'user', content: 'a', Content: [{ type: 'text', text: 'b' }] }, /\.Content: /],
    ['chat', { role: 'user', content: [{ type: 'text', TEXT: 'a' }] }, /\[0\]\.TEXT: /],
    ['responses', { role: 'user', Type: 'item_reference', content: 'a' }, /\.Type: .*'type'/],
    ['responses', { role: 'user', content: [{ type: 'text', Text: 'a' }] }, /\.Text: /],
    ['messages', { role: 'user', content: [{ type: 'text', text: 'a', Text: 'b' }] }, /\.Text: /],
  ]
  for (const [dialect, entry, message] of misspelt) {
    assert.throws(() => ceilingOf(dialect, entry), { message })
  }
  assert.ok(ceilingOf('chat', { role: 'user', content: 'a', CONTENT: null }) > 0, 'not set')
})
