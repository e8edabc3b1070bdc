/** Native messages in the form that was not requested: a document for a stream, and the reverse. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createMessagesCollector } from '../../../server/wire/dialects/messages/collect-stream.ts'
import { createMessagesUnfolder } from '../../../server/wire/dialects/messages/unfold-body.ts'
import { fixture, streamFixtures } from '../fixtures.ts'
import { askAnthropic } from '../messages-over-chat/ask-anthropic.ts'
import { chunkings, run } from '../replay.ts'

const CITATION = { type: 'char_location', cited_text: 'H', document_index: 0 }
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [
    { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
    { type: 'redacted_thinking', data: 'zz' },
    { type: 'text', text: 'Hié', citations: [CITATION] },
    { type: 'tool_use', id: 't', name: 'lookup', input: { q: [1, 'é'] } },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 4 },
}

const collect = (chunks: readonly Buffer[]) => JSON.parse(run(createMessagesCollector(), chunks))

test('a document becomes a stream that collects to the same document', async () => {
  const stream = run(createMessagesUnfolder(), [Buffer.from(JSON.stringify(MESSAGE))])
  assert.deepEqual(collect([Buffer.from(stream)]), MESSAGE)
  const read = await askAnthropic(stream)
  assert.deepEqual(read.content, MESSAGE.content)
  assert.equal(read.stop_reason, 'tool_use')
})

test('a document that is no message becomes an error event', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'busy' } }
  for (const body of ['{}', '{"content":', '[]', JSON.stringify(overloaded)]) {
    const stream = run(createMessagesUnfolder(), [Buffer.from(body)])
    assert.match(stream, /^event: error\ndata: [^\n]*\n\n$/)
  }
})

describe('a stream in place of a document', () => {
  for (const name of ['cut', 'cut-inside-event', 'error', 'error-first', 'no-stop']) {
    test(`${name}: what breaks off is an error`, () => {
      const relay = createMessagesCollector()
      assert.equal(JSON.parse(run(relay, [fixture(`messages/${name}.sse`)])).type, 'error')
      assert.ok(relay.report().error)
    })
  }

  test('broken arguments are kept, as is usage that only the end states', () => {
    const events = [
      { type: 'message_start', message: { ...MESSAGE, content: [], usage: { input_tokens: 3 } } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { ...MESSAGE.content[3], input: {} },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{"q' },
      },
      { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ]
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
    const { content, usage, stop_reason: reason } = collect([Buffer.from(body)])
    assert.deepEqual(content[0].input, { raw_arguments: '{"q' })
    assert.deepEqual(usage, { input_tokens: 3, output_tokens: 9 })
    assert.equal(reason, 'max_tokens')
  })

  for (const name of streamFixtures('messages')) {
    test(`${name}: any chunking is collected to the same document`, () => {
      const body = fixture(`messages/${name}.sse`)
      const expected = collect([body])
      for (const { name: chunking, chunks } of chunkings(body)) {
        assert.deepEqual(collect(chunks), expected, chunking)
      }
    })
  }
})
