/** Tricks with responses and messages. */
import { PIXEL } from './filler.ts'
import type { Body } from './ordinary.ts'
import { addBefore, addParts, type Trick } from './trick.ts'

export function addInput(body: Body, ...items: readonly object[]): void {
  const { input } = body
  const before =
    typeof input === 'string' ? [{ role: 'user', content: input }] : (input as object[])
  body.input = [...items, ...before]
}

/** Types of items of which a vendor stores the content under their ids. */
const STORED_TYPES = [
  undefined,
  'message',
  'reasoning',
  'function_call',
  'function_call_output',
  'web_search_call',
  'image_generation_call',
] as const

export const RESPONSES: readonly Trick[] = [
  { name: 'long instructions', set: (big) => ({ instructions: big }) },
  {
    name: 'input that begins with data:',
    apply: (body, big) => addInput(body, { role: 'user', content: `data:${big}` }),
  },
  {
    name: 'a text format',
    set: (big) => ({
      text: {
        format: { type: 'json_schema', name: 's', schema: { type: 'object', description: big } },
      },
    }),
  },
  {
    name: 'text beside an input picture',
    media: true,
    apply: (body, big) =>
      addInput(body, {
        role: 'user',
        content: [{ type: 'input_image', image_url: PIXEL, text: big, detail: 'auto' }],
      }),
  },
  {
    name: 'an input file',
    media: true,
    apply: (body) =>
      addInput(body, { role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }),
  },
  {
    name: 'a file by address',
    media: true,
    apply: (body) =>
      addInput(body, {
        role: 'user',
        content: [{ type: 'input_file', file_url: 'https://a.example/b.pdf' }],
      }),
  },
  {
    name: 'encrypted reasoning',
    apply: (body, big) =>
      addInput(body, { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: big }),
  },
  {
    name: 'the output of a call',
    apply: (body, big) =>
      addInput(
        body,
        { type: 'function_call', call_id: 'c1', name: 'look_up', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: big },
      ),
  },
  {
    name: 'a reference to an item',
    media: true,
    apply: (body) => addInput(body, { type: 'item_reference', id: 'msg_1' }),
  },
  ...STORED_TYPES.map(
    (type): Trick => ({
      name: `a stored ${type ?? 'item without a type'}`,
      media: true,
      apply: (body) => addInput(body, { ...(type ? { type } : {}), id: 'msg_1' }),
    }),
  ),
  {
    name: 'an unknown member of an item',
    media: true,
    apply: (body) => addInput(body, { role: 'user', content: 'hello', x_more: 'file-1' }),
  },
  {
    name: 'a stored prompt',
    media: true,
    set: () => ({ prompt: { id: 'pmpt_1', variables: { a: 'b' } } }),
  },
  { name: 'a null limit', limit: null, set: () => ({ max_output_tokens: null }) },
  { name: 'long includes', set: (big) => ({ include: [big] }) },
]

export const MESSAGES: readonly Trick[] = [
  {
    name: 'a text that begins with data:',
    apply: (body, big) => addBefore(body, { role: 'user', content: `data:${big}` }),
  },
  {
    name: 'blocks of a system prompt',
    set: (big) => ({ system: [{ type: 'text', text: big, cache_control: { type: 'ephemeral' } }] }),
  },
  {
    name: 'a signature',
    apply: (body, big) =>
      addBefore(
        body,
        { role: 'user', content: 'hello' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: big },
            { type: 'text', text: 'yes' },
          ],
        },
      ),
  },
  {
    name: 'redacted thinking',
    apply: (body, big) =>
      addBefore(
        body,
        { role: 'user', content: 'hello' },
        {
          role: 'assistant',
          content: [
            { type: 'redacted_thinking', data: big },
            { type: 'text', text: 'y' },
          ],
        },
      ),
  },
  {
    name: 'text beside a source',
    media: true,
    apply: (body, big) =>
      addParts(body, {
        type: 'image',
        source: { type: 'base64', media_type: 'image/png', data: 'AAAA', note: big },
        title: big,
      }),
  },
  {
    name: 'a document of text',
    apply: (body, big) =>
      addParts(body, {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: big },
      }),
  },
  {
    name: 'a document by address',
    media: true,
    apply: (body) =>
      addParts(body, { type: 'document', source: { type: 'url', url: 'https://a.example/b.pdf' } }),
  },
  {
    name: 'a document that expands',
    media: true,
    apply: (body, big) =>
      addParts(body, {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' },
        context: big,
      }),
  },
  {
    name: 'the result of a tool',
    apply: (body, big) =>
      addBefore(
        body,
        { role: 'user', content: 'hello' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 't1', name: 'look_up', input: { type: big } }],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: big }] },
          ],
        },
      ),
  },
  {
    name: 'the schema of a tool',
    set: (big) => ({
      tools: [
        {
          name: 'image',
          input_schema: { type: 'object', properties: { type: { description: big } } },
        },
      ],
    }),
  },
  {
    name: 'caches everywhere',
    apply: (body) => {
      addParts(body, { type: 'text', text: 'and', cache_control: { type: 'ephemeral', ttl: '5m' } })
      body.cache_control = { type: 'ephemeral' }
    },
  },
  { name: 'a user id', set: (big) => ({ metadata: { user_id: big } }) },
  { name: 'long stops', set: (big) => ({ stop_sequences: [big] }) },
  {
    name: 'a search result',
    apply: (body, big) =>
      addParts(body, {
        type: 'search_result',
        source: 'https://a.example',
        title: big,
        content: [{ type: 'text', text: big }],
      }),
  },
]
