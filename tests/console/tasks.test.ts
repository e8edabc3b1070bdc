import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../support/browser.ts'
import { expectAccessible, expectFits, LOOKS } from './support/browser.ts'
import { type ConsoleStage, startConsoleStage } from './support/stage.ts'

const MODEL = 'doubao-seedance-2-5-260628'

describe('the tasks of an account', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  let taskId = ''
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('an account without tasks is shown how to create one', async () => {
    const { page } = await stage.signedIn('/tasks')
    await page.getByRole('link', { name: 'Try one in the playground' }).waitFor()
    await page.context().close()
  })

  test('a video appears, ends and shows what it made, without a reload', async () => {
    const { page, complaints } = await stage.signedIn('/tasks')
    await page.getByRole('heading', { name: 'No tasks yet' }).waitFor()
    const body = { model: MODEL, content: [{ type: 'text', text: 'a river' }] }
    const answer = await stage.post('/v1/videos/generations', body)
    const { id } = (await answer.json()) as { id: string }
    assert.equal(answer.status, 200)
    taskId = id
    const table = page.getByRole('table', { name: 'Tasks' })
    await table.getByText('Video').waitFor()
    await table.getByText('Succeeded').waitFor()
    await table.getByRole('button').first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(id).waitFor()
    await dialog.getByText('Timeline').waitFor()
    await dialog.getByRole('link', { name: 'Explain the charge' }).waitFor()
    await dialog.getByRole('link', { name: 'Download' }).first().waitFor()
    await dialog.locator('li').first().waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  for (const look of LOOKS) {
    test(`accessible: ${JSON.stringify(look)}`, async () => {
      const { page } = await stage.signedIn('/tasks', {}, look)
      await page.locator('tbody button').first().waitFor()
      await expectFits(page)
      await expectAccessible(page)
      await page.goto(`${stage.console}/tasks?id=${taskId}`)
      await page.getByRole('dialog').locator('li').first().waitFor()
      await expectFits(page)
      await expectAccessible(page)
      await page.context().close()
    })
  }
})
