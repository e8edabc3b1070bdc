/** What a finished video measures, for an answer that states no tokens. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { arkVideo } from '../../../server/wire/upstreams/ark/video.ts'
import { startRecorded, wire } from '../recording-vendor.ts'

for (const [length, isMeasured] of [
  [{ duration: 5 }, true],
  [{ frames: 57 }, true],
  [{ duration: 0 }, false],
  [{ duration: -1 }, false],
  [{ frames: 0 }, false],
  [{ duration: '5' }, false],
  [{ duration: 1e308 }, false],
  [{ duration: 5, resolution: 'constructor' }, true],
  [{ duration: 5, ratio: '__proto__' }, true],
  [{}, false],
] as const) {
  test(`${JSON.stringify(length)} measures ${isMeasured ? 'tokens' : 'nothing'}`, async (t) => {
    const task = { status: 'succeeded', content: { video_url: 'https://a/v.mp4' }, ...length }
    const { url } = await startRecorded(t, () => ({
      '/contents/generations/tasks/cgt-1': { body: task },
    }))
    const poll = await arkVideo.poll(wire, {
      settings: { base_url: url, api_key: 'none', callbacks: false, stored_ids: 'own' },
      upstreamModel: 'doubao-seedance-1-5-pro',
      upstreamId: 'cgt-1',
    })
    assert.equal(poll.state, 'succeeded')
    const { output_token: tokens } = ('measured' in poll && poll.measured) || {}
    assert.equal(tokens !== undefined && tokens > 0, isMeasured, String(tokens))
  })
}
