/** What a call cost, and why: from its row to the books, in Chinese as in English. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { parseAmount } from '../../../server/base/lib/money.ts'
import { noBrowser } from '../../support/browser.ts'
import { createTestAccount } from '../../support/gateway.ts'
import { expectAccessible, expectFits } from '../support/browser.ts'
import { arrive, goTo, leave } from '../support/journey.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'

const WORDS = {
  'en-US': {
    overview: 'Overview',
    usage: 'Usage',
    arithmetic: 'Calculation',
    sum: 'Total',
    books: 'Ledger entries',
    hold: 'Held',
    charge: 'Charged',
    back: 'Returned',
    failed: 'Failed',
    nothing: 'Nothing was charged.',
  },
  'zh-CN': {
    overview: '概览',
    usage: '用量',
    arithmetic: '计算过程',
    sum: '合计',
    books: '账目',
    hold: '冻结',
    charge: '扣费',
    back: '退回',
    failed: '失败',
    nothing: '没有扣费。',
  },
} as const

interface Record {
  readonly held: string
  readonly charged: string
  readonly returned: string
  readonly lines: readonly { readonly amount: string }[]
  readonly ledger: readonly { readonly step: string; readonly amount: string }[]
}

describe('a charge explained', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  const chat = async (content: string) => {
    const messages = [{ role: 'user', content }]
    const answer = await stage.post('/v1/chat/completions', { model: 'sim-chat', messages })
    await answer.text()
    return answer.headers.get('x-request-id') ?? ''
  }
  const recordOf = async (id: string): Promise<Record> =>
    (await stage.get(`/v1/usage/${id}`)).json() as Promise<Record>

  test('an operator who is in no account explains the charge of any of them', async () => {
    const id = await chat('Name a river to an operator')
    const other = await createTestAccount(stage.sql, '1', { name: 'another customer' })
    const watched = await stage.signedIn(`/operator/calls?id=${id}`, { operator: true })
    const { page } = watched
    await page.getByRole('dialog').getByRole('link', { name: 'Explain this charge' }).click()
    const lines = page.getByRole('dialog').getByRole('table', { name: 'Calculation' })
    assert.ok(amountOf(await lines.locator('tfoot th').last().innerText()) > 0n)
    await page.getByText(/operator in the account test …/).waitFor()
    // The pages that follow stay with the account, also after a reload.
    await page.keyboard.press('Escape')
    await page.locator('nav a[href="/console/keys"]').click()
    await page.reload()
    await page.getByText(/operator in the account test …/).waitFor()
    // A filter of an operator page is no choice of an account.
    await page.goto(`${stage.console}/operator/calls?account=${other.id}`)
    await page.getByRole('heading', { name: 'Calls' }).waitFor()
    await page.goto(`${stage.console}/keys`)
    await page.getByText(/operator in the account test …/).waitFor()
    await page.goto(`${stage.console}/usage?account=${other.id}`)
    await page.getByText(/in the account another customer …/).waitFor()
    // Prices of another model, or of a list, are not those that the customer looks up.
    await page.route('**/usage/req_*', async (route) => {
      const record: Record = await (await route.fetch()).json()
      const lines = record.lines.map((line) => ({ ...line, list_amount: '0.5' }))
      const shown = { served_model: 'sim-reasoner', price_list: 'partner', list_amount: '0.75' }
      await route.fulfill({ json: { ...record, lines, ...shown } })
    })
    await page.goto(`${stage.console}/usage?account=${stage.account.id}&id=${id}`)
    const facts = page.getByRole('dialog').locator('dl')
    for (const text of ['sim-reasoner', 'partner', '¥0.75']) await facts.getByText(text).waitFor()
    await leave(watched)
  })

  for (const locale of ['en-US', 'zh-CN'] as const) {
    const words = WORDS[locale]

    test(`${locale}: the lines add up, the hold is spent, and the API says the same`, async () => {
      const id = await chat(`Name three rivers (${locale})`)
      const watched = await stage.signedIn('/', {}, { locale })
      const { page } = watched
      await arrive(page, words.overview)
      await goTo(page, '/usage', words.usage)
      await page.locator('tbody button').first().click()
      const drawer = page.getByRole('dialog')
      await drawer.getByText(id).first().waitFor()

      const lines = drawer.getByRole('table', { name: words.arithmetic })
      const amounts = await amountsOf(lines.locator('tbody tr'))
      const sum = amountOf(await lines.locator('tfoot th').last().innerText())
      const books = drawer.getByRole('table', { name: words.books })
      const step = async (name: string) => {
        const row = books.getByRole('row').filter({
          has: page.getByRole('cell', { name, exact: true }),
        })
        return (await amountsOf(row))[0] ?? -1n
      }
      const [held, charged, back] = [
        await step(words.hold),
        await step(words.charge),
        await step(words.back),
      ]
      const record = await recordOf(id)
      assert.ok(sum > 0n)
      assert.equal(total(amounts), sum)
      assert.equal(charged, sum)
      assert.equal(held, (charged ?? 0n) + (back ?? 0n))
      assert.deepEqual(
        [held, charged, back],
        [record.held, record.charged, record.returned].map(parseAmount),
      )
      assert.deepEqual(
        amounts,
        record.lines.map(({ amount }) => parseAmount(amount)),
      )
      await expectFits(page)
      await expectAccessible(page)
      await leave(watched)
    })

    test(`${locale}: a failed call shows that its hold was returned`, async () => {
      const id = await chat(`[[fault:status=500]] a river (${locale})`)
      const watched = await stage.signedIn(`/usage?status=failed&id=${id}`, {}, { locale })
      const drawer = watched.page.getByRole('dialog')
      await drawer.getByText(words.nothing).waitFor()
      await drawer.getByText(words.failed, { exact: true }).waitFor()
      const books = drawer.getByRole('table', { name: words.books })
      const [held, back, ...rest] = await amountsOf(books.locator('tbody tr'))
      assert.deepEqual(rest, [])
      assert.equal(held, back)
      const record = await recordOf(id)
      assert.equal(held, parseAmount(record.held))
      assert.deepEqual(
        record.ledger.map(({ step }) => step),
        ['hold', 'return'],
      )
      await expectFits(watched.page)
      await expectAccessible(watched.page)
      await leave(watched)
    })
  }
})

/** The amounts in the last cells of these rows. */
async function amountsOf(rows: Locator): Promise<bigint[]> {
  await rows.first().waitFor()
  const texts = await rows.locator('td:last-child').allInnerTexts()
  return texts.map(amountOf)
}

function amountOf(text: string): bigint {
  return parseAmount(text.replace(/[^\d.-]/g, '')) ?? -1n
}

function total(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}
