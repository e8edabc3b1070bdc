/** Answers of vendors that leave out what the official SDKs require. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMessagesBody } from '../../../server/wire/dialects/messages/read-body.ts'
import { repairMessage } from '../../../server/wire/dialects/messages/repair.ts'
import { createMessagesTap } from '../../../server/wire/dialects/messages/tap.ts'
import { createBodyTap } from '../../../server/wire/dialects/tap.ts'
import { fixture } from '../fixtures.ts'
import { askAnthropic } from '../messages-over-chat/ask-anthropic.ts'
import { chunkings, run } from '../replay.ts'

const options = { estimateInputTokens: () => 42 }
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const named = (data: { readonly type: string }) => `event: ${data.type}\n${event(data)}`

/** A stream of `count` deltas of one word each, without usage. */
function bare(count: number, write: (data: { readonly type: string }) => string): string {
  const delta = { type: 'text_delta', text: 'word ' }
  const message = { type: 'message', role: 'assistant', content: [], stop_reason: null }
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...Array(count).fill({ type: 'content_block_delta', index: 0, delta }),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ]
    .map(write)
    .join('')
}

test('events without a name get their type, at any chunking', async () => {
  const body = fixture('messages/no-event-lines.sse')
  for (const { name, chunks } of chunkings(body)) {
    const tap = createMessagesTap(options)
    const { content, usage } = await askAnthropic(run(tap, chunks))
    assert.deepEqual(content, [{ type: 'text', text: 'Hi' }], name)
    assert.deepEqual([usage.input_tokens, usage.output_tokens], [12, 18])
    assert.deepEqual(tap.report().usage?.output_token, 18)
  }
})

for (const [name, write] of [
  ['named', named],
  ['unnamed', event],
] as const) {
  test(`usage that a stream lacks is estimated for the caller alone: ${name} events`, async () => {
    const tap = createMessagesTap(options)
    const { content, usage } = await askAnthropic(run(tap, [Buffer.from(bare(20, write))]))
    assert.deepEqual(content, [{ type: 'text', text: 'word '.repeat(20) }])
    assert.deepEqual([usage.input_tokens, usage.output_tokens], [42, 25])
    const { usage: stated, outputBytes, finished } = tap.report()
    assert.deepEqual([stated, outputBytes, finished], [undefined, 100, true])
  })
}

test('a whole message without usage gets an estimate; one with usage keeps its bytes', () => {
  const read = (body: string) => {
    const tap = createBodyTap(
      (document) => readMessagesBody(document),
      (document, { outputBytes }) =>
        repairMessage(document, { inputTokensEstimate: 42, outputBytes }),
    )
    return [run(tap, [Buffer.from(body)]), tap.report().usage] as const
  }
  const message = { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'word' }] }
  for (const lacking of [message, { ...message, usage: null }]) {
    const [out, usage] = read(JSON.stringify(lacking))
    assert.deepEqual(JSON.parse(out).usage, { input_tokens: 42, output_tokens: 1 })
    assert.equal(usage, undefined)
  }
  const whole = `{ "usage" : {"output_tokens":3}, ${JSON.stringify(message).slice(1)}`
  assert.equal(read(whole)[0], whole)
  for (const other of ['{"type":"error","error":{"type":"api_error","message":"no"}}', 'no json']) {
    assert.equal(read(other)[0], other)
  }
})
