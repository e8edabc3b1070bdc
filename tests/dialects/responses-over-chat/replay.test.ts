import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createResponsesStream } from '../../../server/wire/dialects/responses-over-chat/writer.ts'
import { anyText } from '../../support/any-text.ts'
import { fixture, streamFixtures } from '../fixtures.ts'
import { chunkings, run } from '../replay.ts'
import { answerOptions } from './answer-options.ts'
import { askOpenai } from './ask-openai.ts'
import * as chat from './chat-chunks.ts'
import { readEvents } from './read-events.ts'

for (const name of streamFixtures('chat')) {
  const body = fixture(`chat/${name}.sse`)

  test(`${name}: the events are valid and the same at any chunking`, () => {
    const expected = run(createResponsesStream(answerOptions()), [body])
    readEvents(expected)
    for (const { name: chunking, chunks } of chunkings(body)) {
      const relay = createResponsesStream(answerOptions())
      assert.equal(run(relay, chunks), expected, chunking)
    }
  })

  test(`${name}: the openai package reads every event`, async () => {
    const out = run(createResponsesStream(answerOptions()), [body])
    const { response } = readEvents(out)
    const accepted = await askOpenai(out)
    assert.equal(accepted.status, response.status)
    assert.deepEqual(accepted.output.length, response.output.length)
  })
}

type Step = { kind: 'text' | 'thought' | 'refusal' | 'call' | 'piece'; text: string; call: number }

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('text', 'thought', 'refusal', 'call', 'piece'),
  text: anyText({ maxLength: 6 }),
  call: fc.nat(3),
})

/** A legal chat stream: each call opens once and its pieces are parts of one JSON text. */
function toChunks(steps: readonly Step[]): { chunks: string[]; opened: Set<number> } {
  const opened = new Set<number>()
  const chunks = steps.map(({ kind, text, call }) => {
    if (kind === 'text') return chat.text(text)
    if (kind === 'thought') return chat.thought(text)
    if (kind === 'refusal') return chat.chunk({ refusal: text })
    if (opened.has(call)) return chat.callPiece(call, JSON.stringify(text))
    opened.add(call)
    return chat.callStart(call, `call_${call}`, 'look', '[')
  })
  return { chunks, opened }
}

function joined(steps: readonly Step[], kind: Step['kind']): string {
  return steps.map((one) => (one.kind === kind ? one.text : '')).join('')
}

test('property: any legal stream keeps its rules, and texts and arguments are unchanged', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.boolean(), (steps, ends) => {
      const { chunks, opened } = toChunks(steps)
      const ending = ends ? [chat.finish('stop'), chat.DONE] : []
      const body = [...chunks, ...ending].map((chunk) => Buffer.from(chunk))
      const { response, ending: last } = readEvents(
        run(createResponsesStream(answerOptions()), body),
      )
      assert.equal(last, ends ? 'response.completed' : 'response.failed')
      const items = response.output
      const messages = items.filter(({ type }) => type === 'message').flatMap((i) => i.content)
      const thoughts = items.filter(({ type }) => type === 'reasoning').flatMap((i) => i.summary)
      assert.equal(messages.map((part) => part.text ?? '').join(''), joined(steps, 'text'))
      assert.equal(messages.map((part) => part.refusal ?? '').join(''), joined(steps, 'refusal'))
      assert.equal(thoughts.map((part) => part.text).join(''), joined(steps, 'thought'))
      const calls = items.filter(({ type }) => type === 'function_call')
      assert.deepEqual(
        new Set(calls.map((i) => i.call_id)),
        new Set([...opened].map((c) => `call_${c}`)),
      )
      for (const item of calls) {
        assert.ok(item.arguments.startsWith('['))
      }
    }),
    { numRuns: 150 },
  )
})
