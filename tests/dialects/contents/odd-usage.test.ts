/** What the usage of a whole answer comes to, stated honestly, oddly or wrongly. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContentsReader } from '../../../server/wire/dialects/contents/read-parts.ts'

const SAID = { content: { role: 'model', parts: [{ text: 'a river' }] }, finishReason: 'STOP' }
const HUGE = Number.MAX_SAFE_INTEGER

function read(usageMetadata: unknown, more: object = {}) {
  const reader = new ContentsReader({ billsQueries: true, isGrounded: false, readsAll: true })
  reader.whole({ candidates: [SAID], ...more, usageMetadata })
  const { usage, unknownUsage } = reader.reading()
  return { ...usage, ...(unknownUsage ? { unknownUsage } : {}) }
}

/** Usage by short names: prompt, cached, tools, candidates, thoughts, total. */
function usageOf(counts: Readonly<Record<string, unknown>>) {
  const names: Readonly<Record<string, string>> = {
    prompt: 'promptTokenCount',
    cached: 'cachedContentTokenCount',
    tools: 'toolUsePromptTokenCount',
    candidates: 'candidatesTokenCount',
    thoughts: 'thoughtsTokenCount',
    total: 'totalTokenCount',
    parts: 'promptTokensDetails',
    hits: 'cacheTokensDetails',
    found: 'toolUsePromptTokensDetails',
    made: 'candidatesTokensDetails',
  }
  const isDetails = (value: unknown) => typeof value === 'object' && value !== null
  const entries = Object.entries(counts).map(([name, value]) => {
    const list = isDetails(value) ? Object.entries(value as object) : []
    const details = list.map(([modality, tokenCount]) => ({ modality, tokenCount }))
    return [names[name] ?? name, isDetails(value) ? details : value]
  })
  return Object.fromEntries(entries)
}

const OUT = { candidates: 5, total: 15 }

for (const [name, counts, expected] of [
  ['a tool’s input outside of the total', { prompt: 10, tools: 20, ...OUT }, [30, 5]],
  ['thoughts without candidates', { prompt: 10, thoughts: 7, total: 17 }, [10, 7]],
  [
    'thoughts inside of candidates',
    { prompt: 10, candidates: 12, thoughts: 7, total: 22 },
    [10, 12],
  ],
  ['thoughts that only the total has', { prompt: 10, candidates: 5, total: 40 }, [10, 30]],
  ['a total that no thoughts explain', { prompt: 10, candidates: 5, total: 4e6 }, [10, 5]],
  ['a total below its parts', { prompt: 10, candidates: 5, total: 3 }, [10, 5]],
  ['a total alone', { total: 40 }, []],
  [
    'a prompt that is stated twice, and differs',
    { prompt: 10, rawPromptTokenCount: 9e5, ...OUT },
    [10, 5],
  ],
  ['counts as texts', { prompt: '10', candidates: '5', total: '15' }, []],
  ['a negative output', { prompt: 10, candidates: -5, total: 5 }, [10]],
  [
    'an input beyond what can be counted',
    { prompt: HUGE, tools: 5, candidates: 5 },
    [undefined, 5],
  ],
  ['details that are none', { prompt: 10, promptTokensDetails: null, ...OUT }, [10, 5]],
] as const) {
  test(name, () => {
    const [input, output] = expected
    assert.deepEqual(read(usageOf(counts)), {
      ...(input === undefined ? {} : { input_token: input }),
      ...(output === undefined ? {} : { output_token: output }),
    })
  })
}

for (const [name, counts, expected] of [
  ['more cached than there is', { prompt: 10, cached: 60 }, { cached_input_token: 10 }],
  ['all of it cached', { prompt: 10, cached: 10 }, { cached_input_token: 10 }],
  ['more sound than there is', { prompt: 10, parts: { AUDIO: 60 } }, { audio_input_token: 10 }],
  [
    'sound in other letters',
    { prompt: 10, parts: { audio: 6, TEXT: 4 } },
    { audio_input_token: 6, input_token: 4 },
  ],
  ['a document', { prompt: 20, parts: { DOCUMENT: 8, TEXT: 12 } }, { input_token: 20 }],
  [
    'cached sound',
    { prompt: 20, cached: 8, hits: { AUDIO: 6, TEXT: 2 }, parts: { AUDIO: 10, TEXT: 10 } },
    { cached_audio_input_token: 6, cached_input_token: 2, audio_input_token: 4, input_token: 8 },
  ],
  [
    'a cached film, which has the price of cached text',
    { prompt: 20, cached: 8, hits: { VIDEO: 8 }, parts: { VIDEO: 10, TEXT: 10 } },
    { cached_input_token: 8, video_input_token: 2, input_token: 10 },
  ],
  [
    'cached without details, and more sound than is left',
    { prompt: 20, cached: 15, parts: { AUDIO: 10, TEXT: 10 } },
    { cached_input_token: 15, audio_input_token: 5 },
  ],
  [
    'sound that a tool found',
    { prompt: 10, tools: 20, found: { AUDIO: 5, TEXT: 15 } },
    { audio_input_token: 5, input_token: 25 },
  ],
] as const) {
  test(`input: ${name}`, () => {
    const usage = read(usageOf({ ...counts, candidates: 5 }))
    assert.deepEqual(usage, { input_token: 0, ...expected, output_token: 5 })
  })
}

for (const [name, counts, field] of [
  ['an output', { prompt: 10, candidates: 5, made: { VIDEO: 5 } }, 'candidatesTokensDetails'],
  ['an input', { prompt: 10, candidates: 5, parts: { SMELL: 9 } }, 'promptTokensDetails'],
  ['a count', { prompt: 10, candidates: 5, videoSecondsCount: 3 }, 'videoSecondsCount'],
] as const) {
  test(`${name} of a kind that no price represents is reviewed`, () => {
    const unknownUsage = [`usageMetadata.${field}`]
    assert.deepEqual(read(usageOf(counts)), { input_token: 10, output_token: 5, unknownUsage })
  })
}

test('a kind that is listed with no tokens is no reason for a review', () => {
  const counts = { prompt: 10, candidates: 5, parts: { SMELL: 0, TEXT: 10 } }
  assert.deepEqual(read(usageOf(counts)), { input_token: 10, output_token: 5 })
})

test('sound without a stated output is reviewed: its bytes say nothing of its tokens', () => {
  const sound = { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } }
  const candidates = [{ content: { parts: [sound] }, finishReason: 'STOP' }]
  const lost = { unknownUsage: ['usageMetadata'] }
  assert.deepEqual(read(usageOf({ total: 1 }), { candidates }), lost)
  assert.deepEqual(read(undefined, { candidates }), lost)
  const stated = usageOf({ prompt: 9, candidates: 250, made: { AUDIO: 250 }, total: 259 })
  const expected = { input_token: 9, audio_output_token: 250, output_token: 0 }
  assert.deepEqual(read(stated, { candidates }), expected)
})

test('an address that was read is tokens and no search', () => {
  const urlMetadata = [{ retrievedUrl: 'https://a.example', urlRetrievalStatus: 'OK' }]
  const candidates = [{ ...SAID, urlContextMetadata: { urlMetadata } }]
  const usage = read(usageOf({ prompt: 10, tools: 900, candidates: 5, total: 915 }), { candidates })
  assert.deepEqual(usage, { input_token: 910, output_token: 5 })
})
