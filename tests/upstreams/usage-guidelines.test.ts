/** A vendor's refusal of the content under the status of a refused key. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { readCompatibleFailure } from '../../server/wire/upstreams/openai-compatible/read-failure.ts'

const CODE = 'The caller does not have permission to execute the specified operation'

const read = (error: string) =>
  readCompatibleFailure({
    status: 403,
    headers: { 'content-type': 'application/json' },
    body: Readable.from([Buffer.from(JSON.stringify({ code: CODE, error }))]),
  })

test('content that violates guidelines is the caller’s fault, and names no team or key', async () => {
  const words =
    'Content violates usage guidelines. Team: team-1, API key ID: key-1, Model: grok-4.7'
  const { kind, message, details } = await read(words)
  assert.equal(kind, 'rejected')
  assert.equal(message, 'the content violates the usage guidelines of the vendor')
  assert.ok(!JSON.stringify(details).includes('team-1'))
})

test('any other refusal under that status is a fault of the channel', async () => {
  assert.equal((await read('Your team has no access to the model')).kind, 'channel_fault')
})
