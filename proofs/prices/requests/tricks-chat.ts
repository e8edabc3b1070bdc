/** Tricks with chat completions. */
import { PIXEL } from './filler.ts'
import type { Body } from './ordinary.ts'
import { addBefore, addParts, type Trick } from './trick.ts'

export const CHAT: readonly Trick[] = [
  {
    name: 'a text that begins with data:',
    apply: (body, big) => addBefore(body, { role: 'user', content: `data:${big}` }),
  },
  {
    name: 'a picture as a text',
    apply: (body, big) =>
      addBefore(body, { role: 'user', content: `data:image/png;base64,${big}` }),
  },
  {
    name: 'old functions',
    set: (big) => ({ functions: [{ name: 'f', description: big, parameters: {} }] }),
  },
  {
    name: 'a response format',
    set: (big) => ({
      response_format: {
        type: 'json_schema',
        json_schema: { name: 's', schema: { type: 'object', description: big } },
      },
    }),
  },
  {
    name: 'a prediction',
    set: (big) => ({ prediction: { type: 'content', content: big } }),
  },
  {
    name: 'text beside a picture',
    media: true,
    apply: (body, big) =>
      addParts(body, { type: 'image_url', image_url: { url: PIXEL }, text: big }),
  },
  {
    name: 'text inside image_url',
    media: true,
    apply: (body, big) =>
      addParts(body, { type: 'image_url', image_url: { url: PIXEL, detail: 'low', note: big } }),
  },
  {
    name: 'a text part that calls itself a picture',
    apply: (body, big) => addParts(body, { type: 'text', image_url: { url: PIXEL }, text: big }),
  },
  {
    name: 'a picture by address',
    media: true,
    apply: (body) =>
      addParts(body, { type: 'image_url', image_url: { url: 'https://a.example/b.png' } }),
  },
  {
    name: 'a video by address',
    media: true,
    apply: (body) =>
      addParts(body, { type: 'video_url', video_url: { url: 'https://a.example/b.mp4' } }),
  },
  {
    name: 'a file id',
    media: true,
    apply: (body) => addParts(body, { type: 'file', file: { file_id: 'file-1' } }),
  },
  {
    name: 'an unknown member of a message',
    media: true,
    apply: (body) => addBefore(body, { role: 'user', content: 'hello', x_more: ['file-1'] }),
  },
  {
    name: 'a document that expands',
    media: true,
    apply: (body) =>
      addParts(body, {
        type: 'file',
        file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQK' },
      }),
  },
  {
    name: 'a function named image',
    set: (big) => ({
      tools: [
        {
          type: 'function',
          function: { name: 'image', description: big, parameters: { type: 'image' } },
        },
      ],
    }),
  },
  {
    name: 'a null limit before a limit',
    limit: 9_000,
    apply: (body) => setLimits(body, null, 9_000),
  },
  {
    name: 'a limit before a null limit',
    limit: 9_000,
    apply: (body) => setLimits(body, 9_000, null),
  },
  { name: 'two limits, small first', limit: 9_000, apply: (body) => setLimits(body, 9, 9_000) },
  { name: 'two limits, large first', limit: 9_000, apply: (body) => setLimits(body, 9_000, 9) },
  { name: 'limits of null', limit: null, apply: (body) => setLimits(body, null, null) },
  { name: 'a long user', set: (big) => ({ user: big }) },
  { name: 'long stops', set: (big) => ({ stop: [big, 'b', 'c'] }) },
  {
    name: 'a long bias',
    set: (big) => ({
      logit_bias: Object.fromEntries(
        Array.from({ length: Math.min(2_000, big.length) }, (_, index) => [index, -100]),
      ),
    }),
  },
  {
    name: 'a long name',
    apply: (body, big) => addBefore(body, { role: 'user', name: big, content: 'hello' }),
  },
  {
    name: 'arguments of a call',
    apply: (body, big) => addBefore(body, ...toolTurn('call_1', JSON.stringify({ big }))),
  },
  {
    name: 'the id of a call',
    apply: (body, big) => addBefore(body, ...toolTurn(`call_${big}`, '{}')),
  },
  {
    name: 'a refusal in the history',
    apply: (body, big) => addBefore(body, { role: 'assistant', content: 'no', refusal: big }),
  },
  {
    name: 'reasoning in the history',
    apply: (body, big) =>
      addBefore(body, { role: 'assistant', content: 'yes', reasoning_content: big }),
  },
  {
    name: 'a cache key',
    apply: (body, big) => Object.assign(body, { prompt_cache_key: big, safety_identifier: big }),
  },
  {
    name: 'parts of a system message',
    apply: (body, big) =>
      addBefore(body, { role: 'system', content: [{ type: 'text', text: big }] }),
  },
  {
    name: 'a developer message',
    apply: (body, big) => addBefore(body, { role: 'developer', content: big }),
  },
  { name: 'a large seed', set: () => ({ seed: 9_007_199_254_740_991 }) },
  { name: 'stream options of null', set: () => ({ stream_options: null }) },
  {
    name: 'other stream options',
    set: (big) => ({ stream_options: { note: big } }),
  },
  { name: 'a verbosity', set: () => ({ verbosity: 'high' }) },
  { name: 'template arguments', set: (big) => ({ chat_template_kwargs: { big } }) },
  { name: 'guided JSON', set: (big) => ({ guided_json: { description: big } }) },
]

function setLimits(body: Body, completion: number | null, tokens: number | null): void {
  body.max_completion_tokens = completion
  body.max_tokens = tokens
}

function toolTurn(id: string, args: string): object[] {
  return [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'look_up', arguments: args } }],
    },
    { role: 'tool', tool_call_id: id, content: 'found' },
  ]
}
