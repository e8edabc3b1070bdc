/** Usage in a transcript and in the events of one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createPlainTap,
  createTranscriptTap,
  readTranscription,
} from '../../../server/wire/dialects/transcription/read-usage.ts'

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

test('seconds and tokens are both read: a model is sold by either', () => {
  const usage = { seconds: 9.2, input_tokens: 83, output_tokens: 30, total_tokens: 113 }
  const read = readTranscription({ text: 'hi', usage })
  assert.deepEqual(read.usage, { audio_input_token: 83, output_token: 30, second: 10 })
})

test('a cost that the vendor states is read beside any kind of usage', () => {
  for (const usage of [
    { type: 'duration', seconds: 62 },
    { prompt_audio_seconds: 62 },
    { seconds: 62 },
    { type: 'tokens', input_tokens: 600, output_tokens: 120 },
  ]) {
    const { statedCost } = readTranscription({ text: 'hi', usage: { ...usage, cost: 0.0001 } })
    assert.deepEqual(statedCost, { nanos: 100_000n, currency: 'USD' })
  }
})

test('a page in place of a text is an error; a text that is called a page is a text', () => {
  const through = (isCalledPage: boolean, ...chunks: readonly string[]) => {
    const tap = createPlainTap(isCalledPage)
    for (const chunk of chunks) tap.push(Buffer.from(chunk))
    tap.end()
    const { outputBytes, error } = tap.report()
    return error ? 'error' : outputBytes
  }
  for (const page of ['<html>', '\n<!DOCTYPE html><p>', '<ht', '\ufeff<title>x']) {
    assert.equal(through(true, page, 'ml>'), 'error', page)
    assert.equal(through(false, page), Buffer.byteLength(page))
  }
  for (const text of ['<noise> hello', 'WEBVTT', '1\n00:00', '']) {
    assert.equal(through(true, text), text.length)
  }
})
