/** Errors that come inside of answers tell nothing of the vendor's inside, in any dialect. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChatRelay } from '../../server/wire/dialects/chat/relay.ts'
import { hideInBody } from '../../server/wire/dialects/hide-error.ts'
import { createMessagesTap } from '../../server/wire/dialects/messages/tap.ts'
import type { Relay } from '../../server/wire/dialects/relay.ts'
import { createResponsesTap } from '../../server/wire/dialects/responses/tap.ts'

const INSIDE = 'worker http://10.0.0.5:8000/v1 of gpu-7.prod.internal died'
const SHOWN = /worker \[address\] of \[address\] died/

function deliver(relay: Relay, frames: readonly string[]): string {
  const parts = frames.map((frame) => relay.push(Buffer.from(frame)))
  return Buffer.concat([...parts, relay.end()].filter((part) => part !== undefined)).toString()
}

const chunk = { id: 'c', choices: [{ index: 0, delta: { content: 'at http://10.0.0.5/' } }] }
const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const event = (type: string, members: object) => `event: ${type}\n${data({ type, ...members })}`

const STREAMS: Readonly<Record<string, readonly [Relay, readonly string[]]>> = {
  chat: [
    createChatRelay({ includeUsage: false }),
    [data(chunk), data({ error: { message: INSIDE, type: 'server_error' } })],
  ],
  'chat, a flat error': [
    createChatRelay({ includeUsage: false }),
    [data(chunk), data({ object: 'error', message: INSIDE })],
  ],
  messages: [
    createMessagesTap(),
    [event('error', { error: { type: 'api_error', message: INSIDE } })],
  ],
  'responses, failed': [
    createResponsesTap(),
    [
      event('response.failed', {
        response: { id: 'r', error: { code: 'server_error', message: INSIDE } },
      }),
    ],
  ],
  'responses, error': [createResponsesTap(), [event('error', { message: INSIDE })]],
  'responses, an error without a type': [
    createResponsesTap(),
    [data({ error: { code: 'x', message: INSIDE } })],
  ],
}

for (const [name, [relay, frames]] of Object.entries(STREAMS)) {
  test(`${name}: the stream has the error without private details`, () => {
    const output = deliver(relay, frames)
    assert.match(output, SHOWN)
    assert.doesNotMatch(output, /10\.0\.0\.5:8000|gpu-7/)
  })
}

test('what a model wrote is passed as it came', () => {
  const relay = createChatRelay({ includeUsage: false })
  assert.match(deliver(relay, [data(chunk)]), /at http:..10.0.0.5/)
  const body = Buffer.from(JSON.stringify({ ...chunk, error: null }))
  assert.equal(hideInBody(body), body)
  const failed = Buffer.from(JSON.stringify({ ...chunk, error: { message: INSIDE } }))
  const shown = JSON.parse(hideInBody(failed).toString())
  assert.match(shown.error.message, SHOWN)
  assert.deepEqual(shown.choices, chunk.choices)
})
