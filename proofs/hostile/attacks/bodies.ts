/** Requests whose reading costs much, from an account without balance. */
import { gzipSync } from 'node:zlib'
import { type Attack, type Keys, type Manner, request } from './attack.ts'

const CHAT = '/v1/chat/completions'
const MB = 1024 ** 2

const user = (content: unknown) => ({ role: 'user', content })
const chat = (more: object) => ({ model: 'sim-chat', messages: [user('hello')], ...more })
const text = (bytes: number) => ({ type: 'text', text: '-'.repeat(bytes) })

/** JSON of a chat whose text has `bytes` spaces. */
function padded(bytes: number): Buffer {
  return Buffer.from(JSON.stringify(chat({ messages: [user(' '.repeat(bytes))] })))
}

const calls = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    id: `call_${at}`,
    type: 'function',
    function: { name: 'f', arguments: '{}' },
  }))

/** `count` members that are null, and one more. */
function nulls(count: number): Buffer {
  const members = Array.from({ length: count }, (_, at) => `"n${at}":null`).join()
  return Buffer.from(`{"model":"sim-chat","messages":[{"role":"user","content":"x"}],${members}}`)
}

interface Costly {
  readonly name: string
  readonly path?: string
  readonly body: () => Buffer | object
  readonly headers?: Readonly<Record<string, string>>
  readonly manner?: Manner
}

const SEVERAL: Manner = { kind: 'flood', perSecond: 4, connections: 4 }
const GZIP = { 'content-encoding': 'gzip' }

const COSTLY: readonly Costly[] = [
  {
    name: '160 kB of - in a prompt of a video',
    path: '/v1/videos/generations',
    body: () => ({ model: 'doubao-seedance-2-0-260128', content: [text(160_000)] }),
  },
  {
    name: 'data URL of 150 kB',
    body: () => {
      const url = `data:${'a'.repeat(150_000)}`
      const content = [{ type: 'image_url', image_url: { url } }]
      return { model: 'sim-claude', messages: [user(content)] }
    },
  },
  { name: '100,000 null members', body: () => nulls(100_000) },
  {
    name: '15,000 tool calls in a turn',
    body: () => {
      const turn = { role: 'assistant', content: null, tool_calls: calls(15_000) }
      return { model: 'sim-claude', messages: [user('x'), turn, user('y')] }
    },
  },
  {
    name: '60 levels of 500,000 brackets',
    body: () => {
      const nest = `${'['.repeat(60)}${'[],'.repeat(500_000)}0${']'.repeat(60)}`
      return Buffer.from(`{"model":"sim-chat","messages":[],"metadata":${nest}}`)
    },
  },
  { name: 'gzip bodies of 60 MB', body: () => gzipSync(padded(60 * MB)), headers: GZIP },
  {
    name: 'gzip bodies of 60 MB, held before their end',
    body: () => gzipSync(padded(60 * MB)),
    headers: GZIP,
    manner: { kind: 'hold', connections: 40 },
  },
  {
    name: 'bodies of 60 MB, held before their end',
    body: () => padded(60 * MB),
    manner: { kind: 'hold', connections: 8 },
  },
  {
    name: '64,000 messages of 900 bytes',
    body: () => chat({ messages: Array(64_000).fill(user('ab '.repeat(300))) }),
    manner: { kind: 'flood', perSecond: 1, connections: 2 },
  },
  {
    name: 'invalid JSON of 1 MB',
    body: () => Buffer.from(`{"model":"sim-chat","messages":[${'{},'.repeat(330_000)}`),
    manner: { kind: 'flood', perSecond: 20, connections: 8 },
  },
]

function toAttack({ name, path = CHAT, body, headers = {}, manner = SEVERAL }: Costly): Attack {
  const prepare = ({ poor }: Keys) => [request(path, poor, body(), headers)] as const
  return { name, role: 'without balance', manner, prepare }
}

export const BODY_ATTACKS: readonly Attack[] = COSTLY.map(toAttack)
