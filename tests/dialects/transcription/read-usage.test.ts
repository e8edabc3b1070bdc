/** Usage in the events of a transcript. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTranscriptTap } from '../../../server/wire/dialects/transcription/read-usage.ts'

test('an error that states usage is charged by it', () => {
  const tap = createTranscriptTap()
  const usage = { type: 'duration', seconds: 6.2 }
  tap.push(Buffer.from('data: {"type":"transcript.text.delta","delta":"hi"}\n\n'))
  tap.push(Buffer.from(`data: ${JSON.stringify({ error: { message: 'no' }, usage })}\n\n`))
  assert.deepEqual(tap.report(), {
    outputBytes: 2,
    finished: false,
    usage: { second: 7 },
    error: { type: 'server_error', message: 'no' },
  })
})
