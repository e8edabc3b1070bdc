import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../support/browser.ts'
import { expectAccessible, expectFits, PHONE } from './support/browser.ts'
import { type ConsoleStage, startConsoleStage } from './support/stage.ts'

describe('the gallery', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('an image appears, opens with its prompt and cost, and is deleted', async () => {
    const { page, complaints } = await stage.signedIn('/gallery', {}, PHONE)
    await page.getByRole('heading', { name: 'No images yet' }).waitFor()
    const response = await stage.post('/v1/images/async', {
      model: 'sim-image',
      prompt: 'a river at dawn',
    })
    assert.equal(response.status, 200, await response.text())
    const tile = page.getByRole('button', { name: 'Open “a river at dawn”' })
    await tile.waitFor()
    await expectFits(page)
    await expectAccessible(page)
    await tile.click()
    await page.getByRole('dialog').getByText('a river at dawn').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Delete' }).click()
    const question = page.getByRole('dialog', { name: 'Delete this image?' })
    await question.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'No images yet' }).waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('arrow keys show the next and the previous image', async () => {
    const { page, complaints } = await stage.signedIn('/gallery')
    // One after the other: whichever ends last stands first.
    for (const prompt of ['the first river', 'the second river']) {
      const response = await stage.post('/v1/images/async', { model: 'sim-image', prompt })
      assert.equal(response.status, 200, await response.text())
      await page.getByRole('button', { name: `Open “${prompt}”` }).waitFor()
    }
    await page.getByRole('button', { name: 'Open “the first river”' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('the first river').waitFor()
    await page.keyboard.press('ArrowLeft')
    await dialog.getByText('the second river').waitFor()
    await page.keyboard.press('ArrowRight')
    await dialog.getByText('the first river').waitFor()
    await dialog.getByRole('button', { name: 'Previous image' }).click()
    await dialog.getByText('the second river').waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()
  })
})
