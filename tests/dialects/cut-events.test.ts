/**
 * Events of a passing stream that no SDK can read: a part of one ends the stream with the dialect's
 * error, and usage behind it is still read; what is no event at all is left out.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMessagesTap } from '../../server/wire/dialects/messages/tap.ts'
import type { Relay } from '../../server/wire/dialects/relay.ts'
import { createResponsesTap } from '../../server/wire/dialects/responses/tap.ts'

const named = (type: string, data: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`

const text = { type: 'text_delta', text: 'Danube' }
const DIALECTS = {
  messages: {
    create: () => createMessagesTap(),
    begin: [
      named('message_start', { message: { usage: { input_tokens: 7, output_tokens: 1 } } }),
      named('content_block_delta', { index: 0, delta: text }),
      named('content_block_delta', { index: 0, delta: text }),
    ].join(''),
    event: named('content_block_delta', { index: 0, delta: text }),
    rest:
      named('content_block_delta', { index: 0, delta: text }) +
      named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }) +
      named('message_stop', {}),
    error: /^event: error\ndata: \{"type":"error","error":\{"type":"api_error".*\}\n\n$/,
  },
  responses: {
    create: () => createResponsesTap(),
    begin:
      named('response.created', { sequence_number: 0, response: { id: 'resp_1' } }) +
      named('response.output_text.delta', { sequence_number: 1, delta: 'Danube' }),
    event: named('response.output_text.delta', { sequence_number: 2, delta: 'Danube' }),
    rest: named('response.completed', {
      response: { id: 'resp_1', usage: { input_tokens: 7, output_tokens: 5 } },
    }),
    error: /^event: response.failed\ndata: \{"type":"response.failed".*\}\n\n$/,
  },
} as const

function run(relay: Relay, body: string, size: number): string {
  let out = ''
  for (let at = 0; at < body.length; at += size) {
    out += relay.push(Buffer.from(body.slice(at, at + size)))?.toString() ?? ''
  }
  return out + (relay.end()?.toString() ?? '')
}

for (const [name, { create, begin, event, rest, error }] of Object.entries(DIALECTS)) {
  test(`${name}: a part of an event ends the stream; its usage counts`, () => {
    const parts = [1, 2, 9, 30].map((bytes) => `${event.slice(0, -2 - bytes)}\n\n`)
    for (const part of [...parts, parts.join('')]) {
      for (const size of [1, 7, 100_000]) {
        const relay = create()
        const sent = run(relay, begin + part + rest, size)
        assert.ok(sent.startsWith(begin))
        assert.match(sent.slice(begin.length), error, `cut to ${part}`)
        const report = relay.report()
        assert.deepEqual(report.usage, { input_token: 7, output_token: 5 })
        assert.ok(report.error)
        assert.equal(report.finished, false)
      }
    }
  })

  test(`${name}: what is no event is left out, or is one that the SDKs ignore`, () => {
    for (const noise of ['data: keep-alive\n\n', 'data:\n\n', 'data: null\n\n', 'data: [1]\n\n']) {
      const relay = create()
      const sent = run(relay, begin + noise + rest, 100_000)
      assert.equal(sent.replace(name === 'messages' ? noise : '', ''), begin + rest)
      assert.equal(relay.report().error, undefined)
    }
    const isNamed = `event: content_block_delta\ndata: nothing\n\n`
    assert.equal(run(create(), begin + isNamed + rest, 100_000), begin + rest)
  })

  test(`${name}: comments, and members behind the data, pass as they are`, () => {
    const odd = `: hello\n\n${event.slice(0, -1)}id: 3\n\n`
    assert.equal(run(create(), begin + odd + rest, 5), begin + odd + rest)
  })
}
