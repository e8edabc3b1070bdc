/** Figures of media that a vendor writes as texts or fractions, or where nobody expects them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTranscription } from '../../server/wire/dialects/transcription/read-usage.ts'
import { readTranscript } from '../../server/wire/dialects/transcription-over-recognition/answer.ts'
import { arkVideo } from '../../server/wire/upstreams/ark/video.ts'
import { doubaoRecognitionDriver } from '../../server/wire/upstreams/doubao-recognition/recognition.ts'
import { mediakitErase } from '../../server/wire/upstreams/mediakit/erase.ts'
import { minimaxVideo } from '../../server/wire/upstreams/minimax/video.ts'
import type { TaskDriver } from '../../server/wire/upstreams/task-driver.ts'
import { type Recorded, startRecorded, wire } from './recording-vendor.ts'

const FILM = 'https://m.example/v.mp4'
const ARK = ['/contents/generations/tasks/7', arkVideo] as const
const MINIMAX = ['/v2/query/video_generation/7', minimaxVideo] as const
const MEDIAKIT = ['/api/v1/tasks/7', mediakitErase] as const
const RECOGNITION = ['/api/v3/auc/bigmodel/query', doubaoRecognitionDriver] as const

const ark = (usage: object) => ({ status: 'succeeded', content: { video_url: FILM }, usage })
const minimax = (usage: object) => ({
  task: { status: 'succeeded', content: { url: FILM }, usage },
})
const mediakit = (duration: unknown) => ({
  status: 'completed',
  result: { video_url: FILM, duration },
})
const spoken = (duration: unknown, text = 'a') => ({
  audio_info: { duration },
  result: { utterances: text ? [{ text, start_time: 0, end_time: 2_660 }] : [] },
})

const searches = (web_search_call: number) => ({ output_token: 100, web_search_call })

for (const [[path, driver], body, usage] of [
  [ARK, ark({ completion_tokens: '100' }), searches(0)],
  [ARK, ark({ completion_tokens: 0, total_tokens: 100 }), searches(0)],
  [ARK, ark({ completion_tokens: 100, tool_usage: { web_search: 2 } }), searches(2)],
  [ARK, ark({ completion_tokens: 0, total_tokens: -1 }), undefined],
  [ARK, ark({ completion_tokens: '1e2' }), undefined],
  [MINIMAX, minimax({ total_seconds: '12' }), { second: 12 }],
  [MINIMAX, minimax({ total_seconds: 11.5 }), { second: 12 }],
  [MINIMAX, minimax({ total_seconds: 0, input_seconds: '6.5', output_seconds: 5 }), { second: 12 }],
  [MINIMAX, minimax({ total_seconds: 5, input_image_count: '8' }), { second: 5, image: 3 }],
  [MINIMAX, minimax({ total_seconds: 0 }), { second: 0 }],
  [MEDIAKIT, mediakit('5.04'), { second: 5 }],
  [MEDIAKIT, mediakit('soon'), { second: -1 }],
  [MEDIAKIT, mediakit(0), { second: -1 }],
  [MEDIAKIT, mediakit('0.0'), { second: -1 }],
  [MEDIAKIT, mediakit(0.2), { second: 1 }],
  [RECOGNITION, spoken('4820'), { second: 5 }],
  [RECOGNITION, spoken(0), undefined],
  [RECOGNITION, spoken(0, ''), { second: 0 }],
] as readonly [readonly [string, TaskDriver<never>], object, object | undefined][]) {
  test(`${path}: ${JSON.stringify(body)} states ${JSON.stringify(usage)}`, async (t) => {
    const recorded: Recorded = { code: 20_000_000, body }
    const { url } = await startRecorded(t, () => ({ [path]: recorded }))
    const settings = { base_url: url, api_key: 'k' } as never
    const about = { upstreamModel: 'a-model', upstreamId: '7' }
    const poll = await driver.poll(wire, { settings, ...about })
    assert.equal(poll.state, 'succeeded')
    assert.deepEqual('usage' in poll ? poll.usage : undefined, usage)
  })
}

test('a tool of a video that no unit counts is reviewed', async (t) => {
  const [path, driver] = ARK
  const body = ark({ completion_tokens: 100, tool_usage: { mcp: 1, dreams: 2 } })
  const { url } = await startRecorded(t, () => ({ [path]: { body } }))
  const settings = { base_url: url, api_key: 'k', callbacks: false, stored_ids: 'own' } as const
  const poll = await driver.poll(wire, { settings, upstreamModel: 'a-model', upstreamId: '7' })
  assert.deepEqual('unknownUsage' in poll && poll.unknownUsage, ['usage.tool_usage.dreams'])
})

test('a transcript’s seconds', () => {
  const usageOf = (seconds: unknown) => {
    return readTranscription({ text: 'a', usage: { type: 'duration', seconds } }).usage
  }
  assert.deepEqual(usageOf('61.2'), { second: 62 })
  const untyped = { text: 'a', duration: 5, usage: { seconds: 61.2 } }
  assert.deepEqual(readTranscription(untyped).usage, { second: 62 })
  assert.equal(usageOf('a minute'), undefined)
  assert.equal(readTranscript(spoken('4820'), 'en').seconds, 4.82)
  assert.equal(readTranscript(spoken(0), 'en').seconds, undefined, 'the file is measured instead')
})
