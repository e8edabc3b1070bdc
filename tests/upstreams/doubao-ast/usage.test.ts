/** Adding up what the vendor states, and joining what it says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUsageCounter } from '../../../server/wire/upstreams/doubao-ast/count-usage.ts'
import { createTranscript } from '../../../server/wire/upstreams/doubao-ast/transcript.ts'

type Statement = readonly [durationMs: number, input: number, output: number]

function count(statements: readonly Statement[], sentMs: number) {
  const counter = createUsageCounter()
  for (const [durationMs, input, output] of statements) {
    const items = [
      { unit: 'input_audio_tokens', quantity: input },
      { unit: 'output_text_tokens', quantity: output },
      { unit: 'seconds', quantity: 99 },
    ]
    counter.add({ items, durationMs })
  }
  const usage = counter.read(sentMs)
  return usage && [usage.input_token, usage.output_token]
}

test('nothing stated is not zero', () => {
  assert.equal(count([], 1_000), undefined)
})

test('increments are added up, fractions rounded up once', () => {
  assert.deepEqual(count([[2_000, 12.5, 3.25]], 2_000), [13, 4])
  const four: readonly Statement[] = Array.from({ length: 4 }, () => [2_000, 12.5, 10] as const)
  assert.deepEqual(count(four, 8_000), [50, 40])
  assert.deepEqual(
    count(
      [
        [2_000, 12.5, 10],
        [640, 4, 15],
      ],
      2_640,
    ),
    [17, 25],
  )
})

test('running totals are detected by more audio than was sent', () => {
  const totals: readonly Statement[] = [
    [2_000, 12.5, 10],
    [4_000, 25, 20],
    [5_000, 31.25, 30],
  ]
  assert.deepEqual(count(totals, 5_000), [32, 30])
})

test('usage is whole once it is stated for all of the audio', () => {
  const counter = createUsageCounter()
  counter.add({ durationMs: 5_000, items: [{ unit: 'input_audio_tokens', quantity: 30 }] })
  assert.equal(counter.isWhole(5_000), false, 'no output yet')
  counter.add({ durationMs: 0, items: [{ unit: 'output_text_tokens', quantity: 9 }] })
  assert.equal(counter.isWhole(5_000), true)
  assert.equal(counter.isWhole(5_900), false, 'the last sentence may come behind the end')
})

test('running totals are whole once the last is for all of the audio', () => {
  const counter = createUsageCounter()
  for (const [durationMs, quantity] of [
    [2_000, 13],
    [4_000, 25],
  ] as const) {
    const units = ['input_audio_tokens', 'output_text_tokens']
    counter.add({ durationMs, items: units.map((unit) => ({ unit, quantity })) })
  }
  assert.equal(counter.isWhole(4_900), false)
  assert.equal(counter.isWhole(4_000), true)
})

test('speech and text are both output', () => {
  const counter = createUsageCounter()
  counter.add({
    durationMs: 1_000,
    items: [
      { unit: 'output_text_tokens', quantity: 2 },
      { unit: 'output_audio_tokens', quantity: 3 },
    ],
  })
  assert.deepEqual(counter.read(1_000), { output_token: 5 }, 'the input is not stated')
})

test('a statement that names no tokens states none', () => {
  const counter = createUsageCounter()
  counter.add({ durationMs: 1_000, items: [] })
  counter.add({ durationMs: 1_000, items: [{ unit: 'seconds', quantity: 2 }] })
  assert.equal(counter.read(2_000), undefined)
  counter.add({ durationMs: 0, items: [{ unit: 'input_audio_tokens', quantity: 4 }] })
  assert.deepEqual(counter.read(2_000), { input_token: 4 })
})

test('what is no number stays none', () => {
  assert.ok(Number.isNaN(count([[1_000, Number.NaN, 1]], 1_000)?.[0]))
  assert.ok(Number.isNaN(count([[1_000, -4, 1]], 1_000)?.[0]))
})

test('a negative statement takes nothing back', () => {
  const found = count(
    [
      [2_000, 12, 10],
      [-2_000, -12, -10],
    ],
    4_000,
  )
  assert.deepEqual(found, [Number.NaN, Number.NaN])
})

test('sentences are joined as their scripts are written', () => {
  for (const [sentences, text] of [
    [['One.', 'Two.'], 'One. Two.'],
    [['One. ', 'Two.', ' Three.'], 'One. Two. Three.'],
    [['第一句。', '第二句。'], '第一句。第二句。'],
    [['第一句', 'Two', '三'], '第一句Two三'],
    [['𠀀', 'a'], '𠀀a'],
    [['', 'Only.', ''], 'Only.'],
    [[], ''],
  ] as const) {
    const transcript = createTranscript()
    for (const sentence of sentences) transcript.addTranslation(sentence)
    assert.deepEqual(transcript.texts(), { text, source_text: '' })
  }
})

test('there is a limit to what is kept', () => {
  const transcript = createTranscript()
  assert.equal(transcript.addSource('x'.repeat(1024 * 1024)), true)
  assert.equal(transcript.addTranslation('x'), false)
})
