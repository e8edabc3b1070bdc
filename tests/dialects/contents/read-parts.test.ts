/** Answers of the contents format: bytes cut anywhere, and counts that anyone may have made up. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type ContentsChatOptions,
  createContentsChat,
} from '../../../server/wire/dialects/chat-over-contents/answer.ts'
import { ContentsReader } from '../../../server/wire/dialects/contents/read-parts.ts'
import { ContentsUsage } from '../../../server/wire/dialects/contents/read-usage.ts'
import { chunkings, run } from '../replay.ts'

const OPTIONS: ContentsChatOptions = {
  id: 'chatcmpl-1',
  model: 'm',
  created: 1,
  includeUsage: true,
  inputTokensEstimate: 42,
  stream: true,
  reading: { billsQueries: true, isGrounded: true },
}

const PIECES = [
  { candidates: [{ content: { role: 'model' }, finishReason: 'STOP' }] },
  { candidates: [{ content: { parts: [{ text: 'dies ', thought: true }] } }] },
  { candidates: [{ content: { parts: [{ text: 'Flüsse 🌊 ' }, { text: 'fließen' }] } }] },
  {
    candidates: [
      { content: { parts: [{ functionCall: { name: 'f' }, thoughtSignature: 'c2ln' }] } },
    ],
  },
  { candidates: [{ content: { parts: [{ functionCall: { name: 'f', args: { a: 'ü' } } }] } }] },
  {
    candidates: [
      {
        content: { parts: [{ text: '', thoughtSignature: 'dGV4dA==' }] },
        finishReason: 'STOP',
        groundingMetadata: {
          webSearchQueries: ['a', ' a ', '', 'b'],
          groundingChunks: [{ web: { uri: 'https://a.example/' } }],
          groundingSupports: [
            { segment: { startIndex: 8, endIndex: 12 }, groundingChunkIndices: [0, 9] },
          ],
        },
      },
    ],
    usageMetadata: {
      promptTokenCount: 9,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 2,
      totalTokenCount: 16,
    },
  },
]
const body = (end: string) =>
  Buffer.from(PIECES.map((piece) => `data: ${JSON.stringify(piece)}${end}${end}`).join(''))

test('a stream is read alike, however its bytes are cut and its lines end', () => {
  const relay = createContentsChat(OPTIONS)
  const expected = run(relay, [body('\r\n')])
  assert.deepEqual(relay.report().usage, { input_token: 9, output_token: 7, web_search_call: 2 })
  assert.match(expected, /"content":"Flüsse 🌊 "/)
  // Four bytes are one code point, and the last source does not exist.
  assert.match(expected, /"start_index":7,"end_index":8,"url":"https:\/\/a.example\/"/)
  assert.equal(expected.match(/url_citation":\{/g)?.length, 1)
  assert.match(expected, /"finish_reason":"tool_calls"/)
  assert.match(expected, /"extra_content":\{"google":\{"thought_signature":"dGV4dA=="\}\}/)
  for (const end of ['\r\n', '\n', '\r']) {
    for (const { name, chunks } of chunkings(body(end))) {
      assert.equal(run(createContentsChat(OPTIONS), chunks), expected, name)
    }
  }
})

test('quotations are cited once, with what is known of the work', () => {
  const uri = 'https://b.example/'
  const pieces = [
    { content: { parts: [{ text: 'ü = 1' }] }, citationMetadata: { citations: [{ title: 'x' }] } },
    { content: { parts: [{ text: '; z' }] }, citationMetadata: { citations: [{ uri }] } },
    {
      finishReason: 'STOP',
      citationMetadata: {
        citations: [{ uri }, { startIndex: 2, endIndex: 6, uri, title: 'B', license: 'mit' }],
      },
    },
  ]
  const sent = pieces.map((piece) => `data: ${JSON.stringify({ candidates: [piece] })}\n\n`)
  const reading = { billsQueries: true, isGrounded: false }
  const answer = run(createContentsChat({ ...OPTIONS, reading }), [Buffer.from(sent.join(''))])
  const cited = answer.match(/"url_citation":\{[^}]*\}/g)
  assert.deepEqual(cited, [
    `"url_citation":{"start_index":0,"end_index":0,"url":"${uri}","title":"${uri}"}`,
    `"url_citation":{"start_index":1,"end_index":5,"url":"${uri}","title":"B","license":"mit"}`,
  ])
})

test('a stream without a reason breaks off, and keeps what was stated', () => {
  const cut = body('\n')
  const relay = createContentsChat(OPTIONS)
  const out = run(relay, [cut.subarray(cut.indexOf('data: ', 10), cut.indexOf('thoughtSignature'))])
  assert.match(out, /"error":/)
  assert.equal(relay.report().finished, false)
})

const count = fc.oneof(
  { weight: 6, arbitrary: fc.nat(5_000) },
  fc.constantFrom(-1, 0.5, '7', null, 2 ** 60, Number.MAX_SAFE_INTEGER, undefined, {}, [1]),
)
const details = fc.oneof(
  fc.array(
    fc.record({
      modality: fc.constantFrom('TEXT', 'AUDIO', 'IMAGE', 'VIDEO', 'DOCUMENT', 'x', 1),
      tokenCount: count,
    }),
    { maxLength: 5 },
  ),
  fc.constantFrom(undefined, null, 'x', {}),
)
const usage = fc.record({
  promptTokenCount: count,
  cachedContentTokenCount: count,
  toolUsePromptTokenCount: count,
  candidatesTokenCount: count,
  thoughtsTokenCount: count,
  totalTokenCount: count,
  promptTokensDetails: details,
  cacheTokensDetails: details,
  candidatesTokensDetails: details,
  toolUsePromptTokensDetails: details,
})

test('whatever is stated: units are counts, and add up to the totals of their sides', () => {
  const isCount = (value: unknown): value is number =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
  fc.assert(
    fc.property(fc.array(usage, { minLength: 1, maxLength: 4 }), fc.nat(3), (stated, pictures) => {
      const reader = new ContentsUsage({ billsQueries: true })
      for (const usageMetadata of stated) reader.read({ usageMetadata })
      if (pictures > 0) reader.noteOutput(pictures)
      const { usage: units = {} } = reader.reading()
      for (const quantity of Object.values(units)) assert.ok(isCount(quantity), String(quantity))
      const sum = (pattern: RegExp) =>
        Object.entries(units).reduce(
          (total, [unit, quantity]) => total + (pattern.test(unit) ? quantity : 0),
          0,
        )
      if (stated.length > 1) return
      const [one] = stated
      const [prompt, tools] = [one?.promptTokenCount, one?.toolUsePromptTokenCount]
      const expected = isCount(prompt) ? prompt + (isCount(tools) ? tools : 0) : 0
      if (Number.isSafeInteger(expected)) assert.equal(sum(/input_token$/), expected)
    }),
    { numRuns: 2_000 },
  )
})

test('what a total has above its parts is the part that is not stated', () => {
  const base = { promptTokenCount: 10, toolUsePromptTokenCount: 2 }
  for (const [usageMetadata, output] of [
    [{ ...base, candidatesTokenCount: 5, totalTokenCount: 57 }, 45],
    [{ ...base, thoughtsTokenCount: 40, totalTokenCount: 57 }, 45],
    [{ ...base, candidatesTokenCount: 5, thoughtsTokenCount: 0, totalTokenCount: 57 }, 5],
    [{ ...base, candidatesTokenCount: 5, totalTokenCount: 16 }, 5],
    [{ ...base, candidatesTokenCount: 5, totalTokenCount: 17 + 131_073 }, 5],
    [{ candidatesTokenCount: 5, totalTokenCount: 57 }, 5],
  ] as const) {
    const reader = new ContentsUsage({ billsQueries: true })
    reader.read({ usageMetadata })
    assert.equal(reader.reading().usage?.output_token, output, JSON.stringify(usageMetadata))
  }
})

test('a prompt that is stated twice is billed once, and is nothing unknown', () => {
  const reader = new ContentsUsage({ billsQueries: true })
  const prompt = { promptTokenCount: 328, rawPromptTokenCount: 328 }
  reader.read({ usageMetadata: { ...prompt, candidatesTokenCount: 167, totalTokenCount: 495 } })
  assert.deepEqual(reader.reading(), { usage: { input_token: 328, output_token: 167 } })
})

test('the last piece corrects the prompt that the pieces before it estimated', () => {
  const early = { promptTokenCount: 12, totalTokenCount: 12 }
  const last = { promptTokenCount: 11, candidatesTokenCount: 116, totalTokenCount: 127 }
  const thought = { promptTokenCount: 12, thoughtsTokenCount: 3, totalTokenCount: 15 }
  for (const [stated, input, output] of [
    [[early, early, last], 11, 116],
    [[thought, { ...last, thoughtsTokenCount: 4, totalTokenCount: 131 }], 11, 120],
    // What contradicts itself, or takes output back, lowers nothing.
    [[early, { ...last, totalTokenCount: 128 }], 12, 116],
    [[early, { promptTokenCount: 11, candidatesTokenCount: 116 }], 12, 116],
    [[last, { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }], 11, 116],
    [[last, { promptTokenCount: 1, totalTokenCount: 1 }], 11, 116],
    [[last, { promptTokenCount: 0, candidatesTokenCount: 116, totalTokenCount: 116 }], 11, 116],
  ] as const) {
    const reader = new ContentsUsage({ billsQueries: true })
    for (const usageMetadata of stated) reader.read({ usageMetadata })
    const expected = { input_token: input, output_token: output }
    assert.deepEqual(reader.reading().usage, expected, JSON.stringify(stated))
  }
})

test('an answer that cites the pages of its prompt did not search', () => {
  const groundingChunks = [{ web: { uri: 'https://a.example/' } }]
  const urlContextMetadata = { urlMetadata: [{ retrievedUrl: 'https://a.example/' }] }
  const searches = (...candidates: readonly object[]) => {
    const reader = new ContentsReader({ billsQueries: false, isGrounded: false })
    for (const one of candidates) reader.whole({ candidates: [one] })
    return reader.reading().usage?.web_search_call
  }
  const grounded = { groundingMetadata: { groundingChunks } }
  assert.equal(searches(grounded), 1)
  assert.equal(searches({ ...grounded, urlContextMetadata }), undefined)
  assert.equal(searches(grounded, { urlContextMetadata }), undefined)
  const searched = { groundingMetadata: { groundingChunks, webSearchQueries: ['a'] } }
  assert.equal(searches({ ...searched, urlContextMetadata }), 1)
})

test('the prompt may grow in the last piece, which alone states what was cached', () => {
  const reader = new ContentsUsage({ billsQueries: true })
  const early = { promptTokenCount: 132, candidatesTokenCount: 14, totalTokenCount: 146 }
  reader.read({ usageMetadata: early })
  const last = { promptTokenCount: 133, cachedContentTokenCount: 122, totalTokenCount: 147 }
  reader.read({ usageMetadata: { ...early, ...last } })
  const expected = { input_token: 11, cached_input_token: 122, output_token: 14 }
  assert.deepEqual(reader.reading().usage, expected)
})

test('an answer that has no text is paid for its prompt alone', () => {
  const reader = new ContentsReader({ billsQueries: true, isGrounded: false })
  reader.whole({
    candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' }],
    usageMetadata: {
      billablePromptUsage: { textCount: 609 },
      promptTokenCount: 83,
      totalTokenCount: 83,
      trafficType: 'ON_DEMAND',
    },
  })
  const { usage, unknownUsage } = reader.reading()
  assert.deepEqual([usage, unknownUsage], [{ input_token: 83, output_token: 0 }, undefined])
})

test('counts never shrink: work that was stated was done', () => {
  const honest = (output: number) => ({
    promptTokenCount: 10,
    candidatesTokenCount: output,
    totalTokenCount: 10 + output,
  })
  fc.assert(
    fc.property(fc.array(fc.nat(1_000), { minLength: 1, maxLength: 6 }), (outputs) => {
      const reader = new ContentsUsage({ billsQueries: true })
      for (const output of outputs) reader.read({ usageMetadata: honest(output) })
      assert.equal(reader.reading().usage?.output_token, Math.max(...outputs))
    }),
  )
})

test('of a blocked prompt no output is estimated', () => {
  const promptFeedback = { blockReason: 'SAFETY', blockReasonMessage: 'a long text '.repeat(20) }
  for (const [usageMetadata, usage] of [
    [undefined, { output_token: 0 }],
    [{ promptTokenCount: 9 }, { input_token: 9, output_token: 0 }],
    [
      { promptTokenCount: 9, thoughtsTokenCount: 4 },
      { input_token: 9, output_token: 4 },
    ],
  ] as const) {
    for (const stream of [true, false]) {
      const relay = createContentsChat({ ...OPTIONS, stream })
      const text = JSON.stringify({ promptFeedback, usageMetadata })
      run(relay, [Buffer.from(stream ? `data: ${text}\n\n` : text)])
      assert.deepEqual(relay.report().usage, usage)
    }
  }
})
