/** Links to results, which reach records and pages: a vendor may state no script in their place. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { readImagesResult } from '../../server/wire/dialects/images/read-result.ts'
import { arkVideo } from '../../server/wire/upstreams/ark/video.ts'
import { dashscopeVideo } from '../../server/wire/upstreams/dashscope/video.ts'
import { klingVideo } from '../../server/wire/upstreams/kling/video.ts'
import { mediaVideo } from '../../server/wire/upstreams/media-tasks/video.ts'
import { mediakitErase } from '../../server/wire/upstreams/mediakit/erase.ts'
import { minimaxVideo } from '../../server/wire/upstreams/minimax/video.ts'
import { startRecorded, wire } from './recording-vendor.ts'

const STORED = { stored_ids: 'own' } as const

const BAD = [
  'javascript:alert(1)',
  'JavaScript:alert(1)//https://a.example/v.mp4',
  ' javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
  'blob:https://a.example/1',
  '//a.example/v.mp4',
  'v.mp4',
  'http://',
  'https://[',
  '',
  7,
  null,
  { url: 'https://a.example/v.mp4' },
]
const GOOD = 'HTTPS://a.example/v.mp4?sign=1'

const OK = { status_code: 0, status_msg: 'success' }
const VENDORS = {
  async ark(t: TestContext, link: unknown) {
    const content = { video_url: link, last_frame_url: link }
    const { url } = await startRecorded(t, () => ({
      '/contents/generations/tasks/1': { body: { status: 'succeeded', content } },
    }))
    const settings = { ...STORED, base_url: url, api_key: 'none', callbacks: false }
    return arkVideo.poll(wire, { settings, upstreamModel: 'doubao-seedance', upstreamId: '1' })
  },
  async dashscope(t: TestContext, link: unknown) {
    const output = { task_id: '1', task_status: 'SUCCEEDED', video_url: link }
    const { url } = await startRecorded(t, () => ({ '/api/v1/tasks/1': { body: { output } } }))
    const settings = { base_url: url, api_key: 'none' }
    return dashscopeVideo.poll(wire, { settings, upstreamModel: 'wan3.0-video', upstreamId: '1' })
  },
  async kling(t: TestContext, link: unknown) {
    const data = [{ id: '1', status: 'succeeded', outputs: [{ type: 'video', url: link }] }]
    const { url } = await startRecorded(t, () => ({ '/tasks?task_ids=1': { body: { data } } }))
    const settings = { base_url: url, api_key: 'none' }
    return klingVideo.poll(wire, { settings, upstreamModel: 'kling-3.0', upstreamId: '1' })
  },
  async 'media-tasks'(t: TestContext, link: unknown) {
    // Inside of an object a link is found.
    const output = typeof link === 'object' ? null : link
    const body = { id: '1', status: 'succeeded', output }
    const { url } = await startRecorded(t, () => ({ '/v1/predictions/1': { body } }))
    const preset = 'replicate' as const
    const more = { callbacks: false, stated_usage: true }
    const settings = { base_url: url, api_key: 'none', preset, ...more }
    return mediaVideo.poll(wire, { settings, upstreamModel: 'owner/films', upstreamId: '1' })
  },
  async mediakit(t: TestContext, link: unknown) {
    const task = { success: true, status: 'completed', result: { video_url: link } }
    const { url } = await startRecorded(t, () => ({ '/api/v1/tasks/1': { body: task } }))
    const settings = { ...STORED, base_url: url, api_key: 'none', callbacks: false }
    return mediakitErase.poll(wire, { settings, upstreamModel: 'erase', upstreamId: '1' })
  },
  async 'MiniMax, the older protocol'(t: TestContext, link: unknown) {
    const { url } = await startRecorded(t, () => ({
      '/v1/query/video_generation?task_id=1': {
        body: { task_id: '1', status: 'Success', file_id: '2', base_resp: OK },
      },
      '/v1/files/retrieve?file_id=2': { body: { file: { download_url: link }, base_resp: OK } },
    }))
    const settings = { ...STORED, base_url: url, api_key: 'none', callbacks: true }
    const upstreamModel = 'MiniMax-Hailuo-02'
    return minimaxVideo.poll(wire, { settings, upstreamModel, upstreamId: '1' })
  },
  async 'MiniMax, the newer protocol'(t: TestContext, link: unknown) {
    const task = { id: '1', status: 'succeeded', content: { url: link } }
    const { url } = await startRecorded(t, () => ({
      '/v2/query/video_generation/1': { body: { task } },
    }))
    const settings = { ...STORED, base_url: url, api_key: 'none', callbacks: true }
    return minimaxVideo.poll(wire, { settings, upstreamModel: 'MiniMax-H3', upstreamId: '1' })
  },
}

for (const [vendor, poll] of Object.entries(VENDORS)) {
  test(`${vendor}: a success with a link that is none is asked for again`, async (t) => {
    for (const link of BAD) {
      await assert.rejects(poll(t, link), { name: 'UpstreamFailure' }, JSON.stringify(link))
    }
  })

  test(`${vendor}: a link stays as it is`, async (t) => {
    const { state, ...rest } = await poll(t, GOOD)
    assert.equal(state, 'succeeded')
    assert.equal('result' in rest && rest.result.video_url, GOOD)
  })
}

test('images: an entry has a link or its content', async () => {
  const keep = () => Promise.resolve('https://kept.example/1.png')
  const read = (...data: readonly object[]) =>
    readImagesResult({ data }, { keep, showUsage: false })
  const picture = 'data:image/png;base64,AAAA'
  const links = BAD.map((url) => ({ url }))
  assert.equal(await read(...links), undefined)
  const result = await read(
    ...links,
    { url: GOOD },
    { url: picture },
    { url: 'x:y', b64_json: 'AA' },
  )
  assert.deepEqual(result?.data, [
    { url: GOOD },
    { url: picture },
    { url: 'https://kept.example/1.png' },
  ])
})
