/** Generations without sound: a request for no sound is what they do anyway. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { arkVideo } from '../../../server/wire/upstreams/ark/video.ts'
import { startRecorded, wire } from '../recording-vendor.ts'

const TASKS = '/contents/generations/tasks'

test('generate_audio: false is taken, and not sent', async (t) => {
  const { url, seen } = await startRecorded(t, () => ({ [TASKS]: { body: { id: 'cgt-1' } } }))
  const order = {
    settings: { base_url: url, api_key: 'k', callbacks: false },
    upstreamModel: 'doubao-seedance-1-0-pro-250528',
    parameters: {
      resolution: '720p',
      duration: 5,
      generate_audio: false,
      content: [{ type: 'text', text: 'a river' }],
    },
    sentFields: new Set(['content', 'generate_audio']),
    details: {},
  } as unknown as Parameters<typeof arkVideo.prepare>[0]
  assert.equal(arkVideo.prepare(order).facts.audio, false)
  await arkVideo.submit(wire, order, {} as never)
  assert.equal(JSON.parse(seen[0]?.body ?? '{}').generate_audio, undefined)
})
