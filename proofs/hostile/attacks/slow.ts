/** Callers that read slowly or not at all, and callers that write slowly. */
import { type Attack, frame, type Keys, request } from './attack.ts'

const CHAT = '/v1/chat/completions'
const MB = 1024 ** 2

const chat = (model: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: 'hello' }],
  ...more,
})

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

function upgrade(key: string): Buffer {
  const head = request('/v1/responses', key, Buffer.alloc(0), UPGRADE).toString('latin1')
  return Buffer.from(head.replace('POST', 'GET').replace(/content-[^\r]*\r\n/g, ''))
}

const turn = (bytes: number) => {
  const create = { type: 'response.create', model: 'sim-chat', input: 'x'.repeat(bytes) }
  return frame(JSON.stringify({ ...create, generate: false }))
}

const UPLOAD_HEAD =
  '--edge\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'

/** A request whose length says 10 MB, with its first bytes. */
function begun(path: string, key: string, start: string, type: string): Buffer {
  const headers = { 'content-length': 10 * MB, 'content-type': type }
  return request(path, key, Buffer.from(start), headers)
}

const PLAIN = { role: 'slow writer', manner: { kind: 'drip', everyMs: 500 } } as const

export const SLOW_ATTACKS: readonly Attack[] = [
  {
    name: 'whole answers of 60 MB, unread',
    role: 'slow reader',
    manner: { kind: 'unread', connections: 30 },
    prepare: ({ reader }) => [request(CHAT, reader, chat('liar-large-answer'))],
  },
  {
    name: 'streams, unread',
    role: 'slow reader',
    manner: { kind: 'unread', connections: 60 },
    prepare: ({ reader }) => [request(CHAT, reader, chat('liar-large-events', { stream: true }))],
  },
  {
    name: 'errors over a WebSocket, unread',
    role: 'slow reader',
    manner: { kind: 'socket', connections: 2, perSecond: 40 },
    prepare: ({ poor }) => [upgrade(poor), Buffer.concat(Array(2_000).fill(frame('{}')))],
  },
  {
    name: 'turns of 4 MB over 72 WebSockets, generate: false',
    role: 'slow reader',
    manner: { kind: 'socket', connections: 72, perSecond: 8 },
    prepare: ({ poor }) => [upgrade(poor), turn(4 * MB)],
  },
  {
    name: 'small turns over a WebSocket, generate: false',
    role: 'without balance',
    manner: { kind: 'socket', connections: 10, perSecond: 200 },
    prepare: ({ poor }) => [upgrade(poor), turn(10)],
  },
  {
    ...PLAIN,
    name: 'slow uploads',
    manner: { ...PLAIN.manner, connections: 100 },
    prepare: ({ writer }: Keys) => {
      return [begun('/v1/files', writer, UPLOAD_HEAD, 'multipart/form-data; boundary=edge')]
    },
  },
  {
    ...PLAIN,
    name: 'slow recordings',
    manner: { ...PLAIN.manner, connections: 300 },
    prepare: ({ writer }: Keys) => {
      const type = 'multipart/form-data; boundary=edge'
      return [begun('/v1/audio/transcriptions', writer, UPLOAD_HEAD, type)]
    },
  },
  {
    ...PLAIN,
    name: 'slow bodies',
    manner: { ...PLAIN.manner, connections: 500 },
    prepare: ({ writer }: Keys) => [
      begun(CHAT, writer, '{"model":"sim-chat",', 'application/json'),
    ],
  },
  {
    ...PLAIN,
    name: 'slow heads without a key',
    manner: { ...PLAIN.manner, connections: 1_000 },
    prepare: () => [Buffer.from('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-slow: a')],
  },
]
