/** A vendor of one's own without JSON: channel, test, its models, prices, the first call. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { noBrowser } from '../../support/browser.ts'
import { expectAccessible, expectFits, PHONE } from '../support/browser.ts'
import { leave, proveUntil } from '../support/journey.ts'
import { type ConsoleStage, startConsoleStage } from '../support/stage.ts'

const OPERATOR = { operator: true, role: 'owner' } as const

/** Fails where the chosen text does not fit its input. */
async function expectUnclipped(input: Locator): Promise<void> {
  const [text = 0, room = 0] = await input.evaluate((one) => [one.scrollWidth, one.clientWidth])
  assert.ok(text <= room, `${text} px of text in ${room}`)
}

const invalid = (scope: Locator) => scope.locator('[aria-invalid=true]')

describe('a vendor of one’s own', { skip: noBrowser }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsoleStage()
  })
  after(() => stage?.stop())

  test('from its address to the first call, with wrong input at each step', async () => {
    const watched = await stage.signedIn('/operator/channels', OPERATOR)
    const { page } = watched
    const drawer = await addChannel(page)
    await testAndMend(page, drawer)
    await drawer.getByRole('link', { name: 'Add models' }).click()
    await chooseModels(page)
    await setPrices(page)
    await callOnce(page)
    await leave(watched)
  })

  async function addChannel(page: Page): Promise<Locator> {
    await page.getByRole('button', { name: 'Add a channel' }).first().click()
    const adding = page.getByRole('dialog', { name: 'Add a channel' })
    // The way for all other vendors comes before the list of the known ones.
    await adding.getByRole('button', { name: /^DeepSeek/ }).waitFor()
    const [first = ''] = await adding.locator('button:has(p)').allInnerTexts()
    assert.match(first, /^Another vendor \(OpenAI-compatible\)/)
    await adding.getByRole('button', { name: /^Another vendor/ }).click()
    const upstream = adding.getByRole('combobox', { name: 'Upstream' })
    assert.equal(await upstream.inputValue(), 'OpenAI-compatible')
    await expectUnclipped(upstream)
    await adding
      .getByText(/which most vendors, relays and servers/)
      .first()
      .waitFor()
    await upstream.click()
    await page.getByRole('option', { name: /^Anthropic-compatible/ }).click()
    await expectUnclipped(upstream)
    const address = adding.getByRole('textbox', { name: 'Address of the API' })
    assert.equal(await address.inputValue(), 'https://api.anthropic.com')
    await upstream.click()
    await page.getByRole('option', { name: /^OpenAI-compatible/ }).click()
    const example = await address.getAttribute('placeholder')
    assert.equal(example, 'For example https://api.example.com/v1')
    await expectAccessible(page)
    await adding.getByRole('textbox', { name: 'Channel', exact: true }).fill('my relay')
    await address.fill('relay')
    await adding.getByRole('textbox', { name: 'API key', exact: true }).fill('sk-wrong')
    const add = adding.getByRole('button', { name: 'Add channel' })
    await add.click()
    await invalid(adding).nth(1).waitFor()
    assert.equal(await invalid(adding).count(), 2)
    // A name in use is refused: nothing of the other channel changes.
    const name = adding.getByRole('textbox', { name: 'Channel', exact: true })
    await name.fill('test-openai')
    await address.fill(`${stage.simulators.url}/openai`)
    await add.click()
    await adding.getByText('there is a channel "test-openai" already').waitFor()
    assert.equal(await invalid(adding).count(), 1)
    await expectAccessible(page)
    const [same] = await stage.sql`select version from channel where id = 'test-openai'`
    assert.equal(same?.version, 1)
    await name.fill('relay')
    await add.click()
    const drawer = page.getByRole('dialog', { name: 'relay', exact: true })
    await proveUntil(page, drawer.getByText('Next: its models'))
    return drawer
  }

  /** The test tells a wrong address from a wrong key; so does the list of models. */
  async function testAndMend(page: Page, drawer: Locator): Promise<void> {
    const url = stage.simulators.url
    const run = drawer.getByRole('button', { name: 'Test', exact: true })
    await run.click()
    await drawer.getByText('Test failed').waitFor()
    await drawer.getByText(`nothing is at ${url}/openai/models and`).waitFor()
    await drawer.getByText(/usually in \/v1/).waitFor()
    await drawer.getByRole('link', { name: 'Add models' }).click()
    const models = page.getByRole('dialog', { name: 'Add a model' })
    await models.getByText('The vendor’s models cannot be listed').waitFor()
    await models.getByText(`nothing is at ${url}/openai/models and`).waitFor()
    await expectAccessible(page)
    await models.getByRole('link', { name: 'To the channel' }).click()
    await drawer.getByRole('textbox', { name: 'Address of the API' }).fill(`${url}/openai/v1`)
    await save(page, drawer, 2)
    // What the test said about the settings before is gone.
    assert.equal(await drawer.getByText('Test failed').count(), 0)
    await run.click()
    await drawer.getByText(/the vendor refuses the key \(401\)/).waitFor()
    await drawer.getByRole('textbox', { name: 'API key', exact: true }).fill('sim-openai-key')
    await save(page, drawer, 3)
    await run.click()
    await drawer.getByText('Test passed').waitFor()
    await drawer.getByText(`the vendor accepts the key at ${url}/openai/v1/models`).waitFor()
    // The simulator answers a GET like a path that does not exist: nothing is claimed.
    await drawer.getByText(/^Endpoints: chat\/completions unknown, responses unknown/).waitFor()
    await expectAccessible(page)
  }

  async function save(page: Page, drawer: Locator, version: number): Promise<void> {
    await drawer.getByRole('button', { name: 'Save as new version' }).click()
    const ask = page.getByRole('dialog', { name: 'Save relay with these changes?' })
    await ask
      .getByRole('cell', { name: version === 2 ? 'Address of the API' : 'API key' })
      .waitFor()
    await ask.getByRole('button', { name: 'Save as new version' }).click()
    await proveUntil(page, drawer.locator('dd').getByText(String(version), { exact: true }))
  }

  async function chooseModels(page: Page): Promise<void> {
    const models = page.getByRole('dialog', { name: 'Add a model' })
    const search = models.getByRole('textbox', { name: 'Models of relay' })
    await search.fill('no such model')
    await models.getByText('No model matches.').waitFor()
    assert.equal(await models.getByRole('button', { name: 'Set the prices' }).isDisabled(), true)
    await search.fill('')
    await models.getByRole('group', { name: 'Models of the vendor' }).waitFor()
    await expectAccessible(page)
    const listed = models.getByRole('group', { name: 'Models of the vendor' }).getByRole('checkbox')
    await listed.first().check()
    const typed = models.getByLabel('Another model, by the vendor’s name for it')
    await typed.fill('sim-embedding-of-mine')
    await models.getByRole('button', { name: 'Add', exact: true }).click()
    await models.getByRole('button', { name: 'Set the prices (2)' }).click()
  }

  async function setPrices(page: Page): Promise<void> {
    const models = page.getByRole('dialog', { name: 'Add a model' })
    const chat = models.getByRole('group').first()
    const vectors = models.getByRole('group', { name: 'sim-embedding-of-mine' })
    await chat.getByText('Prices per 1,000,000 tokens, in CNY').waitFor()
    assert.equal(await vectors.getByRole('textbox', { name: 'Output' }).count(), 0)
    const add = models.getByRole('button', { name: 'Add 2 models' })
    // A name that is for sale, amounts that are none: all are marked, nothing is asked or saved.
    await chat.getByRole('textbox', { name: 'Name for callers' }).fill('sim-chat')
    await chat.getByRole('textbox', { name: 'Input', exact: true }).fill('two')
    await chat.getByRole('textbox', { name: 'Output' }).fill('6')
    await add.click()
    await invalid(models).nth(2).waitFor()
    assert.equal(await invalid(models).count(), 3)
    await chat.getByText('there is a model "sim-chat" already').waitFor()
    assert.equal(await page.getByRole('dialog', { name: 'Confirm your identity' }).count(), 0)
    await expectAccessible(page)
    await chat.getByRole('textbox', { name: 'Name for callers' }).fill('mine')
    await chat.getByRole('textbox', { name: 'Input', exact: true }).fill('2')
    await chat
      .getByText('A call of 1,000 input tokens and 500 output tokens costs ¥0.005.')
      .waitFor()
    await chat.getByRole('button', { name: 'The same prices for all' }).click()
    await vectors.getByText('A call of 1,000 input tokens costs ¥0.002.').waitFor()
    // What is typed survives another look at the list.
    await models.getByRole('button', { name: 'Back', exact: true }).click()
    await models.getByRole('button', { name: 'Set the prices (2)' }).click()
    await chat.getByText(/costs ¥0\.005\.$/).waitFor()
    await add.click()
    await proveUntil(page, models.getByText(/^For sale now: /))
    await expectAccessible(page)
    const stored = await stage.sql`
      select m.id, p.currency, p.prices from model m join price p on p.version = m.price_version
      where m.id in ('mine', 'sim-embedding-of-mine') order by m.id`
    const per = 1_000_000
    assert.deepEqual(
      stored.map((row) => [row.id, row.currency, row.prices]),
      [
        [
          'mine',
          'CNY',
          [
            { unit: 'input_token', per, amount: '2' },
            { unit: 'output_token', per, amount: '6' },
          ],
        ],
        ['sim-embedding-of-mine', 'CNY', [{ unit: 'input_token', per, amount: '2' }]],
      ],
    )
  }

  async function callOnce(page: Page): Promise<void> {
    await page.getByRole('link', { name: 'Try mine in the playground' }).click()
    await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('link', { name: 'Explain the charge' }).waitFor()
    await page.goto(`${stage.console}/operator/channels?id=relay`)
    const drawer = page.getByRole('dialog', { name: 'relay', exact: true })
    await drawer.getByText('Working').first().waitFor()
  }

  test('in Chinese, on a phone: another currency is explained before a call', async () => {
    const look = { ...PHONE, locale: 'zh-CN' } as const
    const watched = await stage.signedIn('/operator/models', OPERATOR, look)
    const { page } = watched
    await page.getByRole('button', { name: '添加模型' }).first().click()
    const drawer = page.getByRole('dialog', { name: '添加模型' })
    await drawer.getByRole('button', { name: /^test-openai/ }).click()
    // A name that is typed counts, also without “Add”.
    await drawer.getByLabel('其他模型（供应商使用的名称）').fill('sim-dollars')
    await expectFits(page)
    await drawer.getByRole('button', { name: '设置价格（1）' }).click()
    await drawer.getByRole('textbox', { name: '币种' }).fill('usd')
    await drawer.getByRole('textbox', { name: '输入', exact: true }).fill('１')
    await drawer.getByRole('textbox', { name: '输出', exact: true }).fill('2')
    await drawer.getByText(/1,000 个输入 token、500 个输出 token 的调用收费 .*0\.002。/).waitFor()
    await expectFits(page)
    await expectAccessible(page)
    await stage.sql`update console_session set stepped_up_until = now() + interval '1 hour'`
    await drawer.getByRole('button', { name: '添加 1 个模型' }).click()
    const done = drawer.getByText('已上架：sim-dollars')
    await done.waitFor()
    await drawer.getByText('test 无法调用 sim-dollars：它以其他币种付款。').waitFor()
    await expectFits(page)
    await drawer.getByRole('link', { name: '新建 USD 账户' }).click()
    const adding = page.getByRole('dialog', { name: '新建账户' })
    assert.equal(await adding.getByRole('textbox', { name: '币种' }).inputValue(), 'USD')
    await adding.getByRole('textbox', { name: '名称' }).fill('Dollars')
    await adding.getByRole('button', { name: '创建账户' }).click()
    await page.getByRole('dialog', { name: /^Dollars/ }).waitFor()
    await adding.waitFor({ state: 'hidden' })
    await expectFits(page)
    await leave(watched)
  })
})
