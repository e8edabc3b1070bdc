/** Events of speech: usage is read from whichever of them states it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAudioEventTap, createAudioTap } from '../../../server/wire/dialects/synthesis/tap.ts'

const DELTA = event({ type: 'speech.audio.delta', audio: 'AAAA' })
const USAGE = { input_tokens: 10, output_tokens: 20 }
const STATED = { input_token: 10, audio_output_token: 20 }

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

function read(...events: readonly string[]) {
  const tap = createAudioEventTap()
  for (const text of events) tap.push(Buffer.from(text))
  tap.end()
  return tap.report()
}

test('usage is kept when a later event states none', () => {
  const first = event({ type: 'speech.audio.usage', usage: USAGE })
  for (const usage of [undefined, null, {}, { input_tokens: null }, { output_tokens: -1 }]) {
    const { usage: stated, finished } = read(first, event({ type: 'speech.audio.done', usage }))
    assert.deepEqual([stated, finished], [STATED, true])
  }
})

test('usage is read from an error and from a piece of audio', () => {
  const error = read(DELTA, event({ error: { message: 'no' }, usage: USAGE }))
  assert.deepEqual([error.usage, error.error?.message], [STATED, 'no'])
  const piece = event({ type: 'speech.audio.delta', audio: 'AAAA', usage: USAGE })
  assert.deepEqual(read(piece, event({ type: 'speech.audio.done' })).usage, STATED)
})

test('a cost that the vendor states is read, whichever event has it', () => {
  const cost = { nanos: 100_000n, currency: 'USD' }
  const done = event({ type: 'speech.audio.done', usage: { ...USAGE, cost: 0.0001 } })
  assert.deepEqual(read(DELTA, done).statedCost, cost)
  const early = event({ type: 'speech.audio.usage', usage: { cost: 0.0001 } })
  const { statedCost, usage } = read(early, event({ type: 'speech.audio.done', usage: USAGE }))
  assert.deepEqual([statedCost, usage], [cost, STATED])
})

test('without any statement there is no usage', () => {
  const { usage, outputBytes, finished } = read(DELTA, event({ type: 'speech.audio.done' }))
  assert.equal(usage, undefined)
  assert.ok(outputBytes > 0 && finished)
})

test('a page in place of sound is an error; sound that is called a page is sound', () => {
  const through = (isCalledPage: boolean, ...chunks: readonly string[]) => {
    const tap = createAudioTap('pcm', isCalledPage)
    const passed = chunks.map((chunk) => tap.push(Buffer.from(chunk))?.toString())
    tap.end()
    const { outputBytes, finished, error } = tap.report()
    return { passed, outputBytes, finished, isError: error !== undefined }
  }
  const page = { passed: [undefined, undefined], outputBytes: 0, finished: false, isError: true }
  for (const head of [
    '<html>',
    '\n<!DOCTYPE html>',
    '\ufeff<?xml version="1.0"?>',
    '<!-- down -->',
  ]) {
    assert.deepEqual(through(true, head, '<p>'), page)
  }
  assert.equal(through(true, '<ab').isError, false)
  const sound = { passed: ['ab', '<c'], outputBytes: 4, finished: true, isError: false }
  assert.deepEqual(through(true, 'ab', '<c'), sound)
  const loud = { passed: ['<ab'], outputBytes: 3, finished: true, isError: false }
  assert.deepEqual(through(false, '<ab'), loud)
})
