import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createMessagesStream } from '../../../server/wire/dialects/messages-over-chat/writer.ts'
import { anyText } from '../../support/any-text.ts'
import { run } from '../replay.ts'
import { answerOptions } from './answer-options.ts'
import { type ReadBlock, readEvents } from './read-events.ts'

/** One step of a legal chat stream; a `call` step continues the call at its index or opens it. */
type Step =
  | { kind: 'text'; text: string }
  | { kind: 'reasoning'; text: string }
  | { kind: 'call'; index: number; piece: string }
  | { kind: 'empty' }

const text = anyText({ maxLength: 6 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('text' as const), text }),
  fc.record({ kind: fc.constant('reasoning' as const), text }),
  fc.record({ kind: fc.constant('call' as const), index: fc.nat(2), piece: text }),
  fc.constant({ kind: 'empty' as const }),
)

/** Arguments whose pieces, joined, are one JSON object. */
function argumentsOf(steps: readonly Step[], index: number): string[] {
  const pieces = steps.flatMap((one) => {
    return one.kind === 'call' && one.index === index
      ? [JSON.stringify(one.piece).slice(1, -1)]
      : []
  })
  return pieces.map((piece, position) => {
    const head = position === 0 ? '{"v":"' : ''
    return head + piece + (position === pieces.length - 1 ? '"}' : '')
  })
}

interface Written {
  readonly body: string
  readonly calls: readonly string[]
}

function write(steps: readonly Step[]): Written {
  const pieces = [0, 1, 2].map((index) => argumentsOf(steps, index))
  const order: number[] = []
  const deltas = steps.map((one) => {
    if (one.kind === 'text') return { content: one.text }
    if (one.kind === 'reasoning') return { reasoning_content: one.text }
    if (one.kind === 'empty') return {}
    const isNew = !order.includes(one.index)
    if (isNew) order.push(one.index)
    const index = order.indexOf(one.index)
    const called = { arguments: pieces[one.index]?.shift() }
    const head = isNew ? { id: `call_${one.index}`, type: 'function' } : {}
    const named = isNew ? { ...called, name: `f${one.index}` } : called
    return { tool_calls: [{ index, ...head, function: named }] }
  })
  const chunk = (delta: object, reason: string | null) => {
    const choices = [{ index: 0, delta, finish_reason: reason }]
    const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
    return `data: ${JSON.stringify({ ...head, choices })}\n\n`
  }
  const events = [...deltas.map((delta) => chunk(delta, null)), chunk({}, 'stop')]
  return {
    body: `${events.join('')}data: [DONE]\n\n`,
    calls: order.map((index) => argumentsOf(steps, index).join('')),
  }
}

const joined = (blocks: readonly ReadBlock[], type: string) =>
  blocks.filter((block) => block.type === type).map(({ content }) => content)

test('any legal chat stream is one legal messages stream that says the same', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.nat(40), (steps, size) => {
      const { body, calls } = write(steps)
      const bytes = Buffer.from(body)
      const cut = size === 0 ? [bytes] : cutEvery(bytes, size)
      const { blocks, error } = readEvents(run(createMessagesStream(answerOptions()), cut))
      const textOf = (kind: string) =>
        steps.map((one) => (one.kind === kind && 'text' in one ? one.text : '')).join('')
      assert.equal(error, undefined)
      assert.equal(joined(blocks, 'text').join(''), textOf('text'))
      assert.equal(joined(blocks, 'thinking').join(''), textOf('reasoning'))
      assert.deepEqual(joined(blocks, 'tool_use'), calls)
    }),
    { numRuns: 300 },
  )
})

test('any bytes at all end in a legal stream', () => {
  fc.assert(
    fc.property(fc.array(anyText()), (lines) => {
      const body = lines.map((line) => `data: ${line}\n\n`).join('')
      readEvents(run(createMessagesStream(answerOptions()), [Buffer.from(body)]))
    }),
    { numRuns: 300 },
  )
})

test('any JSON in a chunk ends in a legal stream', () => {
  const value = fc.jsonValue({ maxDepth: 3 })
  const call = fc.record(
    {
      index: value,
      id: value,
      function: fc.oneof(value, fc.record({ name: value, arguments: value })),
    },
    { requiredKeys: [] },
  )
  const delta = fc.record(
    {
      role: value,
      content: value,
      reasoning: value,
      refusal: value,
      tool_calls: fc.oneof(value, fc.array(call)),
    },
    { requiredKeys: [] },
  )
  const choice = fc.record(
    { index: value, delta: fc.oneof(value, delta), finish_reason: value },
    { requiredKeys: [] },
  )
  const chunk = fc.record(
    { id: value, choices: fc.oneof(value, fc.array(choice)), usage: value },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.array(chunk), (chunks) => {
      const body = chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')
      readEvents(run(createMessagesStream(answerOptions()), [Buffer.from(body)]))
    }),
    { numRuns: 200 },
  )
})

function cutEvery(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
  return chunks
}
