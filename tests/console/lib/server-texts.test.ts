import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import {
  ApiError,
  readError,
  readSuccess,
  unreachable,
} from '../../../console/src/lib/api-error.ts'
import {
  loadServerTexts,
  translateServerText,
} from '../../../console/src/lib/words/server-texts.ts'
import { ERRORS } from '../../../server/base/lib/errors.ts'
import { AMOUNT_PROBLEM } from '../../../server/base/lib/money.ts'
import { describeProblem } from '../../../server/base/lib/text/describe-problem.ts'
import { type CatalogError, parseCatalogFile } from '../../../server/money/catalog/apply/file.ts'

before(loadServerTexts)

const inChinese = (text: string) => translateServerText(text, 'zh')

test('a refusal keeps the name of its field', () => {
  assert.equal(inChinese('spend_limit: must be a decimal'), 'spend_limit: 必须是小数')
  assert.equal(
    inChinese('amount: must be a decimal such as "12.5"'),
    'amount: 必须是小数，例如 "12.5"',
  )
  assert.equal(
    inChinese(`amount: ${AMOUNT_PROBLEM}`),
    'amount: 必须是小于 1000000000 的小数，例如 12.5',
  )
  assert.equal(inChinese('no such invitation'), '没有此邀请')
  const unlisted = "models[0]: there is no model 'a': GET /v1/models lists the ids"
  assert.equal(inChinese(unlisted), 'models[0]: 没有模型“a”：请从模型列表中选择')
  const whole = 'subject: a budget of the whole account has none: omit it, or set scope to …'
  assert.match(inChinese(whole), /^subject: 整个账户的预算不需要对象/)
  assert.equal(inChinese('amount: at most 5 CNY can be taken'), 'amount: 最多可扣除 5 CNY')
  const plan = 'until: earlier prices return at 2027-01-01T00:00:00.000Z: end this plan then or …'
  assert.match(inChinese(plan), /^until: 此前的价格将于 2027-01-01T00:00:00\.000Z 恢复/)
  const inside = 'url: leads to an address that is not public (private)'
  assert.equal(inChinese(inside), 'url: 指向非公网地址')
})

test('an English reader, and a text without a translation, get the text itself', () => {
  assert.equal(translateServerText('not found', 'en'), 'not found')
  assert.equal(inChinese('the vendor says no'), 'the vendor says no')
})

test('a price without its number of units is explained in Chinese', () => {
  const prices = [{ unit: 'input_token', amount: '2' }]
  const model = { id: 'a', type: 'chat', prices, routes: [{ channel: 'b' }] }
  assert.throws(
    () => parseCatalogFile('shop', JSON.stringify({ models: [model] }), {}),
    ({ mistakes: [mistake] }: CatalogError) => {
      assert.match(inChinese(mistake?.problem ?? ''), /^缺少 per：.*"per": 1000000/)
      return true
    },
  )
})

test('a page of a proxy, and no answer at all, are errors in both languages', async () => {
  const page = (status: number) => new Response('<html>', { status })
  const success: unknown = await readSuccess(page(200)).catch((error: unknown) => error)
  for (const error of [success, await readError(page(413))]) {
    assert.ok(error instanceof ApiError)
    const { message, status } = error
    assert.equal(message, `a proxy answered instead of the gateway, with status ${status}`)
    assert.equal(inChinese(message), `应答来自代理，而不是网关，状态码为 ${status}`)
  }
  assert.equal(inChinese(unreachable().message), '无法连接网关，可能正在重启。')
})

/** Refusals of the public API that no page provokes. */
const API_ONLY = /Idempotency-Key|WebSocket|application\/json|headers|method not allowed/

test('every error of the table is in Chinese, except those of programs', () => {
  const texts = Object.values(ERRORS).map(({ message }) => message)
  const left = texts.filter((text) => !API_ONLY.test(text) && inChinese(text) === text)
  assert.deepEqual(left, [])
})

test('every way in which a value can be wrong is in Chinese', () => {
  const problems = [
    { code: 'invalid_type', input: undefined },
    { code: 'invalid_type', input: 1, expected: 'string' },
    { code: 'invalid_type', input: 'x', expected: 'int' },
    { code: 'invalid_type', input: 'x', expected: 'array' },
    { code: 'invalid_type', input: 'x', expected: 'boolean' },
    { code: 'invalid_format', input: 'x', format: 'datetime' },
    { code: 'invalid_format', input: 'x', format: 'url' },
    { code: 'too_small', input: '', origin: 'string', minimum: 1 },
    { code: 'too_small', input: 'x', origin: 'string', minimum: 12 },
    { code: 'too_big', input: 'x', origin: 'array', maximum: 5 },
    { code: 'too_big', input: 9, origin: 'number', maximum: 5 },
    { code: 'too_small', input: 0, origin: 'number', minimum: 0, inclusive: false },
    { code: 'invalid_value', input: 'x', values: ['a', 'b'] },
  ]
  for (const problem of problems) {
    const text = describeProblem(problem) ?? ''
    assert.notEqual(inChinese(text), text, text)
  }
})

test('a plan that ends before it begins is explained in Chinese, in lists as in models', () => {
  const plan = { from: '2031-01-01T00:00:00Z', until: '2030-01-01T00:00:00Z' }
  const prices = [{ unit: 'input_token', per: 1_000_000, amount: '2' }]
  const model = { id: 'a', type: 'chat', prices, routes: [{ channel: 'b' }] }
  const file = {
    models: [{ ...model, planned_prices: [{ ...plan, prices }] }],
    price_lists: [{ id: 'l', planned_prices: [{ ...plan, default: 'hidden' }] }],
  }
  assert.throws(
    () => parseCatalogFile('shop', JSON.stringify(file), {}),
    ({ mistakes }: CatalogError) => {
      const told = mistakes.map(({ path, problem }) => [path, inChinese(problem)])
      assert.deepEqual(told, [
        ['models[0].planned_prices[0].until', '必须晚于开始时间'],
        ['price_lists[0].planned_prices[0].until', '必须晚于开始时间'],
      ])
      return true
    },
  )
})
