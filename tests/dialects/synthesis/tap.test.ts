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

test('a page or text in place of sound is an error; sound that is called text is sound', () => {
  const through = (isCalledText: boolean, ...chunks: readonly (string | Buffer)[]) => {
    const tap = createAudioTap('pcm', isCalledText)
    const passed = chunks.map((chunk) => tap.push(Buffer.from(chunk as string)))
    tap.end()
    const { outputBytes, finished, error } = tap.report()
    return { passed, outputBytes, finished, message: error?.message }
  }
  const none = { passed: [undefined, undefined], outputBytes: 0, finished: false }
  for (const head of [
    '<html>',
    '\n<!DOCTYPE html>',
    '\ufeff<?xml version="1.0"?>',
    '<!-- down -->',
    '{"ok":true}',
  ]) {
    const message = 'upstream provider error'
    assert.deepEqual(through(false, head, '<p>'), { ...none, message })
    assert.deepEqual(through(true, head, '<p>'), { ...none, message })
  }
  assert.equal(through(false, '{"error":{"message":"busy"}}').message, 'busy')
  assert.equal(through(true, '服务繁忙\n').message, 'upstream provider error')
  // The connection brings a part of the last character.
  const cut = through(true, Buffer.from('服务繁忙').subarray(0, -1), Buffer.from('忙').subarray(-1))
  assert.deepEqual([cut.message, cut.outputBytes], ['upstream provider error', 0])
  assert.equal(through(false).message, 'upstream provider error')
  const loud = { passed: [Buffer.from('<ab')], outputBytes: 3, finished: true, message: undefined }
  assert.deepEqual(through(false, '<ab'), loud)
  const starts = [[0x41, 0x42, 0, 0], [0xff, 0xfb, 0x90, 0x64], 'RIFF', 'OggS', 'fLaC']
  for (const sound of starts.map((start) => Buffer.from(start as string))) {
    const passed = [sound]
    assert.deepEqual(through(true, sound), { ...loud, passed, outputBytes: 4 })
  }
})

test('a document in place of sound is one in any pieces; sound that begins like one is sound', () => {
  const through = (...chunks: readonly (string | Buffer)[]) => {
    const tap = createAudioTap('mp3')
    const passed = chunks.map((chunk) => tap.push(Buffer.from(chunk as string)))
    const out = Buffer.concat([...passed, tap.end()].filter((part) => part !== undefined))
    return { out, report: tap.report() }
  }
  const document = '\r\n{\n\n "error": { "message": "服务繁忙" }\n}\n'
  const halves = [document.slice(0, 12), document.slice(12)]
  const bytes = Buffer.from(document)
  const inside = bytes.indexOf('服') + 1
  const cut = [bytes.subarray(0, inside), bytes.subarray(inside)]
  for (const chunks of [[document], halves, document.split(''), cut]) {
    const { out, report } = through(...chunks)
    assert.equal(out.length, 0)
    assert.equal(report.error?.message, '服务繁忙')
    assert.deepEqual([report.outputBytes, report.finished], [0, false])
  }
  for (const chunks of [
    [Buffer.from([0x7b, 0x22, 0, 1]), 'more'],
    ['{"ab', Buffer.from([0xff, 0]), '}'],
    ['{"no', ' end'],
    ['{', 'a'.repeat(5_000), '}'],
  ]) {
    const { out, report } = through(...chunks)
    assert.deepEqual(out, Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as string))))
    assert.deepEqual([report.outputBytes, report.finished], [out.length, true])
    assert.equal(report.error, undefined)
  }
})
