/** A transcript in every form, byte for byte. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Transcript } from '../../../server/wire/dialects/transcription/transcript.ts'
import {
  readTranscriptOrder,
  transcriptType,
  writeTranscript,
} from '../../../server/wire/dialects/transcription/write-transcript.ts'

const TRANSCRIPT: Transcript = {
  text: 'One two. Three.',
  language: 'en',
  seconds: 3_725.5,
  segments: [
    {
      text: 'One two.',
      start: 0.12,
      end: 59.9996,
      words: [
        { word: 'One', start: 0.12, end: 0.3 },
        { word: 'two.', start: 0.3, end: 0.9 },
      ],
    },
    { text: 'Three.', start: 3_600.05, end: 3_725.5, words: [] },
  ],
}
const NOTHING: Transcript = { text: '', language: '', seconds: 0, segments: [] }

const write = (fields: Record<string, string>, transcript = TRANSCRIPT) =>
  writeTranscript(transcript, readTranscriptOrder(fields)).toString()

test('json has the text and, where it is known, the length', () => {
  assert.deepEqual(JSON.parse(write({})), {
    text: 'One two. Three.',
    usage: { type: 'duration', seconds: 3_726 },
  })
  const { seconds: _, ...unmeasured } = TRANSCRIPT
  assert.deepEqual(JSON.parse(write({}, unmeasured)), { text: 'One two. Three.' })
})

test('text, srt and vtt', () => {
  assert.equal(write({ response_format: 'text' }), 'One two. Three.\n')
  const srt = [
    '1',
    '00:00:00,120 --> 00:01:00,000',
    'One two.',
    '',
    '2',
    '01:00:00,050 --> 01:02:05,500',
    'Three.',
    '',
    '',
  ]
  assert.equal(write({ response_format: 'srt' }), srt.join('\n'))
  const vtt = [
    'WEBVTT',
    '',
    '00:00:00.120 --> 00:01:00.000',
    'One two.',
    '',
    '01:00:00.050 --> 01:02:05.500',
    'Three.',
    '',
    '',
  ]
  assert.equal(write({ response_format: 'vtt' }), vtt.join('\n'))
})

test('verbose_json has the requested granularities, segments by default', () => {
  const ask = (granularities?: string) =>
    JSON.parse(
      write({
        response_format: 'verbose_json',
        ...(granularities ? { 'timestamp_granularities[]': granularities } : {}),
      }),
    )
  const { segments, words, ...rest } = ask()
  assert.deepEqual(rest, {
    task: 'transcribe',
    language: 'en',
    duration: 3_725.5,
    text: 'One two. Three.',
    usage: { type: 'duration', seconds: 3_726 },
  })
  assert.equal(words, undefined)
  assert.deepEqual(segments[1], {
    id: 1,
    start: 3_600.05,
    end: 3_725.5,
    text: 'Three.',
    seek: 0,
    tokens: [],
    temperature: 0,
    avg_logprob: 0,
    compression_ratio: 0,
    no_speech_prob: 0,
  })
  assert.deepEqual(Object.keys(ask('word')).includes('segments'), false)
  assert.deepEqual(ask('word,segment').words[1], { word: 'two.', start: 0.3, end: 0.9 })
})

test('events add up to the text', () => {
  const events = write({ stream: 'true' })
    .trim()
    .split('\n\n')
    .map((event) => JSON.parse(event.replace(/^data: /, '')))
  assert.deepEqual(events, [
    { type: 'transcript.text.delta', delta: 'One two.' },
    { type: 'transcript.text.delta', delta: ' Three.' },
    {
      type: 'transcript.text.done',
      text: 'One two. Three.',
      usage: { type: 'duration', seconds: 3_726 },
    },
  ])
})

test('nothing was said', () => {
  assert.equal(write({ response_format: 'srt' }, NOTHING), '')
  assert.equal(write({ response_format: 'vtt' }, NOTHING), 'WEBVTT\n\n')
  assert.match(
    write({ stream: 'true' }, NOTHING),
    /^data: \{"type":"transcript.text.done","text":""/,
  )
})

test('each form has its type', () => {
  const typeOf = (fields: Record<string, string>) => transcriptType(readTranscriptOrder(fields))
  assert.equal(typeOf({}), 'application/json')
  assert.equal(typeOf({ response_format: 'srt' }), 'text/plain; charset=utf-8')
  assert.equal(typeOf({ response_format: 'vtt' }), 'text/vtt; charset=utf-8')
  assert.equal(typeOf({ response_format: 'vtt', stream: 'true' }), 'text/event-stream')
})
