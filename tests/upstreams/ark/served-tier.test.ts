/** The tier that served a video decides its price, whatever the request asked for. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { arkVideo } from '../../../server/wire/upstreams/ark/video.ts'
import type { Wire } from '../../../server/wire/upstreams/wire.ts'

async function pollTier(tier: unknown) {
  const task = {
    status: 'succeeded',
    content: { video_url: 'https://a/v.mp4' },
    service_tier: tier,
  }
  const body = Readable.from([Buffer.from(JSON.stringify(task))])
  const wire = { send: async () => ({ status: 200, headers: {}, body }) } as unknown as Wire
  const found = await arkVideo.poll(wire, {
    settings: { base_url: 'http://127.0.0.1', api_key: 'none', callbacks: false },
    upstreamModel: 'doubao-seedance-1-5-pro',
    upstreamId: 'cgt-1',
  } as Parameters<typeof arkVideo.poll>[1])
  assert.equal(found.state, 'succeeded')
  return { tier: found.facts?.service_tier, unknown: found.unknownUsage }
}

test('a stated tier is a fact, one without a word for it is for review', async () => {
  assert.deepEqual(await pollTier('flex'), { tier: 'flex', unknown: undefined })
  assert.deepEqual(await pollTier('DEFAULT'), { tier: 'default', unknown: undefined })
  for (const tier of [undefined, null, '']) {
    assert.deepEqual(await pollTier(tier), { tier: undefined, unknown: undefined })
  }
  assert.deepEqual(await pollTier('turbo'), { tier: undefined, unknown: ['service_tier'] })
})
