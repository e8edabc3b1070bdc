/** Only the protocol's end waits for the settlement, whatever else has come with it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createChatRelay } from '../../../server/wire/dialects/chat/relay.ts'
import { createMessagesTap } from '../../../server/wire/dialects/messages/tap.ts'
import { createResponsesTap } from '../../../server/wire/dialects/responses/tap.ts'
import {
  type RelayedEvents,
  relayEvents,
} from '../../../server/work/pipeline/answer/relay-events.ts'
import { cutAt } from '../../dialects/replay.ts'

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const named = (type: string, more: object = {}) => `event: ${type}\n${data({ type, ...more })}`
const chunk = (more: object) =>
  data({ id: 'i', object: 'chat.completion.chunk', created: 1, model: 'm', ...more })
const choice = (delta: object, reason: string | null = null) =>
  chunk({ choices: [{ index: 0, delta, finish_reason: reason }] })
const USAGE = { prompt_tokens: 10, completion_tokens: 50, total_tokens: 60 }

const DIALECTS = [
  {
    name: 'chat',
    create: () => createChatRelay({ includeUsage: true, id: 'i' }),
    words: [
      choice({ role: 'assistant', content: 'a' }, 'stop'),
      choice({ content: 'b \n\n c' }),
      choice({ content: '"usage":{"prompt_tokens":1}' }),
      choice({}, 'stop'),
      chunk({ choices: [], usage: USAGE }),
      ': a comment\n\n',
    ],
    end: 'data: [DONE]\n\n',
  },
  {
    name: 'messages',
    create: () => createMessagesTap(),
    words: [
      named('message_start', { message: { usage: { input_tokens: 1 } } }),
      named('content_block_delta', { delta: { type: 'text_delta', text: 'a' } }),
      named('message_delta', { usage: { output_tokens: 3 } }),
      named('ping'),
    ],
    end: named('message_stop'),
  },
  {
    name: 'responses',
    create: () => createResponsesTap(),
    words: [
      named('response.created', { response: { id: 'r' } }),
      named('response.output_text.delta', { delta: 'a' }),
    ],
    end: named('response.completed', { response: { id: 'r', usage: {} } }),
  },
] as const

/** Line ends that are the same to a reader of events. */
const ends = fc.constantFrom('\n', '\r\n', '\r')

function textOf(reads: readonly RelayedEvents[], part: 'words' | 'end'): string {
  return Buffer.concat(reads.map((read) => read[part] ?? Buffer.alloc(0))).toString()
}

/** The LF of a CRLF that was cut is an empty line of its own, which means nothing. */
function withoutBlanks(text: string): string {
  return text.replaceAll(/[\r\n]+/g, '\n')
}

for (const { name, create, words: begun, end } of DIALECTS) {
  test(`${name}: the same bytes and counts in any reads, and the end alone is withheld`, () => {
    const words = fc.array(fc.constantFrom(...begun), { maxLength: 12 })
    const behind = fc.array(fc.constantFrom(': late\n\n', end), { maxLength: 4 })
    const sizes = fc.array(fc.nat(400), { maxLength: 8 })
    fc.assert(
      fc.property(words, behind, ends, sizes, (before, after, lineEnd, readSizes) => {
        const lines = (text: string) => Buffer.from(text.replaceAll('\n', lineEnd))
        const events = [begun[0], ...before, end, ...after].map(lines)
        const body = Buffer.concat(events)
        const alone = create()
        const given = events.map((event) => {
          const out = alone.push(event) ?? Buffer.alloc(0)
          return { out: out.toString(), isEnd: alone.report().finished }
        })
        const relay = create()
        const reads = cutAt(body, readSizes).map((chunk) => relayEvents(relay, chunk))
        const expected = (isEnd: boolean) =>
          given.filter((one) => one.isEnd === isEnd).map(({ out }) => out)
        const endGiven = expected(true).join('') + (alone.end() ?? '')
        const withheld = textOf(reads, 'end') + (relay.end() ?? '')
        const all = withoutBlanks(textOf(reads, 'words') + withheld)
        assert.equal(all, withoutBlanks(expected(false).join('') + endGiven))
        const isWithheld = withoutBlanks(withheld).endsWith(withoutBlanks(endGiven))
        assert.ok(isWithheld, 'the end passed before the settlement')
        assert.deepEqual(relay.report(), alone.report())
      }),
      { numRuns: 500 },
    )
  })

  test(`${name}: in one read, words before the end and one more event pass at once`, () => {
    for (const lineEnd of ['\n', '\r\n']) {
      for (const behind of ['', ': late\n\n', end]) {
        const lines = (text: string) => text.replaceAll('\n', lineEnd)
        const relay = create()
        const read = relayEvents(relay, Buffer.from(lines(begun.join('') + end + behind)))
        assert.equal(read.words?.toString(), lines(begun.join('')))
        assert.ok(read.end?.toString().startsWith(lines(end)))
      }
    }
  })
}

test('what a relay has read before it fails is kept, with what it has not read', () => {
  const push = (part: Buffer) => {
    if (part.includes('bad')) throw new Error('unreadable')
    return part
  }
  const report = () => ({ outputBytes: 0, finished: false })
  const read = relayEvents({ push, report }, Buffer.from('one\n\ntwo\n\nbad\n\nthree\n\n'))
  assert.equal(read.words?.toString(), 'one\n\ntwo\n\n')
  assert.equal(read.failure?.unread.toString(), 'three\n\n')
})

test('lines without end in a chunk are not searched for cuts', () => {
  const parts: number[] = []
  const push = (part: Buffer) => {
    parts.push(part.length)
    return undefined
  }
  const report = () => ({ outputBytes: 0, finished: false })
  relayEvents({ push, report }, Buffer.from(`one\n\n${'x\n'.repeat(40)}`))
  assert.deepEqual(parts, [85])
})
