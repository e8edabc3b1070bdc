import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noBrowser } from '../support/browser.ts'
import { applyObject } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { expectAccessible, expectFits, LOOKS } from './support/browser.ts'
import { searchFor } from './support/journey.ts'
import { type ConsoleStage, startConsoleStage } from './support/stage.ts'

describe('API keys', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  const balanceWith = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` }
    return (await fetch(`${stage.url}/v1/balance`, { headers })).status
  }

  test('answers that the page cannot use are said, and not asked for again and again', async () => {
    const { page } = await stage.signedIn('/settings')
    let reads = 0
    let answer: object | undefined
    await page.route(/\/keys(?:\?|$)/, async (route) => {
      reads += 1
      if (answer) await route.fulfill(answer)
    })
    const retry = page.getByRole('button', { name: 'Try again' })
    await page.evaluate(`{
      const { setTimeout, clearTimeout } = window
      window.limits = new Map()
      window.setTimeout = (work, ms, ...more) => {
        const id = setTimeout(work, ms, ...more)
        if (ms === 30_000) limits.set(id, work)
        return id
      }
      window.clearTimeout = (id) => {
        limits.delete(id)
        clearTimeout(id)
      }
    }`)
    await page.getByRole('link', { name: 'API keys' }).click()
    await until('no other read', async () => {
      return reads === 1 && (await page.evaluate<number>('limits.size')) === 1
    })
    await page.evaluate('for (const giveUp of limits.values()) giveUp()')
    await page.getByText('the gateway has not answered for 30 seconds').waitFor()
    answer = { status: 401, json: { error: 'not today', type: 'authentication_error' } }
    await retry.click()
    await page.getByText('not today').waitFor()
    assert.equal(reads, 2)
    answer = { json: {} }
    await retry.click()
    await page.getByText('This page failed').waitFor()
    assert.equal(await page.getByText('Cannot read').count(), 0)
    await page.unroute(/\/keys(?:\?|$)/)
    await retry.click()
    await page.getByRole('button', { name: 'Create key' }).waitFor()
    await page.context().close()
  })

  test('a double click and a key held down act once', async () => {
    const { page } = await stage.signedIn('/keys')
    const opener = page.getByRole('button', { name: 'Create key' })
    const dialog = page.getByRole('dialog')
    await opener.dblclick()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await opener.focus()
    await page.keyboard.down('Enter')
    await dialog.getByLabel('Name').and(page.locator(':focus')).waitFor()
    await page.keyboard.down('Enter')
    await page.keyboard.up('Enter')
    assert.equal(await dialog.getByText(/^tr-/).count(), 0)
    await dialog.getByLabel('Name').press('Enter')
    await dialog.getByText(/^tr-/).first().waitFor()
    await page.context().close()
  })

  test('a key’s life: shown once, used, changed, replaced, disabled', async () => {
    const { page, complaints } = await stage.signedIn('/models')
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('production')
    await dialog.getByLabel('Spend limit').fill('12.5')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    const key = await dialog.getByText(/^tr-/).first().innerText()
    assert.equal(await balanceWith(key), 200)
    await page.evaluate('history.back()')
    const asked = page.waitForEvent('dialog')
    await page.evaluate('setTimeout(() => location.reload())')
    const question = await asked
    assert.equal(question.type(), 'beforeunload')
    await question.dismiss()
    assert.equal(new URL(page.url()).pathname, '/console/keys')
    assert.equal(await dialog.getByText(/^tr-/).first().innerText(), key)
    await dialog.getByRole('button', { name: 'I have saved it' }).click()
    await dialog.waitFor({ state: 'hidden' })
    assert.ok(!(await page.content()).includes(key), 'the key is nowhere any more')

    await page.getByRole('button', { name: /^production/ }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Spend limit' }).fill('99')
    const networks = page.getByRole('combobox', { name: 'Allowed addresses' })
    await networks.or(page.getByRole('textbox', { name: 'Allowed addresses' })).fill('127.0.0.1/8')
    await stage.sql`update api_key set name = 'renamed elsewhere' where name = 'production'`
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByText(/of .99\.00/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: /^renamed elsewhere/ }).waitFor({ state: 'attached' })
    await page.getByText('127.0.0.0/8').first().waitFor()
    assert.equal(await balanceWith(key), 200)

    await page.getByRole('button', { name: 'Rotate' }).click()
    await page
      .getByRole('dialog', { name: /^Replace/ })
      .getByRole('button', { name: 'Rotate' })
      .click()
    const newer = await page
      .getByText(/^tr-[^…]+$/)
      .first()
      .innerText()
    assert.notEqual(newer, key)
    assert.deepEqual([await balanceWith(newer), await balanceWith(key)], [200, 200])
    await page.getByRole('button', { name: 'I have saved it' }).click()

    await page.getByRole('button', { name: 'Disable' }).click()
    await page
      .getByRole('dialog', { name: /^Disable/ })
      .getByRole('button', { name: 'Disable' })
      .click()
    await page.getByRole('button', { name: 'Enable' }).waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('a question that is asked again does not show why the action failed before', async () => {
    const { page } = await stage.signedIn(`/keys?id=${stage.key.id}`)
    await page.route('**/disable', (route) => route.abort())
    const ask = async () => {
      await page.getByRole('button', { name: 'Disable' }).click()
      const question = page.getByRole('dialog', { name: /^Disable/ })
      await question.waitFor()
      return question
    }
    const first = await ask()
    await first.getByRole('button', { name: 'Disable' }).click()
    await first
      .getByRole('alert')
      .getByText(/cannot be reached/)
      .waitFor()
    await first.getByRole('button', { name: 'Cancel' }).click()
    await first.waitFor({ state: 'detached' })
    const second = await ask()
    assert.equal(await second.getByText(/cannot be reached/).count(), 0)
    // Escape closes what is on top, and leaves what is below.
    await page.keyboard.press('Escape')
    await second.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Disable' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.context().close()
  })

  test('while a save is under way nothing is lost, and its end is seen wherever one is', async () => {
    const { page } = await stage.signedIn('/keys')
    let gate = Promise.withResolvers<void>()
    let isRefused = false
    await page.route(/\/(?:keys|budgets)(?:\/\w+)?$/, async (route) => {
      if (route.request().method() === 'GET') return await route.continue()
      const refusal = { status: 409, json: { error: 'taken', type: 'conflict' } }
      const answer = isRefused ? refusal : { response: await route.fetch() }
      await gate.promise
      gate = Promise.withResolvers<void>()
      await route.fulfill(answer)
    })
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByLabel('Name').fill('slow')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.locator('input:disabled').first().waitFor()
    await page.keyboard.press('Escape')
    assert.ok(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled())
    gate.resolve()
    await dialog.getByText(/^tr-/).first().waitFor()
    await dialog.getByRole('button', { name: 'I have saved it' }).click()

    await page.getByRole('button', { name: /^slow/ }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    const form = page.getByRole('dialog', { name: /^Edit/ })
    const limit = form.getByLabel('Spend limit')
    await limit.fill('1')
    isRefused = true
    gate.resolve()
    await limit.press('Enter')
    await form.getByRole('alert').getByText('taken').waitFor()
    // The field had lost the focus while it could not be typed in.
    await form.locator('input:focus').waitFor()
    await limit.press('Enter')
    await limit.and(page.locator(':disabled')).waitFor()
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'detached' })
    gate.resolve()
    await page.getByRole('alert').getByText('taken').waitFor()

    isRefused = false
    await page.goto(`${stage.console}/budgets?add=new`)
    await dialog.getByLabel(/^Budget/).fill('12')
    await dialog.getByRole('button', { name: 'Create budget' }).click()
    await dialog.locator('input:disabled').first().waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('button', { name: /^slow/ }).waitFor()
    gate.resolve()
    await page.getByText('The budget applies from the next call').waitFor()
    assert.equal(new URL(page.url()).search, '')
    await page.context().close()
  })

  test('members can view keys, but not change them', async () => {
    const { page } = await stage.signedIn('/keys', { role: 'viewer' })
    await page.getByRole('table', { name: 'API keys' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Create key' }).count(), 0)
    await page.locator('tbody button').first().click()
    await page.getByRole('link', { name: 'Show calls' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Rotate' }).count(), 0)
    await page.goto(`${stage.console}/budgets?add=new`)
    await page.getByRole('table', { name: 'Budgets' }).waitFor()
    assert.equal(await page.getByRole('dialog').count(), 0, 'no form for those who cannot save it')
    await page.context().close()
  })

  test('a long name without spaces is broken and leaves the other columns in view', async () => {
    const name = 'long'.repeat(25)
    await stage.sql`update api_key set name = ${name} where id = ${stage.key.id}`
    const { page } = await stage.signedIn('/keys')
    const text = page.getByText(name).first()
    await text.waitFor()
    const table = page.getByRole('table', { name: 'API keys' })
    const [shown, around] = [await text.boundingBox(), await table.boundingBox()]
    assert.ok(shown && around && shown.width < around.width / 3, JSON.stringify([shown, around]))
    await page.context().close()
  })

  test('an address opens the key that it names; Back closes it', async () => {
    const { page } = await stage.signedIn(`/keys`)
    await page.locator('tbody button').first().click()
    await page.getByRole('dialog').waitFor()
    assert.match(page.url(), /\?id=key_/)
    await page.goBack()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.goto(`${stage.console}/keys?id=${stage.key.id}`)
    await page.getByRole('dialog').getByText(stage.key.id).waitFor()
    await page.context().close()
  })

  test('everything is reachable with the keyboard', async () => {
    const { page } = await stage.signedIn('/keys')
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await searchFor(page, 'overv')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await searchFor(page, stage.key.id)
    await page.getByRole('dialog').getByText(stage.key.id).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.context().close()
  })

  for (const look of LOOKS) {
    test(`accessible: ${JSON.stringify(look)}`, async () => {
      const { page, complaints } = await stage.signedIn('/keys', {}, look)
      await page.locator('tbody button').first().waitFor()
      await expectFits(page)
      await expectAccessible(page)
      await page.goto(`${stage.console}/keys?id=${stage.key.id}`)
      await page.getByRole('dialog').getByText(stage.key.id).waitFor()
      await expectFits(page)
      await expectAccessible(page)
      assert.deepEqual(complaints, [])
      await page.context().close()
    })
  }

  test('a key, a model and a member are found among more than a list shows', async () => {
    const routes = [{ channel: 'test-openai', upstream_model: 'sim-chat' }]
    const common = { type: 'chat', free: true, routes }
    const models = Array.from({ length: 60 }, (_, at) => ({ ...common, id: `many-${at}` }))
    await applyObject(stage.sql, 'many', { models })
    await stage.sql`
      insert into api_key (id, account_id, name, hash, display, created_at)
      select 'key_many' || i, ${stage.account.id}, 'service-' || i, sha256(i::text::bytea), 'tr-…',
        now() - i * interval '1 minute' from generate_series(100, 400) i`
    await stage.sql`
      with people as (
        insert into person (id, email, name)
        select 'user_many' || i, 'm' || i || '@many.example', 'Many ' || i
        from generate_series(100, 170) i returning id)
      insert into membership (person_id, account_id, role)
      select id, ${stage.account.id}, 'member' from people`
    const { page } = await stage.signedIn('/keys')
    await page.getByLabel('Name, key or id').fill('service-400')
    await page.getByRole('button', { name: /service-400/ }).waitFor()
    await page.goto(`${stage.console}/usage`)
    const choose = async (label: string, text: string) => {
      const field = page.getByRole('combobox', { name: label, exact: true })
      await field.or(page.getByRole('textbox', { name: label, exact: true })).fill(text)
      await page.getByRole('option', { name: text }).click()
    }
    await choose('Key', 'service-399')
    await choose('Model', 'many-59')
    await choose('Member', 'Many 170')
    await page.waitForURL(/key=key_many399&model=many-59&member=user_many170/)
    await page.goto(`${stage.console}/settings`)
    await page.getByRole('button', { name: /^Show more/ }).waitFor()
    await page.getByLabel('Name or address').fill('m170@')
    await page.getByText('m170@many.example').waitFor()
    await page.getByRole('button', { name: /^Show more/ }).waitFor({ state: 'detached' })
    await page.context().close()
  })
})
