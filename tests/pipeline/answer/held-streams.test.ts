/** What streams hold of events that do not end is in the memory of their account. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import { createChatRelay } from '../../../server/wire/dialects/chat/relay.ts'
import { createChatUnfolder } from '../../../server/wire/dialects/chat/unfold-body.ts'
import { createChatStream } from '../../../server/wire/dialects/chat-over-messages/writer.ts'
import { createCompletionStream } from '../../../server/wire/dialects/completions-over-chat/answer.ts'
import { createImagesTap } from '../../../server/wire/dialects/images/tap.ts'
import { createMessagesTap } from '../../../server/wire/dialects/messages/tap.ts'
import { createMessagesStream } from '../../../server/wire/dialects/messages-over-chat/writer.ts'
import type { Relay } from '../../../server/wire/dialects/relay.ts'
import { createResponsesTap } from '../../../server/wire/dialects/responses/tap.ts'
import { createResponsesStream } from '../../../server/wire/dialects/responses-over-chat/writer.ts'
import { createSpeechTap } from '../../../server/wire/dialects/speech/tap.ts'
import { createAudioEventTap } from '../../../server/wire/dialects/synthesis/tap.ts'
import { createSynthesisStream } from '../../../server/wire/dialects/synthesis-over-speech/stream.ts'
import { createTranscriptTap } from '../../../server/wire/dialects/transcription/read-usage.ts'
import { HeldBytes } from '../../../server/work/pipeline/answer/count-held.ts'
import { openRoom } from '../../../server/work/pipeline/answer/receive-whole.ts'
import { answerOptions } from '../../dialects/messages-over-chat/answer-options.ts'
import { answerOptions as responseOptions } from '../../dialects/responses-over-chat/answer-options.ts'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { testMemory } from '../../support/memory.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'
import { until } from '../../support/until.ts'

const MB = 1024 ** 2
const STREAMS = 30
const CUT_LEAST = 20
const CHUNK = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'a word' } }] })}\n\n`
const LONG_START = Buffer.from(
  `data: {"choices": [{"index": 0, "delta": {"content": "${'x'.repeat(2 * MB)}`,
)
const LONG_END = '"}, "finish_reason": "stop"}]}\n\n'
const USAGE = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
const END = `data: ${JSON.stringify({ choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`

let gateway: TestGateway
let vendor: LocalServer
const answers: ServerResponse[] = []
let isEnding = false

before(async () => {
  vendor = await startServer((request, response) => {
    request.resume()
    response.on('error', () => undefined)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(CHUNK)
    response.write(LONG_START)
    answers.push(response)
    // A call that comes late would otherwise wait for its timeout.
    if (isEnding) response.end(LONG_END + END)
  })
  gateway = await startTestGateway({ MEMORY_BYTES_MAX: '16MB', CHAT_BODY_BYTES_MAX: '1MB' })
  const price = (unit: string) => ({ unit, per: 1, amount: '0.001' })
  await gateway.apply({
    channels: [
      {
        id: 'long',
        upstream: 'openai-compatible',
        settings: { base_url: `${vendor.url}/v1`, api_key: 'a-key' },
      },
    ],
    models: [
      {
        id: 'long',
        type: 'chat',
        prices: [price('input_token'), price('output_token')],
        routes: [{ channel: 'long', upstream_model: 'm' }],
      },
    ],
  })
})
after(async () => {
  for (const answer of answers) answer.destroy()
  await gateway.stop()
  await vendor.stop()
})

test('thirty events that do not end, of one account', async () => {
  const { key, accountId } = await gateway.tenant({ balance: '100000' })
  const messages = [{ role: 'user', content: 'hi' }]
  const body = { model: 'long', stream: true, max_tokens: 100, messages }
  let ended = 0
  const call = async (at: number) => {
    const path = at % 2 === 0 ? '/v1/chat/completions' : '/v1/messages'
    const answer = await gateway.post(path, key, body, { 'anthropic-version': '2023-06-01' })
    ended += 1
    return answer
  }
  const calls = Array.from({ length: STREAMS }, (_, at) => call(at))
  await until('most streams to be cut', () => ended >= CUT_LEAST)
  isEnding = true
  for (const answer of answers) answer.end(LONG_END + END)
  const answered = await Promise.all(calls)
  const last = await call(0)
  assert.ok(last.text.includes('x'.repeat(2 * MB)), 'what the others had is free again')
  for (const answer of [...answered, last]) {
    assert.equal(answer.status, 200, answer.text.slice(-500))
    const { status, basis, charged, held } = await gateway.record(answer, key)
    const isWhole = answer.text.includes('x'.repeat(2 * MB))
    assert.equal(answer.text.includes('upstream provider error'), !isWhole)
    assert.equal(basis, isWhole ? 'usage' : 'partial')
    assert.equal(status, isWhole ? 'succeeded' : 'failed')
    assert.ok(Number(charged) > 0 && Number(charged) <= Number(held))
  }
  assert.deepEqual(await gateway.balance(accountId).then(({ held, debt }) => ({ held, debt })), {
    held: 0n,
    debt: 0n,
  })
})

const RELAYS: Readonly<Record<string, () => Relay>> = {
  chat: () => createChatRelay({ includeUsage: true }),
  'chat, of a document': () => createChatUnfolder(),
  'chat over messages': () =>
    createChatStream({ model: 'm', id: 'id', includeUsage: true } as never),
  completions: () => createCompletionStream({ model: 'm' } as never),
  images: () => createImagesTap(1),
  messages: () => createMessagesTap(),
  'messages over chat': () => createMessagesStream(answerOptions()),
  responses: () => createResponsesTap(),
  'responses over chat': () => createResponsesStream(responseOptions()),
  speech: () => createAudioEventTap(),
  transcripts: () => createTranscriptTap(),
}
const OF_OBJECTS: Readonly<Record<string, () => Relay>> = {
  'lines of speech': () => createSpeechTap(),
  'speech over lines': () => createSynthesisStream({}),
}

test('every relay says what it holds', () => {
  const held = (relay: Relay, start: string) => {
    relay.push(Buffer.from(start))
    for (let count = 0; count < 16; count += 1) relay.push(Buffer.alloc(MB / 16, 'x'))
    return relay.heldBytes?.() ?? 0
  }
  for (const [name, create] of Object.entries(RELAYS)) {
    assert.ok(held(create(), 'data: {"a":"') >= MB, name)
  }
  for (const [name, create] of Object.entries(OF_OBJECTS)) {
    assert.ok(held(create(), '{"a":"') >= MB, name)
  }
})

test('what is held no longer is not counted', () => {
  const memory = testMemory({ bytesMax: 64 * MB })
  const relay = createChatRelay({ includeUsage: true })
  const held = new HeldBytes(relay, openRoom({ limits: {} as never, memory }, 'a'))
  const push = (chunk: Buffer) => {
    relay.push(chunk)
    held.add(chunk.length, 0)
  }
  push(LONG_START)
  assert.ok(memory.bytes.usedInAll() >= 2 * MB)
  push(Buffer.from(LONG_END))
  for (let count = 0; count < 5000; count += 1) push(Buffer.from(CHUNK))
  assert.equal(memory.bytes.usedInAll(), 0)
})
