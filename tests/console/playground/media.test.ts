/** Speech, images, video and minutes, tried in a browser. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../../support/browser.ts'
import { makeWav } from '../../support/wav.ts'
import { type ConsoleStage, startConsoleProcess } from '../support/stage.ts'
import { costAfter, panel, priceBefore, send } from './support.ts'

/** Runs in the page: a player knows the length of its sound once it has read it. */
const LENGTH = `new Promise((resolve) => {
  const player = document.querySelector('audio')
  const tell = () => Number.isFinite(player.duration) && resolve(player.duration)
  player.addEventListener('durationchange', tell)
  tell()
})`
/** Whether more was to come when the first sound was heard, noted in the page at that moment. */
const NOTE_FIRST_SOUND = `window.first = new Promise((resolve) => {
  document.addEventListener('timeupdate', ({ target }) => {
    if (target.currentTime > 0) resolve(document.body.innerText.includes('so far'))
  }, true)
}); undefined`

describe('media in the playground', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleProcess({
      env: { TASK_POLL_INTERVAL_MIN_MS: '300', ALLOW_PRIVATE_TARGETS: 'true' },
    })
  })
  after(() => stage?.stop())

  for (const [model, way] of [
    ['seed-tts-2.0', 'Native stream'],
    ['seed-tts-2.0', 'OpenAI'],
    ['sim-tts', ''],
  ] as const) {
    test(`${model} plays in a player ${way}`, async () => {
      const { page, complaints } = await stage.signedIn(`/playground?model=${model}`)
      if (way) await page.getByText(way, { exact: true }).click()
      await priceBefore(page)
      await send(page)
      await panel(page, 'Result').locator('audio[src^="blob:"]').waitFor()
      const seconds = await page.evaluate<number>(LENGTH)
      assert.ok(seconds > 0.5, `${seconds} s of sound`)
      await costAfter(page)
      assert.deepEqual(complaints, [])
      await page.context().close()
    })
  }

  test('speech plays before it is complete', async () => {
    const { page, complaints } = await stage.signedIn('/playground?model=seed-tts-2.0')
    const speech = 'A long river. '.repeat(6)
    const slowly = `[[chunks:20]][[chunk-delay:400]]${speech}`
    await page.getByRole('textbox', { name: 'Text' }).fill(slowly)
    await priceBefore(page)
    await page.evaluate(NOTE_FIRST_SOUND)
    await send(page)
    assert.equal(await page.evaluate('window.first'), true)
    const result = panel(page, 'Result')
    await result.getByRole('link', { name: 'Download' }).waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('words come with their times where that is asked for', async () => {
    const { page } = await stage.signedIn('/playground?model=seed-tts-2.0')
    await page.getByRole('switch', { name: 'Word timestamps' }).click()
    await priceBefore(page)
    await send(page)
    await panel(page, 'Result').getByRole('listitem').nth(3).waitFor()
    await page.context().close()
  })

  test('an image comes at once, and as a task that the gallery keeps', async () => {
    const { page, complaints } = await stage.signedIn('/playground?kind=image')
    await priceBefore(page)
    await send(page)
    const result = panel(page, 'Result')
    await result.locator('img[src^="data:image/png"]').waitFor()
    await costAfter(page)
    await page.getByText('As a task', { exact: true }).click()
    await priceBefore(page)
    await send(page)
    await result.getByText('Succeeded').first().waitFor()
    await result.locator('img[src*="/media/"]').waitFor()
    await costAfter(page)
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('a video is followed to its end and shown', async () => {
    const path = '/playground?model=doubao-seedance-1-0-pro-250528'
    const { page, complaints } = await stage.signedIn(path)
    await page.getByRole('combobox', { name: 'Resolution' }).click()
    await page.getByRole('option', { name: '1080p' }).waitFor()
    // What the model does not take is not offered.
    assert.equal(await page.getByRole('option', { name: '4k' }).count(), 0)
    await page.getByRole('option', { name: '720p' }).click()
    await page.getByLabel('Duration in seconds').fill('3')
    await page.getByText('More settings').click()
    await page.getByRole('switch', { name: 'Return the last frame' }).click()
    assert.equal(await page.getByRole('switch', { name: 'With audio' }).count(), 0)
    await priceBefore(page)
    await send(page)
    const result = panel(page, 'Result')
    const link = result.getByRole('link', { name: 'Open the task' })
    await link.waitFor()
    assert.match((await link.getAttribute('href')) ?? '', /\/tasks\?id=task_/)
    await result.locator('video[src]').waitFor()
    await result.getByText('Last frame').waitFor()
    await costAfter(page)
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('minutes of an uploaded recording have speakers, times, a summary and chapters', async () => {
    const { page, complaints } = await stage.signedIn('/playground?model=vendor-minutes')
    const sound = { name: 'meeting.wav', mimeType: 'audio/wav', buffer: makeWav(20_000) }
    await page.locator('input[type=file]').setInputFiles(sound)
    await page.getByText(/is uploaded$/).waitFor()
    await page.getByText('Questions and answers').click()
    await priceBefore(page)
    await send(page)
    const result = panel(page, 'Result')
    await result.getByRole('heading', { name: 'Transcript' }).waitFor()
    for (const part of ['Summary', 'Chapters', 'Questions and answers']) {
      await result.getByRole('heading', { name: part }).waitFor()
    }
    await result.getByText('Speaker 1').first().waitFor()
    await costAfter(page)
    assert.deepEqual(complaints, [])
    await page.context().close()
  })
})
