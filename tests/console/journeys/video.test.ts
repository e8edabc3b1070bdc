/** On a phone: a video from the playground to the library, and its copy without subtitles. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../../support/browser.ts'
import { QUICK } from '../../tasks/stage.ts'
import { expectAccessible, expectFits, PHONE } from '../support/browser.ts'
import { arrive, close, goTo, leave } from '../support/journey.ts'
import { type ConsoleStage, startConsoleProcess } from '../support/stage.ts'

const MODEL = 'doubao-seedance-2-5-260628'

describe('a video', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleProcess({
      env: { ...QUICK, ALLOW_PRIVATE_TARGETS: 'true' },
      simulators: { timeScale: 0.02 },
    })
  })
  after(() => stage?.stop())

  test('from the playground to the library, and erased beside its original', async () => {
    const watched = await stage.signedIn(`/playground?model=${MODEL}`, {}, PHONE)
    const { page } = watched
    await arrive(page, 'Playground')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('main a[href*="/tasks?id=task_"]').first().click()
    const task = page.getByRole('dialog')
    // Once as the task's state, once at the end of its timeline.
    await task.getByText('Succeeded', { exact: true }).first().waitFor()
    await task.locator('video[src]').waitFor()
    await close(page)

    await goTo(page, '/assets', 'Assets')
    const list = page.getByRole('list', { name: 'Assets' })
    await list.locator('video[src]').waitFor()
    await list.getByRole('button', { name: 'Erase subtitles' }).click()
    const question = page.getByRole('dialog', { name: /^Erase the subtitles/ })
    await question.getByText('Price').waitFor()
    await question.getByRole('button', { name: 'Erase subtitles' }).click()
    await question.waitFor({ state: 'hidden' })
    await list.locator('video[src]').nth(1).waitFor()
    // A short video may have ended before anybody looks for its button to pause.
    const PLAYED = `new Promise((done) => document.addEventListener('playing', done, true))`
    await page.evaluate(`window.played = ${PLAYED}.then(() => true); undefined`)
    await list.getByRole('button', { name: 'Play' }).click()
    assert.ok(await page.evaluate<boolean>('window.played'))

    await page.goto(`${stage.console}/assets?kind=erased`)
    await arrive(page, 'Assets')
    await list.getByRole('button', { name: /^Open / }).click()
    const pair = page.getByRole('dialog')
    await pair.getByText('Original', { exact: true }).waitFor()
    await pair.locator('video[src]').nth(1).waitFor()
    const sources = new Set<string | null>()
    for (const one of await pair.locator('video').all()) sources.add(await one.getAttribute('src'))
    assert.equal(sources.size, 2)
    await expectFits(page)
    await expectAccessible(page)
    await leave(watched)
  })
})
