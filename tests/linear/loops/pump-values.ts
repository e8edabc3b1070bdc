/** Values of a size that grows with `n`, in the shapes of requests, answers and events. */
import type { JsonObject } from '../../../server/base/lib/json.ts'
import { chunkFrame, frameOf } from '../../../simulators/bedrock/frames.ts'

type Make<T> = (index: number) => T

/** The first index: all have as many digits, so that twice the entries are twice the bytes. */
const FIRST = 1000
const many = <T>(n: number, make: Make<T>): T[] =>
  Array.from({ length: n }, (_, at) => make(FIRST + at))
const named = (n: number, make: Make<unknown>): JsonObject =>
  Object.fromEntries(many(n, (at) => [`k${at}`, make(at)]))

const call = (at: number) => ({
  index: at,
  id: `call_${at}`,
  type: 'function',
  function: { name: `f${at}`, arguments: '{"a":1}' },
})
const part = (at: number) => ({ type: 'text', text: `t${at}` })
const tool = (at: number) => ({
  type: 'function',
  name: `f${at}`,
  parameters: {},
  input_schema: {},
})
const block = (at: number) => ({ type: 'tool_use', id: `toolu_${at}`, name: `f${at}`, input: {} })
const result = (at: number) => ({ type: 'tool_result', tool_use_id: `toolu_${at}`, content: 'r' })
const item = (at: number) => ({
  type: 'function_call',
  id: `fc_${at}`,
  call_id: `call_${at}`,
  name: `f${at}`,
  arguments: '{}',
})
const output = (at: number) => ({
  type: 'function_call_output',
  call_id: `call_${at}`,
  output: 'x',
})
const image = (at: number) => ({ type: 'image_url', image_url: { url: `https://x.test/${at}` } })

const toolTurn: Make<object> = (at) => ({
  role: 'tool',
  tool_call_id: `call_${at}`,
  content: 'r',
})
const calls = (n: number) => ({ role: 'assistant', content: null, tool_calls: many(n, call) })
const callOf = (at: number) => ({ role: 'assistant', content: null, tool_calls: [call(at)] })

const LISTS: Readonly<Record<string, Make<unknown>>> = {
  calls: call,
  parts: part,
  tools: (at) => ({ type: 'function', function: { name: `f${at}`, parameters: {} } }),
  flatTools: tool,
  blocks: block,
  results: result,
  items: item,
  outputs: output,
  images: image,
  users: (at) => ({ role: 'user', content: `u${at}` }),
  turns: (at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: [part(at)] }),
  toolTurns: toolTurn,
  texts: (at) => `text ${at}`,
  numbers: (at) => at,
  nulls: () => null,
  choices: (at) => ({ index: at, delta: { content: 'x' }, message: { content: 'x' } }),
}

/** The members in which dialects have lists. */
const MEMBERS = `messages input content tools choices output data tool_calls functions stop include
  results annotations system`.split(/\s+/)
const TURNS = ['user', 'assistant', 'tool', 'system']
const CHARACTERS = ['a', ' ', '\n', '"', '\\', '{', '[', '-', 'data:', 'a,', '<', '&', '\u00e9']

/** A request of every dialect, as small as can be. */
const REQUEST = { model: 'm', max_tokens: 16 }
const ASKED = { ...REQUEST, messages: [{ role: 'user', content: 'x' }], prompt: 'x', input: 'x' }

/**
 * Returns groups of values by name; twice `n` gives about twice as many entries or characters of
 * each. A group has one kind of entry in all places where documents may have it.
 */
export function pumpValues(n: number): ReadonlyMap<string, readonly unknown[]> {
  const groups = new Map<string, readonly unknown[]>()
  for (const [name, make] of Object.entries(LISTS)) {
    const list = many(n, make)
    const turns = TURNS.map((role) => ({ ...REQUEST, messages: [{ role, content: list }] }))
    const spread = many(n, (at) => ({ role: 'user', content: [make(at)] }))
    const calling = { role: 'assistant', content: null, tool_calls: list }
    groups.set(name, [
      list,
      ...MEMBERS.map((member) => ({ ...ASKED, [member]: list })),
      ...turns,
      { ...REQUEST, messages: spread, input: spread },
      { ...REQUEST, messages: [calling] },
    ])
  }
  groups.set('calls and their results', [
    { ...REQUEST, messages: [calls(n), ...many(n, toolTurn)] },
    { ...REQUEST, messages: many(n, (at) => [callOf(at), toolTurn(at)]).flat() },
    {
      ...REQUEST,
      messages: [
        { role: 'assistant', content: many(n, block) },
        { role: 'user', content: many(n, result) },
      ],
    },
    { ...REQUEST, input: [...many(n, item), ...many(n, output)] },
    { ...REQUEST, input: many(n, (at) => [item(at), output(at)]).flat() },
  ])
  const long = 'k'.repeat(n * 8)
  groups.set(
    'lists below a long name',
    ['file_id', 'url', 'tools', 'content'].map((name) => {
      return { ...ASKED, extra: { [long]: { [name]: many(n, (at) => `file-${at}`) } } }
    }),
  )
  const usage = named(n, (at) => at)
  groups.set('members', [usage, named(n, () => null), { usage, message: { usage } }])
  const texts = CHARACTERS.map((character) => character.repeat(n))
  groups.set('texts', [...texts, ...texts.map((text) => ({ ...ASKED, prompt: text, input: text }))])
  return groups
}

const events = (n: number, make: Make<object>, name?: string): string =>
  many(n, (at) => `${name ? `event: ${name}\n` : ''}data: ${JSON.stringify(make(at))}\n\n`).join('')

/** Returns bodies of vendors by name: streams of many events, and of large ones. */
export function pumpBodies(n: number): ReadonlyMap<string, Buffer> {
  const chunk = (delta: object) => ({ id: 'c', choices: [{ index: 0, delta }] })
  const piece = (candidate: object) => ({ candidates: [candidate] })
  const calling = (at: number) => ({ functionCall: { id: `c${at}`, name: 'f', args: { a: at } } })
  const sources = (at: number) => ({ web: { uri: `u:${at}` } })
  const support = (at: number) => ({
    segment: { startIndex: at, endIndex: at },
    groundingChunkIndices: [0],
  })
  const grounded = (groundingMetadata: object) =>
    piece({ content: { parts: [{ text: 'x' }] }, groundingMetadata, finishReason: 'STOP' })
  const texts: Readonly<Record<string, string>> = {
    content: events(n, () => chunk({ role: 'assistant', content: 'x' })),
    reasoning: events(n, () => chunk({ reasoning_content: 'x' })),
    'many calls': events(n, (at) => chunk({ tool_calls: [call(at)] })),
    'one call': events(n, () => {
      return chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: 'x' } }] })
    }),
    'calls in one event': events(1, () => chunk({ tool_calls: many(n, call) })),
    usage: events(n, (at) => ({ choices: [], usage: { prompt_tokens: at, total_tokens: at } })),
    blocks: events(
      n,
      (at) => ({ type: 'content_block_start', index: at, content_block: block(at) }),
      'content_block_start',
    ),
    deltas: events(
      n,
      () => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'x' } }),
      'content_block_delta',
    ),
    items: events(
      n,
      (at) => ({ type: 'response.output_item.done', output_index: at, item: item(at) }),
      'response.output_item.done',
    ),
    contents: events(n, (at) => piece({ content: { parts: [{ text: 'x' }, calling(at)] } })),
    'contents in one event': events(1, () => piece({ content: { parts: many(n, calling) } })),
    'passages of one source': events(1, () => {
      return grounded({ groundingChunks: [sources(0)], groundingSupports: many(n, support) })
    }),
    'queries and sources': events(1, () => {
      const webSearchQueries = many(n, (at) => `q${at}`)
      return grounded({ webSearchQueries, groundingChunks: many(n, sources) })
    }),
    'sources again and again': events(n, (at) => {
      return grounded({ groundingChunks: [sources(at)], groundingSupports: [support(at)] })
    }),
    'counts so far': events(n, (at) => ({ usageMetadata: { promptTokenCount: at } })),
    objects: many(n, (at) => JSON.stringify({ reqid: at, code: 0, data: 'AAAA' })).join('\n'),
    comments: ': x\n\n'.repeat(n),
    'lines without an end': 'data: x\n'.repeat(n),
    'a line without an end': `data: ${'x'.repeat(n)}`,
    'open braces': '{'.repeat(n),
    quotes: '{"'.repeat(n),
    escapes: `{"a":"${'\\"'.repeat(n)}"}`,
    returns: '\r'.repeat(n),
  }
  return new Map(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]))
}

/** Returns bodies in frames by name. */
export function pumpFrames(n: number): ReadonlyMap<string, Buffer> {
  const delta = { type: 'text_delta', text: 'x' }
  const event = JSON.stringify({ type: 'content_block_delta', index: 0, delta })
  const header = (at: number): [string, string] => [`h${at}`, 'x']
  return new Map([
    ['events', Buffer.concat(many(n, () => chunkFrame(event, 'ab')))],
    ['empty frames', Buffer.concat(many(n, () => frameOf([], Buffer.alloc(0))))],
    ['headers of a frame', frameOf(many(n, header), Buffer.alloc(0))],
    ['a long frame', chunkFrame(event, 'x'.repeat(n * 50))],
  ])
}
