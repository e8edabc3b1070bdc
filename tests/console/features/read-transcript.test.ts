import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  formatPosition,
  readTaskTranscript,
} from '../../../console/src/features/tasks/read-transcript.ts'

test('sentences come with speaker and place; what is none is left out', () => {
  const sentences = [{ text: 'Hello.', speaker: '1', start_ms: 80 }, { text: 5 }, null]
  assert.deepEqual(readTaskTranscript({ summary: 'A greeting.', sentences, text: 'Hello.' }), {
    summary: 'A greeting.',
    sentences: [{ text: 'Hello.', speaker: '1', startMs: 80 }],
  })
})

test('without sentences the whole text stands', () => {
  const whole = readTaskTranscript({ text: 'All of it.', sentences: [] })
  assert.deepEqual(
    whole?.sentences.map(({ text }) => text),
    ['All of it.'],
  )
})

test('a result without words is no transcript', () => {
  for (const result of [null, [], 'text', { text: '' }, { video_url: 'https://x' }]) {
    assert.equal(readTaskTranscript(result), undefined)
  }
})

test('places are minutes and seconds', () => {
  assert.equal(formatPosition(75_400), '1:15')
  assert.equal(formatPosition(3_600_000), '60:00')
})
