/** Valid bodies of every endpoint, and hostile mutations of them. */
import type { Random } from '../../../testbed/random.ts'

/** JSON text that JSON.stringify never writes, for example `1e400`. */
class Raw {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export const VALID: readonly [readonly [string, object], ...(readonly [string, object])[]] = [
  [
    '/v1/chat/completions',
    {
      model: 'sim-chat',
      stream: true,
      max_tokens: 20,
      n: 1,
      temperature: 0.5,
      top_p: 1,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      stream_options: { include_usage: true },
      user: 'u',
      stop: ['x'],
      tool_choice: 'auto',
    },
  ],
  ['/v1/chat/completions', { model: 'sim-chat', messages: [{ role: 'user', content: 'hello' }] }],
  [
    '/v1/embeddings',
    { model: 'sim-embedding', input: ['a', 'b'], dimensions: 8, encoding_format: 'float' },
  ],
  ['/v1/moderations', { model: 'sim-moderation', input: ['a', 'b'] }],
  ['/v1/search', { Type: 'web', Query: 'rivers', Count: 3, SearchType: 'web' }],
  [
    '/v1/audio/speech/unidirectional?model=seed-tts-2.0',
    {
      user: { uid: '1' },
      req_params: {
        text: 'hello',
        speaker: 'zh_female_vv_uranus_bigtts',
        audio_params: { format: 'mp3', sample_rate: 24000 },
        additions: { silence_duration: 10 },
      },
    },
  ],
  [
    '/v1/messages',
    { model: 'sim-claude', max_tokens: 10, messages: [{ role: 'user', content: 'hello' }] },
  ],
  ['/v1/responses', { model: 'sim-chat', input: [{ role: 'user', content: 'hello' }] }],
]

const ODD_VALUES: readonly [unknown, ...unknown[]] = [
  null,
  true,
  0,
  -1,
  1.5,
  '',
  'x'.repeat(70_000),
  'nonsense',
  '\u0000',
  '\u202e\ufeff\u0000\u001b[2J',
  [],
  {},
  [null],
  [[[[[]]]]],
  { a: { b: { c: 1 } } },
  new Raw('1e400'),
  new Raw('-1e400'),
  new Raw('NaN'),
  new Raw('Infinity'),
  new Raw('-0'),
  new Raw('9007199254740993'),
  new Raw('123456789012345678901234567890'),
  new Raw('01'),
  new Raw("'single'"),
  new Raw('"\\ud800"'),
  new Raw('"\\udc00\\ud800"'),
  new Raw('"\\x41"'),
  new Raw('"unterminated'),
  new Raw('undefined'),
  new Raw('/* comment */ 1'),
  new Raw('{"__proto__":{"polluted":true}}'),
  new Raw('{"constructor":{"prototype":{"polluted":true}}}'),
  new Raw('{"a":1,"a":2}'),
  new Raw(`${'['.repeat(5_000)}${']'.repeat(5_000)}`),
  new Raw(`${'{"a":'.repeat(2_000)}1${'}'.repeat(2_000)}`),
]

/** Writes JSON, with `Raw` parts as they are. */
function write(value: unknown): string {
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([key, one]) => `${JSON.stringify(key)}:${write(one)}`,
    )
    return `{${members.join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/** Returns the paths of all values inside a value, including itself. */
function pathsOf(value: unknown, prefix: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [prefix]
  const inner = Object.entries(value).flatMap(([key, one]) => pathsOf(one, [...prefix, key]))
  return [prefix, ...inner]
}

function replaceAt(value: unknown, path: readonly string[], replacement: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return replacement
  if (Array.isArray(value)) {
    return value.map((one, index) =>
      String(index) === step ? replaceAt(one, rest, replacement) : one,
    )
  }
  if (typeof value !== 'object' || value === null) return replacement
  const entries = Object.entries(value).map(([key, one]) => [
    key,
    key === step ? replaceAt(one, rest, replacement) : one,
  ])
  return Object.fromEntries(entries)
}

export interface HostileBody {
  readonly path: string
  readonly body: Buffer
  readonly name: string
}

type Mutation = (random: Random, body: object) => Buffer

const fromText = (text: string) => Buffer.from(text)

/** Each takes a valid body and returns bytes that no regular client sends. */
const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'odd value': (random, body) => {
    const paths = pathsOf(body)
    const path = paths[random.integer(0, paths.length - 1)] ?? []
    return fromText(write(replaceAt(body, path, random.pick(ODD_VALUES))))
  },
  truncated: (random, body) => {
    const text = JSON.stringify(body)
    return fromText(text.slice(0, random.integer(0, text.length - 1)))
  },
  'byte flipped': (random, body) => {
    const bytes = fromText(JSON.stringify(body))
    for (let count = random.integer(1, 4); count > 0; count -= 1) {
      bytes[random.integer(0, bytes.length - 1)] = random.integer(0, 255)
    }
    return bytes
  },
  'duplicate key': (_, body) => {
    const text = JSON.stringify(body)
    return fromText(`${text.slice(0, -1)},${text.slice(1)}`)
  },
  'unknown keys': (random, body) => {
    const names = Array.from({ length: random.integer(1, 3_000) }, (_, index) => [`k${index}`, 1])
    return fromText(JSON.stringify({ ...body, ...Object.fromEntries(names) }))
  },
  prototype: (_, body) => {
    const text = JSON.stringify(body)
    return fromText(`{"__proto__":{"model":"sim-chat","polluted":1},${text.slice(1)}`)
  },
  deep: (random) => {
    const depth = random.pick([65, 100, 1_000, 100_000])
    return fromText(`{"model":"sim-chat","messages":${'['.repeat(depth)}${']'.repeat(depth)}}`)
  },
  'bad UTF-8': (random, body) => {
    const text = fromText(JSON.stringify(body))
    const bad = random.pick([[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80]])
    const at = random.integer(0, text.length)
    return Buffer.concat([text.subarray(0, at), Buffer.from(bad), text.subarray(at)])
  },
  empty: () => Buffer.alloc(0),
  'not an object': (random) => fromText(random.pick(['null', '[]', '"x"', '1', 'true', ' ', '{}'])),
  'byte order mark': (_, body) => fromText(`\ufeff${JSON.stringify(body)}`),
  'UTF-16': (_, body) => Buffer.from(JSON.stringify(body), 'utf16le'),
  noise: (random) => random.bytes(random.integer(1, 2_000)),
  'trailing text': (_, body) => fromText(`${JSON.stringify(body)}{}`),
  'white space': (_, body) => fromText(`${' \n\t'.repeat(20_000)}${JSON.stringify(body)}`),
}
const MUTATION_NAMES = Object.keys(MUTATIONS)

export function spoilBody(random: Random): HostileBody {
  const [path, body] = random.pick(VALID)
  // Half of all mutations are wrong values, since fields outnumber the other mutations.
  const name =
    random.next() < 0.5
      ? 'odd value'
      : (MUTATION_NAMES[random.integer(0, MUTATION_NAMES.length - 1)] ?? 'empty')
  const mutate = MUTATIONS[name]
  return { path, name, body: mutate ? mutate(random, body) : Buffer.alloc(0) }
}
