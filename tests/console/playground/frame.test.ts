/** What all capabilities share: refusals in words, a way to stop, and a page that all can use. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../../support/browser.ts'
import { expectAccessible, expectFits, LOOKS } from '../support/browser.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'
import { costAfter, panel, priceBefore, send } from './support.ts'

const KINDS = [
  'chat',
  'speech',
  'search',
  'image',
  'video',
  'minutes',
  'interpretation',
  'transcription',
  'embedding',
]

let stage: ConsoleStage
before(async () => {
  if (!noBrowser) stage = await startConsoleStage()
})
after(() => stage?.stop())

describe('the frame of the playground', { skip: noBrowser }, () => {
  test('an empty balance is shown before the call and refused with the API’s message', async () => {
    const { account } = await stage.createCaller('0')
    const { page } = await stage.signedIn('/playground', { accountId: account.id })
    await page.getByText('The balance is too small for this request').waitFor()
    await send(page)
    const refusal = page.getByRole('alert')
    await refusal.getByText(/insufficient balance/).waitFor()
    await refusal.getByRole('link', { name: 'Top up' }).click()
    await page.getByRole('heading', { name: 'Billing', exact: true }).waitFor()
    await page.context().close()
  })

  test('an incomplete request states what is missing', async () => {
    const { page } = await stage.signedIn('/playground?model=doubao-seedance-2-0-260128')
    await page.getByLabel('Duration in seconds').fill('60')
    await page.getByText(/^Not ready to send: duration: this model makes \d+ to/).waitFor()
    await page.getByLabel('Duration in seconds').fill('5')
    await priceBefore(page)
    await page.getByText('Calculation').click()
    await page.getByRole('table', { name: 'Calculation' }).waitFor()
    await page.context().close()
  })

  test('a new form begins with words of the console’s language', async () => {
    const { page } = await stage.signedIn('/playground', {}, { locale: 'zh-CN' })
    for (const kind of ['chat', 'speech', 'search', 'image', 'video', 'embedding']) {
      await page.locator(`[role=tab][id$="-tab-${kind}"]`).click()
      const form = page.locator(`[role=tabpanel][id$="-panel-${kind}"]`)
      await form.locator('button[type=submit]').waitFor()
      const written = form.locator(':is(textarea, input):not([readonly], [role=combobox])')
      const values = await Promise.all((await written.all()).map((field) => field.inputValue()))
      assert.match(values.join(), /\p{Script=Han}{4}/u, kind)
    }
    await page.context().close()
  })

  test('a stopped answer keeps the output so far, which is charged', async () => {
    const { page } = await stage.signedIn('/playground?model=sim-chat')
    const message = page.getByRole('textbox', { name: 'Message' })
    // Longer than a busy machine takes from the first word to the click.
    await message.fill('[[tokens:80]][[chunks:80]][[chunk-delay:250]]A long story.')
    await priceBefore(page)
    await send(page)
    await page.getByRole('log').locator('p').nth(1).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await panel(page, 'Result').getByText('Stopped').waitFor()
    await page.getByRole('log').locator('p').nth(1).waitFor()
    await page.getByRole('button', { name: 'New conversation' }).waitFor()
    await costAfter(page)
    await page.context().close()
  })

  test('the keyboard is enough', async () => {
    const { page } = await stage.signedIn('/playground?kind=search')
    await page.getByRole('tab', { name: 'Search' }).focus()
    await page.keyboard.press('ArrowLeft')
    await page.getByRole('textbox', { name: 'Text' }).waitFor()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('textbox', { name: 'Query' }).focus()
    await page.keyboard.press('Control+Enter')
    await panel(page, 'Result').getByRole('listitem').first().waitFor()
    await page.context().close()
  })
})

describe('every form of the playground', { skip: noBrowser }, () => {
  test('a capability without a model says what comes next', async () => {
    for (const [operator, next] of [
      [true, 'Add a model'],
      [false, 'See all models'],
    ] as const) {
      const { page } = await stage.signedIn('/playground?kind=speech', { operator, role: 'owner' })
      await page.route('**/accounts/*/models*', (route) => {
        return route.fulfill({ json: { data: [], next_cursor: null } })
      })
      await page.reload()
      await page.getByRole('heading', { name: 'No model of this type yet' }).waitFor()
      await page.getByRole('link', { name: next }).waitFor()
      await page.context().close()
    }
  })

  test('its key is in no page, URL, code or storage', async () => {
    const { page, context } = await stage.signedIn('/playground?model=sim-chat')
    const answer = page.waitForResponse(/\/playground-key$/)
    await priceBefore(page)
    await send(page)
    const { key } = (await (await answer).json()) as { key: string }
    await costAfter(page)
    const stored = JSON.stringify(await context.storageState())
    const kept = await page.evaluate<string>('JSON.stringify([{...sessionStorage}, location.href])')
    for (const place of [await page.content(), stored, kept]) assert.ok(!place.includes(key))
    assert.ok(key.length > 20)
    await context.close()
  })

  for (const look of LOOKS) {
    test(`accessible: ${JSON.stringify(look)}`, async () => {
      const { page, complaints } = await stage.signedIn('/playground', {}, look)
      for (const kind of KINDS) {
        await page.locator(`[role=tab][id$="-tab-${kind}"]`).click()
        await page.locator(`[role=tabpanel][id$="-panel-${kind}"] button[type=submit]`).waitFor()
        await expectFits(page)
        await expectAccessible(page)
      }
      assert.deepEqual(complaints, [])
      await page.context().close()
    })
  }
})
