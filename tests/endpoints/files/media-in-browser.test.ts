/** The gateway's link of a video in a browser: it plays, and seeks without loading the gap. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startSimulators } from '../../../simulators/index.ts'
import { launchBrowser, noBrowser } from '../../support/browser.ts'
import { startTestGateway } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { QUICK, VIDEO_PATH } from '../../tasks/stage.ts'

/** Runs in the browser, as text, so it cannot use anything of this process. */
const WATCH = `async (url) => {
  const video = document.createElement('video')
  Object.assign(video, { muted: true, src: url })
  const once = (name) => new Promise((resolve, reject) => {
    video.addEventListener(name, resolve, { once: true })
    video.addEventListener('error', () => reject(new Error(video.error.message)), { once: true })
  })
  await once('loadeddata')
  const sought = once('seeked')
  video.currentTime = 4
  await sought
  return { width: video.videoWidth, height: video.videoHeight, at: video.currentTime }
}`

test('a browser seeks in a copied video', { skip: noBrowser }, async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'browser-'))
  const gateway = await startTestGateway({
    ...QUICK,
    DATA_DIR: dataDir,
    ALLOW_PRIVATE_TARGETS: 'true',
  })
  const vendors = await startSimulators({ port: 0, timeScale: 0.02 })
  const settings = { base_url: `${vendors.url}/ark/api/v3`, api_key: 'sim-ark-key' }
  const route = { channel: 'a', upstream_model: 'doubao-seedance-2-0-260128' }
  await gateway.apply({
    channels: [{ id: 'a', upstream: 'ark', settings }],
    models: [{ id: 'v', type: 'video', free: true, routes: [route] }],
  })
  const browser = await launchBrowser()
  t.after(async () => {
    await browser.close()
    await gateway.stop()
    await vendors.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  const { key } = await gateway.tenant()
  const content = [{ type: 'text', text: 'a river' }]
  const created = await gateway.post(VIDEO_PATH, key, { model: 'v', content, resolution: '480p' })
  assert.equal(created.status, 200, created.text)
  const entry = await until('a copy', async () => {
    const [one] = (await gateway.get('/v1/assets', key)).json.data
    return one?.copy.state === 'stored' ? one : undefined
  })
  const page = await browser.newPage()
  const link = gateway.url + new URL(entry.url).pathname
  await page.goto(`${gateway.url}/healthz`)
  const seen = await page.evaluate<{ width: number; height: number; at: number }>(
    `(${WATCH})(${JSON.stringify(link)})`,
  )
  assert.deepEqual([seen.width, seen.height], [entry.width, entry.height])
  assert.equal(seen.at, 4)
  assert.ok(entry.duration >= 5, String(entry.duration))
})
