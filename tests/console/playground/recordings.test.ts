/** Interpretation and transcription, tried with files and with a microphone. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../../support/browser.ts'
import { makeWav } from '../../support/wav.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'
import { codeOf, costAfter, panel, priceBefore, send } from './support.ts'

/** 44.1 kHz, stereo: what the API itself would refuse. */
const MUSIC = makeWav(Buffer.alloc(44_100 * 4 * 2, 7), { rate: 44_100, channels: 2 })

describe('recordings in the playground', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  const give = (page: Page, name: string, buffer: Buffer) =>
    page.locator('input[type=file]').setInputFiles({ name, mimeType: 'audio/wav', buffer })

  test('a file of any kind is converted in the browser and interpreted as text', async () => {
    const { page, complaints } = await stage.signedIn('/playground?kind=interpretation')
    await give(page, 'music.wav', MUSIC)
    await page.getByText('music.wav · 2 s · 64 kB').waitFor()
    await priceBefore(page)
    await send(page)
    const result = panel(page, 'Result')
    await result.getByRole('heading', { name: 'Translation' }).waitFor()
    await result.getByRole('heading', { name: 'Source text' }).waitFor()
    await costAfter(page)
    assert.match(await codeOf(page, 'curl'), /-F 'file=@music.wav'/)
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('a recording from the microphone is interpreted as speech', async () => {
    const { page, complaints } = await stage.signedIn('/playground?kind=interpretation')
    await page.getByRole('button', { name: 'Record' }).click()
    // Whichever second a busy machine looks at.
    await page.getByRole('button', { name: /^Stop at (?![01] s)/ }).click()
    await page.getByText(/^recording\.wav · \d+ s/).waitFor()
    await page.getByText('Speech', { exact: true }).last().click()
    await priceBefore(page)
    await send(page)
    const spoken = panel(page, 'Result').getByLabel('Spoken translation')
    await spoken.waitFor()
    await costAfter(page)
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('a file without audio is refused before anything is sent', async () => {
    const { page } = await stage.signedIn('/playground?kind=interpretation')
    await give(page, 'notes.wav', Buffer.from('these are words, not sound'))
    await page.getByText(/^The browser cannot decode this file as audio/).waitFor()
    assert.ok(await page.getByRole('button', { name: 'Send' }).isDisabled())
    await page.context().close()
  })

  test('a recording is transcribed as it is, at a price by its length', async () => {
    const { page, complaints } = await stage.signedIn('/playground?model=sim-whisper')
    await give(page, 'speech.wav', makeWav(3_000))
    await page.getByText(/^speech\.wav · 3 s/).waitFor()
    const before = await priceBefore(page)
    await send(page)
    const { held } = await costAfter(page)
    assert.ok(before.includes(held), `${before}, but ${held} was held`)
    assert.ok(((await panel(page, 'Result').textContent()) ?? '').length > 'Result'.length)
    assert.deepEqual(complaints, [])
    await page.context().close()
  })
})
