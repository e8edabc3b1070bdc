/**
 * Documents of vendors that state no length, cut off by the end of the connection: the work may
 * have been done and billed, so no other route is asked for it.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'

const PICTURE = { data: [{ b64_json: 'a {"picture"} in base 64' }], usage: { images: 1 } }
const ANSWERS = {
  '/v1/chat/completions': [
    { model: 'chat', messages: [{ role: 'user', content: 'hi' }] },
    { choices: [{ index: 0, message: { role: 'assistant', content: 'a } b' } }], usage: {} },
  ],
  '/v1/embeddings': [
    { model: 'vectors', input: 'hi' },
    { data: [{ index: 0, embedding: [0.25, 1] }], usage: { prompt_tokens: 1 } },
  ],
  '/v1/moderations': [{ model: 'judge', input: 'hi' }, { results: [{ flagged: false }] }],
  '/v1/images/generations': [{ model: 'pictures', prompt: 'hi' }, PICTURE],
} as const
const PATHS = Object.keys(ANSWERS) as (keyof typeof ANSWERS)[]

let gateway: TestGateway
let first: LocalServer
let second: LocalServer
let sent = ''

before(async () => {
  first = await startServer(async (request) => {
    await request.resume().toArray()
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n'
    request.socket.end(head + sent)
  })
  second = await startServer((_request, response) => response.writeHead(500).end())
  gateway = await startTestGateway()
  const channel = (id: string, { url }: LocalServer) => ({
    id,
    upstream: 'openai-compatible',
    settings: { base_url: url, api_key: 'a-key' },
  })
  const model = (id: string, type: string, unit: string) => ({
    id,
    type,
    prices: [{ unit, per: 1, amount: '0.001' }],
    routes: [
      { channel: 'first', upstream_model: id, priority: 0 },
      { channel: 'second', upstream_model: id, priority: 1 },
    ],
  })
  await gateway.apply({
    channels: [channel('first', first), channel('second', second)],
    models: [
      model('chat', 'chat', 'output_token'),
      model('vectors', 'embedding', 'input_token'),
      model('judge', 'moderation', 'call'),
      model('pictures', 'image', 'image'),
    ],
  })
})
after(async () => {
  await gateway.stop()
  await first.stop()
  await second.stop()
})

async function ask(path: (typeof PATHS)[number], body: string) {
  sent = body
  const { key, accountId } = await gateway.tenant()
  const before = await gateway.balance(accountId)
  const answer = await gateway.post(path, key, ANSWERS[path][0])
  assert.equal(answer.status, 502, `${body}: ${answer.text}`)
  assert.deepEqual(await gateway.balance(accountId), before)
  return (await gateway.record(answer, key)).attempts.map(({ outcome }) => outcome)
}

test('wherever a document is cut, its work is not bought again, nor charged', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...PATHS), fc.nat(), async (path, at) => {
      const text = JSON.stringify(ANSWERS[path][1])
      const outcomes = await ask(path, text.slice(0, 1 + (at % (text.length - 1))))
      // Channels that failed before are tried last: what matters is that nothing comes behind it.
      assert.equal(outcomes.indexOf('unknown'), outcomes.length - 1, `${outcomes}`)
    }),
    { numRuns: 60 },
  )
})

test('a whole document that is an error leads to the next route', async () => {
  for (const path of PATHS) {
    for (const end of ['', '\n', ' \r\n']) {
      const outcomes = await ask(path, `{"error":{"message":"busy"}}${end}`)
      assert.deepEqual(outcomes, ['failed', 'failed'])
    }
  }
})
