/**
 * Messages of docs/protocols/volcengine-interpretation.md#messages, encoded by hand, against the
 * encoder and the decoder, byte by byte.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeResponse } from '../../../server/wire/upstreams/doubao-ast/decode-response.ts'
import {
  encodeAudio,
  encodeFinish,
  encodeStart,
  type SessionStart,
} from '../../../server/wire/upstreams/doubao-ast/encode-request.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const decode = (text: string) => decodeResponse(Buffer.from(text, 'hex'))

const START: SessionStart = {
  sessionId: 's-1',
  mode: 's2t',
  sourceLanguage: 'zh',
  targetLanguage: 'en',
  speakerId: '',
}

test('StartSession, TaskRequest and FinishSession have the bytes encoded by hand', () => {
  assert.equal(
    hex(encodeStart(START)),
    '0a053203732d311064221122037761762a0372617738807d40104801320d0a0373327412027a681a02656e',
  )
  assert.equal(
    hex(encodeAudio('s-1', Buffer.from([1, 0, 2, 0]))),
    '0a053203732d3110c8012206720401000200',
  )
  assert.equal(hex(encodeFinish('s-1')), '0a053203732d311066')
})

test('a spoken session states its target format, and its voice where there is one', () => {
  // target_audio: format "ogg_opus", rate 48000
  const target = '2a0e22086f67675f6f7075733880f702'
  const cloned = hex(encodeStart({ ...START, mode: 's2s' }))
  assert.ok(cloned.includes(target), cloned)
  assert.ok(cloned.endsWith('320d0a0373327312027a681a02656e'), cloned)
  const voiced = hex(encodeStart({ ...START, mode: 's2s', speakerId: 'v1' }))
  assert.ok(voiced.endsWith('32110a0373327312027a681a02656e22027631'), voiced)
  const mute = hex(encodeStart({ ...START, speakerId: 'v1' }))
  assert.equal(mute, hex(encodeStart(START)), 'text has no voice')
})

test('SessionStarted, a sentence and usage are read', () => {
  const started = decode('0a0e0a03732d311880dac40922024f4b109601')
  assert.deepEqual(
    [started.event, started.sessionId, started.statusCode, started.message],
    [150, 's-1', 20000000, 'OK'],
  )
  const sentence = decode('0a0e0a03732d311880dac40922024f4b108f05220568656c6c6f2800308005')
  assert.deepEqual(
    [sentence.event, sentence.text, sentence.startMs, sentence.endMs],
    [655, 'hello', 0, 640],
  )
  const usage = decode(
    '0a490a03732d311880dac40922024f4b2a390a190a12696e7075745f617564696f5f746f6b656e7315000080400a190a126f75747075745f746578745f746f6b656e731500007041108005109a01',
  )
  assert.equal(usage.event, 154)
  assert.deepEqual(usage.billing, {
    items: [
      { unit: 'input_audio_tokens', quantity: 4 },
      { unit: 'output_text_tokens', quantity: 15 },
    ],
    durationMs: 640,
  })
})

test('unknown fields are skipped, and bytes that are no protobuf throw', () => {
  const later = decode('109601' + '3801' + '4a026162' + 'a51f01020304' + 'a11f0102030405060708')
  assert.equal(later.event, 150)
  const otherKind = decode('1202414210' + '9601' + '2001')
  assert.deepEqual([otherKind.event, otherKind.text], [150, ''])
  for (const broken of ['0aff', '22056865', '1096', '07', 'ffffffffffffffffffffff']) {
    assert.throws(() => decode(broken), broken)
  }
})
