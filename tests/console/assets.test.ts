import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../support/browser.ts'
import { expectAccessible, expectFits, PHONE } from './support/browser.ts'
import { type ConsoleStage, startConsoleStage } from './support/stage.ts'

const MODEL = 'doubao-seedance-2-5-260628'

describe('the asset library', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('a video appears, states until when its subtitles can be erased, and is deleted', async () => {
    const { page, complaints } = await stage.signedIn('/assets', {}, PHONE)
    await page.getByRole('heading', { name: 'No assets yet' }).waitFor()
    const body = { model: MODEL, content: [{ type: 'text', text: 'a river' }] }
    assert.equal((await stage.post('/v1/videos/generations', body)).status, 200)
    const list = page.getByRole('list', { name: 'Assets' })
    await list.getByText(/^2\dh left to erase$/).waitFor()
    await expectFits(page)
    await expectAccessible(page)
    await list.getByRole('button', { name: `Open ${MODEL}` }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    const question = page.getByRole('dialog', { name: 'Delete this asset?' })
    await question.getByRole('button', { name: 'Delete' }).click()
    await question.waitFor({ state: 'hidden' })
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('one click erases the subtitles of a video, at a price that is shown before', async () => {
    const { page, complaints } = await stage.signedIn('/assets')
    const body = { model: MODEL, content: [{ type: 'text', text: 'a river' }] }
    assert.equal((await stage.post('/v1/videos/generations', body)).status, 200)
    const list = page.getByRole('list', { name: 'Assets' })
    await list.getByRole('button', { name: 'Erase subtitles' }).click()
    const question = page.getByRole('dialog', { name: /^Erase the subtitles/ })
    await question.getByText('Price').waitFor()
    await question.getByRole('button', { name: 'Erase subtitles' }).click()
    await question.waitFor({ state: 'hidden' })
    await list.getByText(/^Erasing for /).waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('a file is uploaded, listed and deleted', async () => {
    const { page, complaints } = await stage.signedIn('/assets', {}, PHONE)
    await page.getByRole('heading', { name: 'No files yet' }).waitFor()
    const choosing = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Upload a file' }).click()
    const file = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('a river') }
    await (await choosing).setFiles(file)
    const table = page.getByRole('table', { name: 'Files' })
    await table.getByText('notes.txt').waitFor()
    await expectFits(page)
    await expectAccessible(page)
    await table.getByRole('button', { name: 'Delete' }).click()
    const question = page.getByRole('dialog', { name: 'Delete notes.txt?' })
    await question.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'No files yet' }).waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()
  })
})
