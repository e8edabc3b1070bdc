/** Speech without stated usage is charged by its audio, not by what the caller says about it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estimateSpoken } from '../../../server/wire/dialects/synthesis/estimate.ts'
import type { AudioFormat } from '../../../server/wire/dialects/synthesis/formats.ts'
import { createAudioTap } from '../../../server/wire/dialects/synthesis/tap.ts'

/** A frame of an MP3 at 64 kbit/s and 24 kHz: 576 samples. */
const FRAME = Buffer.concat([Buffer.from([0xff, 0xf3, 0x84, 0xc4]), Buffer.alloc(188)])
const FRAMES_OF_MINUTE = 2500
const MINUTE = Buffer.alloc(60 * 48_000)
const HEAD = Buffer.alloc(44)
HEAD.write('RIFF')
HEAD.write('WAVEfmt ', 8)
HEAD.writeUInt32LE(48_000, 28)

/** The tokens of a minute of speech whose text is read in a second, at four times the speed. */
function estimate(format: AudioFormat, audio: Buffer) {
  const tap = createAudioTap(format)
  for (let at = 0; at < audio.length; at += 10_000) tap.push(audio.subarray(at, at + 10_000))
  tap.end()
  const value = { input: '123', speed: 4, response_format: format, instructions: 'Very slowly.' }
  return estimateSpoken(value, tap.report()).audio_output_token
}

for (const [format, audio] of [
  ['mp3', Buffer.concat(Array(FRAMES_OF_MINUTE).fill(FRAME))],
  ['pcm', MINUTE],
  ['wav', Buffer.concat([HEAD, MINUTE.subarray(HEAD.length)])],
  // Not measured: as long as samples of its size.
  ['flac', MINUTE],
  ['aac', MINUTE],
] as const) {
  test(`a minute of ${format}`, () => assert.equal(estimate(format, audio), 60 * 21))
}

test('audio of another format than the requested one', () => {
  assert.equal(estimate('opus', MINUTE), 60 * 21)
  assert.equal(estimate('wav', MINUTE), 60 * 21)
})

test('audio that is shorter than its text: what is not measured keeps the estimate', () => {
  const text = { input: 'a'.repeat(140), response_format: 'flac' }
  assert.equal(estimateSpoken(text, { outputBytes: 100 }).audio_output_token, 210)
  assert.equal(estimateSpoken(text, { outputBytes: 100, audioSeconds: 1 }).audio_output_token, 21)
})
