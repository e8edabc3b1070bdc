import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createChatRelay } from '../../../server/wire/dialects/chat/relay.ts'
import { anyText } from '../../support/any-text.ts'
import { run } from '../replay.ts'

const HEAD = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }

function encode(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}

function cut(body: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = []
  let rest = body
  for (const size of sizes) {
    chunks.push(rest.subarray(0, size))
    rest = rest.subarray(size)
  }
  return [...chunks, rest]
}

test('a stream in order passes byte for byte, and every byte of text is counted', () => {
  const text = anyText({ maxLength: 8 })
  const delta = fc.oneof(
    fc.record({ content: text }),
    fc.record({ reasoning_content: text }),
    fc.record({ content: text, refusal: text }),
    fc.constant({}),
  )
  const sizes = fc.array(fc.nat(400), { maxLength: 8 })
  fc.assert(
    fc.property(fc.array(delta, { maxLength: 10 }), sizes, (deltas, chunkSizes) => {
      const steps = [{ role: 'assistant', content: '' }, ...deltas]
      const chunks = steps.map((step) => {
        return { ...HEAD, choices: [{ index: 0, delta: step, finish_reason: null }] }
      })
      const last = { ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
      const body = `${[...chunks, last].map(encode).join('')}data: [DONE]\n\n`
      const relay = createChatRelay({ includeUsage: true })
      assert.equal(run(relay, cut(Buffer.from(body), chunkSizes)), body)
      const written = deltas.flatMap((one) => Object.values(one)).join('')
      assert.equal(relay.report().outputBytes, Buffer.byteLength(written))
    }),
    { numRuns: 500 },
  )
})

test('any JSON in a chunk leaves only events that SDKs can read', () => {
  const value = fc.jsonValue({ maxDepth: 2 })
  const some = (members: Record<string, fc.Arbitrary<unknown>>) =>
    fc.record(members, { requiredKeys: [] })
  const call = some({
    index: fc.oneof(fc.nat(2), value),
    id: fc.oneof(fc.constantFrom('', 'a'), value),
    function: fc.oneof(value, some({ name: value, arguments: value })),
  })
  const delta = some({ role: value, content: value, tool_calls: fc.oneof(value, fc.array(call)) })
  const choice = some({
    index: fc.oneof(fc.constant(0), value),
    delta: fc.oneof(value, delta),
    finish_reason: value,
  })
  const chunk = some({ id: value, choices: fc.oneof(value, fc.array(choice)), usage: value })
  fc.assert(
    fc.property(fc.array(chunk), (chunks) => {
      const body = `${chunks.map(encode).join('')}data: [DONE]\n\n`
      const out = run(createChatRelay({ includeUsage: true }), [Buffer.from(body)])
      for (const event of out.split('\n\n').filter(Boolean)) checkEvent(event)
    }),
    { numRuns: 500 },
  )
})

/** What the official packages rely on in every event. */
function checkEvent(event: string): void {
  assert.ok(event.startsWith('data: '), event)
  if (event === 'data: [DONE]') return
  const chunk = JSON.parse(event.slice(6))
  if (chunk.error) return
  assert.equal(typeof chunk.id, 'string')
  for (const { index, delta } of chunk.choices) {
    assert.equal(typeof index, 'number')
    for (const call of delta.tool_calls ?? []) {
      assert.ok(Number.isInteger(call.index) && call.index >= 0)
      assert.equal(typeof call.function.arguments, 'string')
    }
  }
}
