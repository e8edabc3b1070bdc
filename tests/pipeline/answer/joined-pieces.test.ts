/** What arrives in one read of the vendor's connection is delivered and charged exactly. */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { drip } from '../../support/servers/drip.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'

const CHAT = '/v1/chat/completions'
const HEAD = [
  'HTTP/1.1 200 OK',
  'content-type: text/event-stream',
  'transfer-encoding: chunked',
  'connection: close',
]
const END = '0\r\n\r\n'
const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`
const chunk = (more: object) =>
  event({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...more })
const choice = (delta: object, reason: string | null = null) =>
  chunk({ choices: [{ index: 0, delta, finish_reason: reason }] })
const WORDS = [
  choice({ role: 'assistant', content: '' }),
  ...Array.from({ length: 100 }, (_, at) => choice({ content: `word ${at} ` })),
]
const USAGE = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 }
const ENDING = [choice({}, 'stop'), chunk({ choices: [], usage: USAGE }), 'data: [DONE]\n\n']
const ERROR = event({ error: { message: 'overloaded', type: 'server_error' } })
const frame = (piece: string) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`

let gateway: TestGateway
let vendor: LocalServer
let answer: (socket: Socket) => unknown = () => undefined

before(async () => {
  vendor = await startServer((request) => {
    request.resume().on('end', () => answer(request.socket))
  })
  gateway = await startTestGateway()
  const settings = { base_url: `${vendor.url}/v1`, api_key: 'a-key' }
  const price = (unit: string) => ({ unit, per: 1, amount: '0.001' })
  await gateway.apply({
    channels: [{ id: 'fast', upstream: 'openai-compatible', settings }],
    models: [
      {
        id: 'chat',
        type: 'chat',
        prices: [price('input_token'), price('output_token')],
        routes: [{ channel: 'fast', upstream_model: 'chat' }],
      },
    ],
  })
})
after(async () => {
  await gateway.stop()
  await vendor.stop()
})

interface Sent {
  readonly isTogether: boolean
  readonly end?: string
  readonly stream?: boolean
}

async function call(key: string, pieces: readonly string[], sent: Sent) {
  const { isTogether, end = END, stream = true } = sent
  answer = async (socket) => {
    const head = `${HEAD.join('\r\n')}\r\n\r\n`
    if (isTogether) {
      socket.end(head + pieces.map(frame).join('') + end)
      return
    }
    socket.write(head)
    const left = pieces.map(frame)
    await drip(socket, 1, () => left.shift())
    socket.end(end)
  }
  const messages = [{ role: 'user', content: 'hi' }]
  const options = stream ? { stream, stream_options: { include_usage: true } } : {}
  const body = { model: 'chat', ...options, max_tokens: 10_000, messages }
  const reply = await gateway.post(CHAT, key, body)
  const { status, basis, charged, lines } = await gateway.record(reply, key)
  const shown = reply.text.replaceAll(/req_\w+/g, 'req')
  return { code: reply.status, text: shown, status, basis, charged, lines }
}

for (const [name, pieces, end, found] of [
  ['a whole stream', [...WORDS, ...ENDING], END, { basis: 'usage', charged: '1.5' }],
  ['events behind the end', [...WORDS, ...ENDING, ': late\n\n'], END, { basis: 'usage' }],
  ['a stream that is cut between events', WORDS, '', { basis: 'partial', status: 'failed' }],
  ['a cut behind the usage', [...WORDS, ...ENDING.slice(0, 2)], '', { basis: 'usage' }],
  ['an error of the vendor', [...WORDS, ERROR], END, { basis: 'partial', status: 'failed' }],
  ['broken framing', WORDS, 'no length', { basis: 'partial', status: 'failed' }],
] as const) {
  test(`${name}, together: as one by one`, async () => {
    const { key } = await gateway.tenant()
    const together = await call(key, pieces, { isTogether: true, end })
    assert.deepEqual(together, await call(key, pieces, { isTogether: false, end }))
    for (const [member, value] of Object.entries(found)) {
      assert.equal(together[member as keyof typeof together], value, member)
    }
    assert.ok(together.text.startsWith(WORDS.join('')))
  })
}

const MESSAGE = { role: 'assistant', content: 'some words' }
const COMPLETION = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: MESSAGE, finish_reason: 'stop' }],
  usage: USAGE,
})

for (const [name, whole] of [
  ['a whole answer', COMPLETION],
  ['a stream in place of a whole answer', [...WORDS, ...ENDING].join('')],
] as const) {
  test(`${name} in any number of pieces behind its head is read to its end`, async () => {
    const { key } = await gateway.tenant()
    const inOne = await call(key, [whole], { isTogether: true, stream: false })
    assert.deepEqual([inOne.code, inOne.basis, inOne.charged], [200, 'usage', '1.5'])
    for (const count of [2, 3, 10]) {
      const size = Math.ceil(whole.length / count)
      const pieces = Array.from({ length: count }, (_, at) =>
        whole.slice(at * size, size * (at + 1)),
      )
      const found = await call(key, pieces, { isTogether: true, stream: false })
      assert.deepEqual(found, inOne, `${count} pieces`)
    }
  })
}
