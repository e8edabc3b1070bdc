/** Native responses in the form not requested: a document for a stream, and the reverse. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createResponsesCollector } from '../../../server/wire/dialects/responses/collect-stream.ts'
import { createResponsesUnfolder } from '../../../server/wire/dialects/responses/unfold-body.ts'
import { chunkings, run } from '../replay.ts'
import { askOpenai } from '../responses-over-chat/ask-openai.ts'

const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  output: [
    { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
    {
      id: 'msg_1',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [
        { type: 'output_text', text: 'Hié', annotations: [] },
        { type: 'refusal', refusal: 'No.' },
      ],
    },
    {
      id: 'fc_1',
      type: 'function_call',
      status: 'completed',
      call_id: 'c',
      name: 'lookup',
      arguments: '{"q":1}',
    },
    { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search' } },
  ],
  usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
}

const unfold = (body: unknown) => {
  return run(createResponsesUnfolder(), [Buffer.from(JSON.stringify(body))])
}

test('a document becomes a stream that collects to the same document', async () => {
  const stream = unfold(RESPONSE)
  for (const { name, chunks } of chunkings(Buffer.from(stream))) {
    assert.deepEqual(JSON.parse(run(createResponsesCollector(), chunks)), RESPONSE, name)
  }
  const read = await askOpenai(stream)
  assert.equal(read.output_text, 'Hié')
  const numbers = [...stream.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) =>
    Number(number),
  )
  assert.deepEqual(numbers, [...numbers.keys()])
})

test('an incomplete response stays incomplete', () => {
  const incomplete = { ...RESPONSE, status: 'incomplete' }
  assert.match(unfold(incomplete), /event: response\.incomplete\n[^\n]*\n\n$/)
})

test('a document that is no response is a failed one', () => {
  for (const body of [{}, [], { choices: [] }, { object: 'response' }]) {
    assert.match(unfold(body), /^event: response\.failed\n[^\n]*\n\n$/)
  }
})

test('a stream that breaks off or fails is an error', () => {
  const broken = unfold(RESPONSE).split('event: response.completed')[0] ?? ''
  const failed = unfold({ ...RESPONSE, status: 'failed' })
  for (const stream of [broken, failed, '']) {
    const relay = createResponsesCollector()
    assert.ok(
      JSON.parse(run(relay, [Buffer.from(stream)])).error !== undefined || stream === failed,
    )
    assert.ok(relay.report().error)
  }
})
