/** Operators in the browser: what a model earns or loses, a price planned and withdrawn. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../support/browser.ts'
import { applyObject } from '../support/gateway.ts'
import { expectAccessible, expectFits, keepToasts, PHONE } from './support/browser.ts'
import { type ConsoleStage, PASSWORD, startConsoleStage } from './support/stage.ts'

const OPERATOR = { operator: true }
const MODEL = '/operator/models?id=sim-chat'

/** A model of a vendor whose price book is known; no call is sent there. */
const taken = {
  channels: [
    {
      id: 'vendor',
      upstream: 'openai-compatible',
      settings: { base_url: 'https://api.deepseek.com', api_key: 'sk-nobody' },
    },
  ],
  models: [
    {
      id: 'taken',
      type: 'chat',
      prices: [
        { unit: 'input_token', per: 1_000_000, amount: '1' },
        { unit: 'output_token', per: 1_000_000, amount: '2' },
      ],
      routes: [{ channel: 'vendor', upstream_model: 'deepseek-of-tomorrow' }],
    },
  ],
}

/** Counts the rows of prices that are rendered from now on: each words its price. */
const COUNT_ROWS = `{
  const { prototype } = Intl.NumberFormat
  const { get, ...format } = Object.getOwnPropertyDescriptor(prototype, 'format')
  window.rows = 0
  Object.defineProperty(prototype, 'format', { ...format, get() {
    if (this.resolvedOptions().notation === 'compact') window.rows += 1
    return get.call(this)
  } })
}`

describe('prices', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('a link to a model or a channel that is not there says so', async () => {
    const { page } = await stage.signedIn('/operator/models?id=gone', OPERATOR)
    await page.getByRole('dialog').getByText('no such model').waitFor()
    await page.goto(`${stage.console}/operator/channels?id=gone`)
    await page.getByRole('dialog').getByText('no such channel').waitFor()
    await page.context().close()
  })

  /** Steps up when the page requires it, and waits for the text that follows. */
  async function proveUntil(page: Page, text: string): Promise<void> {
    const proof = page.getByRole('dialog').filter({ hasText: 'password' })
    const done = page.getByText(text).first()
    await Promise.race([done.waitFor(), proof.waitFor()])
    if (await done.isVisible()) return
    await proof.locator('input[type=password]').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await done.waitFor()
  }

  test('a price is planned, shown, and withdrawn', async () => {
    const { page, complaints } = await stage.signedIn(MODEL, OPERATOR)
    const drawer = page.getByRole('dialog').first()
    await drawer.getByRole('table', { name: 'Price, upstream cost and margin' }).waitFor()
    await drawer.getByRole('button', { name: 'Plan a price change' }).click()
    await drawer.getByLabel('Effective from').fill('2199-01-01T00:00')
    await drawer.getByLabel('Amount').first().fill('0.01')
    await drawer.getByRole('button', { name: 'Plan a price change' }).click()
    await proveUntil(page, 'Sold below upstream cost: input tokens')
    await expectAccessible(page)
    await drawer.getByRole('button', { name: 'Edit', exact: true }).click()
    await drawer.getByLabel('Currency').fill('EUR')
    await drawer.getByRole('button', { name: 'Save' }).click()
    const changes = page.getByRole('dialog', { name: /^Save/ })
    await changes.getByRole('row', { name: /^planned_prices\[0\] 21/ }).waitFor()
    await page.reload()
    await drawer.getByRole('button', { name: 'Withdraw' }).click()
    const ask = page.getByRole('dialog', { name: /^Withdraw/ })
    await ask.getByRole('button', { name: 'Withdraw' }).click()
    await ask.waitFor({ state: 'hidden' })
    await drawer.getByText('withdrawn', { exact: true }).waitFor()
    const [row] = await stage.sql`
      select count(*)::int as planned from price p where effective_from > now()
        and not exists (select 1 from price_withdrawal w where w.version = p.version)`
    assert.equal(row?.planned, 0)
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('a change in the form keeps the costs of the routes', async () => {
    const { page } = await stage.signedIn(MODEL, OPERATOR)
    const drawer = page.getByRole('dialog').first()
    await drawer.getByRole('button', { name: 'Edit', exact: true }).click()
    await drawer.getByText('Upstream costs of').waitFor()
    await page.evaluate(COUNT_ROWS)
    await drawer.getByLabel('Amount').first().fill('0.05')
    assert.equal(await page.evaluate('rows'), 1, 'the other rows are not rendered again')
    await drawer.getByRole('button', { name: 'Save' }).click()
    const ask = page.getByRole('dialog', { name: /^Save/ })
    await ask.getByRole('button', { name: 'Save' }).click()
    await proveUntil(page, 'Sold below upstream cost: input tokens')
    const [row] = await stage.sql`select routes from model where id = 'sim-chat'`
    assert.equal(row?.routes[0].costs.length, 3)
    await page.context().close()
  })

  test('a tool that is taken out is sold by the list price of its vendor', async () => {
    const { sql } = stage
    await applyObject(sql, 'taken', taken)
    await sql`insert into tool_taken_out values
      ('taken', 'web_search', 'web_search_call', 1204, '2026-11-24', now()),
      ('taken', 'code_interpreter', 'container_minute', 3, '2026-11-24', now()),
      ('taken', 'other', null, 1, '2026-11-24', now())`
    const { page, complaints } = await stage.signedIn('/operator/models?id=taken', OPERATOR)
    const drawer = page.getByRole('dialog').first()
    await drawer.getByText('Answers: 1,204').waitFor()
    await drawer.getByText('List price of DeepSeek').waitFor()
    await expectAccessible(page)
    await drawer.getByRole('button', { name: 'Add a price' }).click()
    await drawer.getByLabel('Unit').last().waitFor()
    assert.equal(await drawer.getByLabel('Unit').last().inputValue(), 'container minutes')
    await page.reload()
    await keepToasts(page)
    await drawer.getByRole('button', { name: 'Add the list price' }).click()
    assert.equal(await drawer.getByLabel('Amount').last().inputValue(), '5')
    await drawer.getByRole('button', { name: 'Advanced' }).click()
    await drawer.getByLabel('Tools without a price').waitFor()
    await drawer.getByRole('button', { name: 'Save' }).click()
    const ask = page.getByRole('dialog', { name: /^Save/ })
    await ask.getByRole('button', { name: 'Save' }).click()
    await proveUntil(page, 'Model taken saved')
    await drawer.getByText('code_interpreter').waitFor()
    assert.equal(await drawer.getByText('Answers: 1,204').count(), 0)
    const [row] = await sql`
      select prices from price where model_id = 'taken' order by version desc limit 1`
    assert.deepEqual(row?.prices.at(-1), { unit: 'web_search_call', per: 1000, amount: '5' })
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('the model on a phone', async () => {
    const { page } = await stage.signedIn(MODEL, OPERATOR, PHONE)
    await page.getByRole('table', { name: 'Price, upstream cost and margin' }).waitFor()
    await expectFits(page)
    await page.context().close()
  })
})
