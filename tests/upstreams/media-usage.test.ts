/** What routers of many media models state as billed, and what is charged of it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { mediaSettings } from '../../server/wire/upstreams/media-tasks/settings.ts'
import { mediaVideo } from '../../server/wire/upstreams/media-tasks/video.ts'
import { type Recorded, startRecorded, wire } from './recording-vendor.ts'

const FILM = 'https://m.example/v.mp4'

/** Reads a task that has ended at a vendor with these answers. */
async function poll(
  t: TestContext,
  preset: string,
  answers: Record<string, Recorded>,
  more: object = {},
) {
  const { url } = await startRecorded(t, () => answers)
  const settings = mediaSettings.parse({ base_url: url, api_key: 'k', preset, ...more })
  const about = { upstreamModel: 'owner/films/fast', upstreamId: '7' }
  return mediaVideo.poll(wire, { settings, ...about })
}

test('OpenRouter: with a key of the operator’s at the vendor, both bills count', async (t) => {
  const usageOf = async (usage: object) => {
    const body = { id: '7', status: 'completed', urls: [FILM], usage }
    const done = await poll(t, 'openrouter', { '/api/v1/videos/7': { body } })
    return 'usage' in done ? done.usage : undefined
  }
  assert.deepEqual(await usageOf({ cost: 0.5, is_byok: false }), { vendor_cost: 500_000_000 })
  const bill = { cost_details: { upstream_inference_cost: 2 } }
  const both = { vendor_cost: 2_100_000_000 }
  assert.deepEqual(await usageOf({ cost: 0.1, is_byok: true, ...bill }), both)
  assert.equal(await usageOf({ cost: 0.1, is_byok: true }), undefined)
})

test('the units of fal are charged where its channel says that they are seconds', async (t) => {
  const answers = {
    '/owner/films/requests/7/status': { body: { status: 'COMPLETED' } },
    '/owner/films/requests/7': {
      body: { video: { url: FILM } },
      headers: { 'x-fal-billable-units': '1' },
    },
  }
  const usageOf = async (more: object) => {
    const done = await poll(t, 'fal', answers, more)
    return 'usage' in done ? done.usage : undefined
  }
  assert.equal(await usageOf({}), undefined)
  assert.deepEqual(await usageOf({ stated_usage: true }), { second: 1 })
})
