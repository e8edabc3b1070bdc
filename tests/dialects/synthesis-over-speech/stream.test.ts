/** Lines of base64 into sound: the same bytes whatever the chunks, and nothing after an error. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { translateSynthesisRequest } from '../../../server/wire/dialects/synthesis-over-speech/request.ts'
import { createSynthesisStream } from '../../../server/wire/dialects/synthesis-over-speech/stream.ts'

const SOUND = Buffer.from('fbeff00102ff3e3f7ffa', 'hex')
const audio = { code: 0, message: '', data: SOUND.toString('base64') }
const end = { code: 20000000, message: 'OK', data: null, usage: { text_words: 7 } }
const written = (...lines: object[]) =>
  Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))

function relay(bytes: Buffer, pieceBytes: number, value: Record<string, unknown> = {}) {
  const stream = createSynthesisStream(value)
  const out: (Buffer | undefined)[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    out.push(stream.push(bytes.subarray(at, at + pieceBytes)))
  }
  out.push(stream.end())
  return { sound: Buffer.concat(out.filter((one) => one !== undefined)), report: stream.report() }
}

test('the bytes are the same at any chunking, with escaped slashes too', () => {
  const lines = written(audio, audio, end)
  const escaped = Buffer.from(lines.toString().replaceAll('/', '\\/'))
  assert.notDeepEqual(escaped, lines)
  for (const bytes of [lines, escaped]) {
    for (const pieceBytes of [1, 2, 13, bytes.length]) {
      const { sound, report } = relay(bytes, pieceBytes)
      assert.deepEqual(sound, Buffer.concat([SOUND, SOUND]))
      assert.deepEqual(report, { usage: { character: 7 }, outputBytes: 20, finished: true })
    }
  }
})

test('the last count is the one that is billed, also a smaller one', () => {
  const counted = { ...audio, usage: { text_words: 7 } }
  for (const words of [7, 3, 0]) {
    const bytes = written(counted, { ...end, usage: { text_words: words } })
    assert.deepEqual(relay(bytes, bytes.length).report.usage, { character: words })
  }
})

test('wav has one header, before the first sound', () => {
  const { sound } = relay(written(audio, audio, end), 5, { response_format: 'wav' })
  assert.equal(sound.length, 44 + 2 * SOUND.length)
  assert.equal(sound.toString('latin1', 0, 4), 'RIFF')
})

test('an error is reported, and nothing follows it; without an end it is not finished', () => {
  const failed = relay(written(audio, { code: 55000000, message: 'x' }, audio), 9)
  assert.deepEqual(failed.sound, SOUND)
  assert.equal(failed.report.error?.code, '55000000')
  assert.equal(relay(written(audio), 9).report.finished, false)
})

test('events end with what was counted, and say when they break off', () => {
  const value = { stream_format: 'sse' }
  const { sound } = relay(written(audio, end), 3, value)
  assert.match(sound.toString(), /"speech\.audio\.done","usage":\{"input_tokens":7,/)
  const last = createSynthesisStream(value).fail({ type: 'server_error', message: 'broken' })
  assert.match(
    String(last),
    /^event: error\ndata: \{"type":"error","error":\{"type":"server_error"/,
  )
  assert.equal(createSynthesisStream({}).fail({ type: 'a', message: 'b' }), undefined)
})

test('speed becomes a rate within the vendor’s bounds; a voice may be an object', () => {
  const order = (more: object) => {
    const body = translateSynthesisRequest({ input: 'a', voice: { id: 'v' }, ...more })
    return JSON.parse(body.toString()).req_params
  }
  const rates = [0.25, 0.5, 1, 1.5, 2, 4].map((speed) => order({ speed }).audio_params.speech_rate)
  assert.deepEqual(rates, [-50, -50, 0, 50, 100, 100])
  assert.equal(order({}).speaker, 'v')
  assert.equal(order({}).audio_params.format, 'mp3')
  assert.equal(order({ response_format: 'opus' }).audio_params.sample_rate, 48_000)
  assert.throws(() => order({ response_format: 'flac' }), /^InvalidRequest: response_format: /)
})
