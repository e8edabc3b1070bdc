// The files in a real browser: it plays and seeks them, and sees the subtitle until it is erased.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchBrowser, noBrowser } from '../../support/browser.ts'
import { untilValue } from '../../support/until.ts'
import { KEYS, simulated } from '../support.ts'
import { isOver } from './task-support.ts'

const sim = simulated({ timeScale: 0.002 })

/** Runs in the browser, as text: what it uses is not of this process. */
const WATCH = `async (url) => {
  const video = document.createElement('video')
  Object.assign(video, { muted: true, crossOrigin: 'anonymous', src: url })
  const once = (name) => new Promise((resolve, reject) => {
    video.addEventListener(name, resolve, { once: true })
    video.addEventListener('error', () => reject(new Error(video.error.message)), { once: true })
  })
  await once('loadeddata')
  const { videoWidth: width, videoHeight: height, duration } = video
  const canvas = Object.assign(document.createElement('canvas'), { width, height })
  const count = (fits, lower) => {
    const context = canvas.getContext('2d')
    context.drawImage(video, 0, 0)
    const { data } = context.getImageData(0, lower ? height / 2 : 0, width, height / 2)
    let found = 0
    for (let at = 0; at < data.length; at += 4) {
      if (fits(data[at], data[at + 1], data[at + 2])) found += 1
    }
    return found
  }
  const pale = (red, green, blue) => blue > 200 && red > 150 && red < 190 && green > 180
  const early = count(pale, false)
  video.currentTime = 3.5
  await once('seeked')
  const late = count(pale, false)
  const subtitle = count((red, green, blue) => red > 200 && green > 180 && blue < 120, true)
  const ended = once('ended')
  await video.play()
  await ended
  return { width, height, duration, early, late, subtitle, at: video.currentTime }
}`

interface Seen {
  width: number
  height: number
  duration: number
  /** Pixels of the bar that grows, at the beginning and at 3.5 s. */
  early: number
  late: number
  /** Pixels in the colour of subtitles in the lower half. */
  subtitle: number
  at: number
}

describe('in a browser', { skip: noBrowser }, () => {
  let browser: Browser | undefined
  before(async () => {
    browser = await launchBrowser()
  })
  after(() => browser?.close())
  const watch = async (url: string): Promise<Seen> => {
    const page = await browser?.newPage()
    await page?.goto(`${sim.url}/sim`)
    const seen = await page?.evaluate<Seen>(`(${WATCH})(${JSON.stringify(url)})`)
    assert.ok(seen)
    return seen
  }

  test('has the requested size and length, seeks and plays to its end; erased, it has no subtitle', async () => {
    const path = '/ark/api/v3/contents/generations/tasks'
    const made = await sim.post(path, KEYS.ark, {
      model: 'doubao-seedance-2-5-260628',
      content: [{ type: 'text', text: 'a cat plays the piano' }],
      resolution: '480p',
      ratio: '9:16',
      duration: 4,
    })
    const { json } = await untilValue(() => sim.get(`${path}/${made.json.id}`, KEYS.ark), isOver)
    const seen = await watch(String(json.content?.video_url))
    assert.deepEqual([seen.width, seen.height], [480, 854])
    assert.ok(Math.abs(seen.duration - 97 / 24) < 0.01, String(seen.duration))
    assert.equal(seen.at, seen.duration)
    assert.ok(seen.late > seen.early + 1000, `${seen.early} ${seen.late}`)
    assert.ok(seen.subtitle > 200, String(seen.subtitle))
    const erase = '/mediakit/api/v1/tools/erase-video-subtitle'
    const address = String(json.content?.video_url)
    const order = await sim.post(erase, KEYS.mediakit, { video_url: address })
    const done = await untilValue(
      () => sim.get(`/mediakit/api/v1/tasks/${order.json.task_id}`, KEYS.mediakit),
      (answer) => String(answer.json.status) !== 'running',
    )
    const erased = await watch(String(done.json.result?.video_url))
    assert.deepEqual(erased, { ...seen, subtitle: 0 }, 'the same film, but for its subtitle')
  })
})
