/** Requests and answers of recognition 2.0 (docs/protocols/volcengine-recognition.md). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTranscript } from '../../../server/wire/dialects/transcription-over-recognition/answer.ts'
import {
  checkRecording,
  translateTranscriptionRequest,
} from '../../../server/wire/dialects/transcription-over-recognition/request.ts'

const DOCUMENT = {
  audio_info: { duration: 4820 },
  result: {
    text: '大家好，开始吧。',
    utterances: [
      {
        text: '大家好，',
        start_time: 120,
        end_time: 1480,
        definite: true,
        words: [
          { text: '大', start_time: 120, end_time: 300 },
          { text: '家', start_time: -1, end_time: -1 },
          { text: '好', start_time: 500, end_time: 700 },
        ],
      },
      { text: '开始吧。', start_time: 1700, end_time: 2660, words: [] },
    ],
  },
}

test('utterances are segments; a word without a time stands where the last one ended', () => {
  const { segments, ...rest } = readTranscript(DOCUMENT, undefined)
  assert.deepEqual(rest, { text: '大家好，开始吧。', language: 'zh', seconds: 4.82 })
  assert.deepEqual(
    segments.map(({ text, start, end }) => [text, start, end]),
    [
      ['大家好，', 0.12, 1.48],
      ['开始吧。', 1.7, 2.66],
    ],
  )
  assert.deepEqual(segments[0]?.words, [
    { word: '大', start: 0.12, end: 0.3 },
    { word: '家', start: 0.3, end: 0.3 },
    { word: '好', start: 0.5, end: 0.7 },
  ])
})

test('an answer without its parts is read as far as it goes', () => {
  const bare = readTranscript({ result: { text: 'hello' } }, undefined)
  assert.deepEqual(bare, { text: 'hello', language: 'en', segments: [] })
  assert.equal(readTranscript(DOCUMENT, 'yue').language, 'yue')
  assert.deepEqual(readTranscript({}, 'en'), { text: '', language: 'en', segments: [] })
})

test('a length that is no number from 0 on states nothing', () => {
  for (const duration of [null, '', '1m', '-1', true, [], {}, -1]) {
    const { seconds } = readTranscript({ audio_info: { duration } }, 'en')
    assert.equal(seconds, undefined, JSON.stringify(duration))
  }
  assert.equal(readTranscript({ audio_info: { duration: '60000' } }, 'en').seconds, 60)
})

test('languages are the vendor’s own; what it knows by itself is not named', () => {
  const languageOf = (language?: string) =>
    translateTranscriptionRequest(language === undefined ? {} : { language }, 'audio.mp3').audio
      .language
  assert.deepEqual(
    [undefined, 'zh', 'zh-CN', 'yue', 'en', 'EN-gb', 'ja', 'pt_PT', 'tl'].map(languageOf),
    [undefined, undefined, undefined, undefined, 'en-US', 'en-US', 'ja-JP', 'pt-BR', 'fil-PH'],
  )
  assert.throws(() => languageOf('constructor'), { param: 'language' })
  assert.throws(() => languageOf('ru'), {
    message: /^language: this model understands zh, en, .*, ar; not ru$/,
  })
})

test('the prompt is context; the format is that of the first bytes', () => {
  const { audio, request } = translateTranscriptionRequest({ prompt: ' rivers ' }, 'audio.ogg')
  assert.deepEqual(audio, { format: 'ogg', codec: 'opus' })
  assert.deepEqual(request, {
    model_name: 'bigmodel',
    enable_itn: true,
    enable_punc: true,
    show_utterances: true,
    corpus: { context: '{"context_type":"dialog_ctx","context_data":[{"text":"rivers"}]}' },
  })
  assert.equal(
    'corpus' in translateTranscriptionRequest({ prompt: ' ' }, 'audio.wav').request,
    false,
  )
  assert.equal(checkRecording(Buffer.from('OggS')), 'audio.ogg')
  assert.throws(
    () => checkRecording(Buffer.from('....ftypM4A ')),
    /wav, mp3 and Ogg Opus; found m4a$/,
  )
  assert.throws(() => checkRecording(Buffer.alloc(0)), /found an empty file$/)
  assert.throws(() => checkRecording(Buffer.from('text')), /found no known audio format$/)
})
