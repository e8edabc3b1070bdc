/** Forms mark the field that a refusal names; saving something live shows its changes and asks. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { saveSubject } from '../../server/money/accounts/tokens/subject-store.ts'
import { noBrowser } from '../support/browser.ts'
import { expectAccessible, expectFits, expectUncut, keepToasts, PHONE } from './support/browser.ts'
import { leave, proveUntil } from './support/journey.ts'
import { type ConsoleStage, startConsoleStage } from './support/stage.ts'

const OPERATOR = { operator: true }
const MODEL = '/operator/models?id=sim-chat'

/** The field is invalid, has the focus, and its description gives the reason. */
async function expectMarked(page: Page, field: Locator, reason: RegExp): Promise<void> {
  await proveUntil(page, field.and(page.locator('[aria-invalid=true]')))
  assert.equal(await page.locator('[aria-invalid=true]').count(), 1)
  await field.and(page.locator(':focus')).waitFor()
  const ids = ((await field.getAttribute('aria-describedby')) ?? '').split(/\s+/)
  const texts = await Promise.all(ids.map((id) => page.locator(`[id="${id}"]`).innerText()))
  assert.match(texts.join(' '), reason)
}

function collectSaves(page: Page): string[] {
  const saves: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'PUT' && request.url().includes('/operator/'))
      saves.push(request.url())
  })
  return saves
}

describe('forms', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('a key: the spend limit is marked until it is right', async () => {
    const watched = await stage.signedIn('/keys')
    const { page } = watched
    await page.getByRole('button', { name: 'Create key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('typed')
    // A click beside the dialog does not throw it away.
    await page.mouse.click(5, 400)
    const limit = dialog.getByLabel('Spend limit')
    await limit.fill('a lot')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await expectMarked(page, limit, /must be a decimal/)
    assert.equal(await dialog.getByLabel('Name').inputValue(), 'typed')
    await expectAccessible(page)
    await limit.fill(' ０ ')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByRole('button', { name: 'I have saved it' }).click()
    const bar = page.getByRole('row', { name: /^typed/ }).getByRole('progressbar')
    assert.equal(await bar.getAttribute('aria-valuenow'), '100')
    await page.goto(`${stage.console}/settings`)
    await page.getByLabel('Warn below').fill('1,5')
    await page.getByLabel('Warn below').press('Enter')
    await expectMarked(page, page.getByLabel('Warn below'), /^(?!.*low_balance).*must be a decimal/)
    await page.getByLabel('Warn below').fill('')
    const form = page.locator('form', { has: page.getByLabel('Warn below') })
    const networks = form.locator('input[placeholder="10.0.0.0/8"]')
    const save = form.getByRole('button', { name: 'Save' })
    await networks.fill('10.0.0.0/33')
    await save.click()
    await expectMarked(page, networks, /must be an address or a network/)
    await networks.press('Backspace')
    await networks.fill('10.1.2.3/8')
    await save.click()
    await form.getByText('10.0.0.0/8', { exact: true }).waitFor()
    // Another owner changes a field that this one leaves alone.
    const stored = () => stage.sql`
      select a.name, b.low_balance_at from account a join balance b on b.account_id = a.id
      where a.id = ${stage.account.id}`
    await stage.sql`
      update balance set low_balance_at = 3000000000 where account_id = ${stage.account.id}`
    await form.getByLabel('Webhook for alerts').fill('example.com')
    await save.click()
    await expectMarked(page, form.getByLabel('Webhook for alerts'), /must be an address such as/)
    await form.getByLabel('Webhook for alerts').fill('')
    await form.getByLabel('Account name').fill('test renamed')
    await save.click()
    await page.getByText('test renamed').first().waitFor()
    assert.deepEqual(
      { ...(await stored())[0] },
      { name: 'test renamed', low_balance_at: 3_000_000_000n },
    )
    await leave(watched)
  })

  test('an account and its credits: the amounts are marked', async () => {
    const watched = await stage.signedIn('/operator/accounts', OPERATOR)
    const { page } = watched
    await page.getByRole('button', { name: 'New account' }).click()
    const dialog = page.getByRole('dialog', { name: 'New account' })
    await dialog.getByLabel('Name').fill('typed')
    await dialog.getByLabel('Opening balance').fill('much')
    await dialog.getByRole('button', { name: 'Create account' }).click()
    await expectMarked(page, dialog.getByLabel('Opening balance'), /must be a decimal/)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'test' }).first().click()
    const drawer = page.getByRole('dialog', { name: 'test' })
    await drawer.getByLabel(/^Amount/).fill('0')
    await drawer.getByLabel('Reason').fill('nothing')
    await drawer.getByRole('button', { name: 'Add credit' }).click()
    await expectMarked(page, drawer.getByLabel(/^Amount/), /zero changes nothing/)
    await page.goto(`${stage.console}/operator/subjects`)
    await page.getByText('No issuers yet').waitFor()
    await page.getByText('No calls with a token yet').waitFor()
    await page.goto(`${stage.console}/operator/redeem-codes`)
    await page.getByRole('button', { name: 'Create codes' }).first().click()
    const codes = page.getByRole('dialog')
    await codes.getByLabel('Amount').fill('1,5')
    await codes.getByRole('button', { name: 'Create codes' }).click()
    await expectMarked(page, codes.getByLabel('Amount'), /must be a decimal/)
    await leave(watched)
  })

  test('a channel: the changes are shown without the secret, the refused field is marked', async () => {
    const watched = await stage.signedIn('/operator/channels?id=test-openai', OPERATOR)
    const { page } = watched
    const saves = collectSaves(page)
    const drawer = page.getByRole('dialog', { name: 'test-openai', exact: true })
    const address = drawer.getByLabel('Address of the API')
    const stored = await address.inputValue()
    await address.fill('nonsense')
    await drawer.getByLabel('API key', { exact: true }).fill('sk-canary-of-a-form')
    await drawer.getByRole('button', { name: 'Save as new version' }).click()
    const ask = page.getByRole('dialog', { name: 'Save test-openai with these changes?' })
    await ask.waitFor()
    const cells = await ask.getByRole('row').allInnerTexts()
    assert.deepEqual(
      cells.map((row) => row.split('\t')),
      [
        ['Field', 'Before', 'After'],
        ['Address of the API', stored, 'nonsense'],
        ['API key', '••••', 'changed'],
      ],
    )
    await expectAccessible(page)
    assert.deepEqual(saves, [])
    await ask.getByRole('button', { name: 'Save as new version' }).click()
    await expectMarked(page, address, /must be an address/)
    assert.ok(saves.length > 0)
    await leave(watched)
  })

  test('a model: cancelled changes are not saved, confirmed ones are', async () => {
    const watched = await stage.signedIn(MODEL, OPERATOR)
    const { page } = watched
    const saves = collectSaves(page)
    const drawer = page.getByRole('dialog', { name: 'sim-chat', exact: true })
    const ask = page.getByRole('dialog', { name: 'Save sim-chat with these changes?' })
    const save = drawer.getByRole('button', { name: 'Save', exact: true })
    await drawer.getByRole('button', { name: 'Edit', exact: true }).click()
    await drawer.getByRole('button', { name: 'Advanced' }).click()
    await drawer.getByLabel('Limits').fill('{')
    await save.click()
    await expectMarked(page, drawer.getByLabel('Limits'), /not valid JSON/)
    await drawer.getByLabel('Limits').fill('')
    const amount = drawer.getByLabel('Amount').nth(1)
    const stored = await amount.inputValue()
    await amount.fill('dear')
    await save.click()
    await ask.getByRole('button', { name: 'Cancel' }).click()
    await ask.waitFor({ state: 'hidden' })
    assert.deepEqual(saves, [])
    await save.click()
    await ask.getByRole('button', { name: 'Save' }).click()
    await expectMarked(page, amount, /decimal|amount/)
    await amount.fill('7')
    await save.click()
    await ask.getByRole('row', { name: `prices[1].amount ${stored} 7` }).waitFor()
    await ask.getByRole('button', { name: 'Save' }).click()
    await proveUntil(page, drawer.getByRole('button', { name: 'Edit', exact: true }))
    await leave(watched)
  })

  test('the confirmation on a phone, in Chinese', async () => {
    const look = { ...PHONE, locale: 'zh-CN' } as const
    const watched = await stage.signedIn(MODEL, OPERATOR, look)
    const { page } = watched
    await page.getByRole('button', { name: '修改', exact: true }).click()
    await page.getByLabel('金额').first().fill('9')
    await page.getByRole('button', { name: '保存', exact: true }).click()
    const ask = page.getByRole('dialog', { name: '以这些变更保存 sim-chat？' })
    await ask.getByRole('columnheader', { name: '变更前' }).waitFor()
    await expectFits(page)
    await seedSubject(stage)
    await page.goto(`${stage.console}/operator/subjects`)
    await page.getByText(LONG_SUBJECT).first().waitFor()
    await expectFits(page)
    await expectUncut(page)
    await keepToasts(page)
    await page.getByRole('button', { name: '停用', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: '停用', exact: true }).click()
    await page.getByText('主体已停用').waitFor()
    await page.getByRole('button', { name: '启用', exact: true }).waitFor()
    await leave(watched)
  })
})

const LONG_SUBJECT = 'system:serviceaccount:payments-production:nightly-reconciliation-of-invoices'

/** An issuer whose address and audience are long, and a subject of it. */
async function seedSubject({ sql, account }: ConsoleStage): Promise<void> {
  const definition = {
    id: 'cluster',
    issuer: 'https://oidc.eks.eu-central-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF',
    audience: 'https://gateway.payments-production.internal.example.com/tributary',
    algorithms: ['RS256'],
    account: account.id,
    models: null,
    limits: {},
  }
  await sql`
    insert into token_issuer (id, source, definition)
    values ('cluster', 'shop', ${JSON.stringify(definition)}::text::jsonb)`
  await saveSubject(sql, {
    keyId: 'key_subject',
    hash: Buffer.from('hash of a subject'),
    issuer: 'cluster',
    subject: LONG_SUBJECT,
    accountId: account.id,
    email: null,
  })
}
