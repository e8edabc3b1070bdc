/** The books of an account as its owner reads them, and the ways to put money in. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { parseAmount } from '../../server/base/lib/money.ts'
import {
  createRedeemCodes,
  listRedeemCodes,
  voidRedeemCode,
} from '../../server/money/ledger/redeem/redeem-codes.ts'
import type { Tenant } from '../support/in-process.ts'
import { type AdminStage, startAdmin } from './support.ts'

const LEDGER = 'GET /accounts/:account_id/ledger'
const STATEMENT = 'GET /accounts/:account_id/statement'
const LEDGER_EXPORT = 'GET /accounts/:account_id/ledger/export'
const REDEEM = 'POST /accounts/:account_id/redeem'
const SECRET = 'a-secret-of-a-payment-provider-0123456789'
const nanos = (text: string) => parseAmount(text) ?? 0n

let stage: AdminStage
let home: Tenant
before(async () => {
  stage = await startAdmin({ TOP_UP_SECRET: SECRET })
  home = await stage.house('home')
})
after(() => stage.stop())

const at = () => ({ account_id: home.accountId })

async function makeCodes(count: number, more: object = {}) {
  return await createRedeemCodes(stage.sql, {
    count,
    amountNanos: nanos('5'),
    kind: 'promotion',
    currency: 'CNY',
    note: 'spring',
    expiresAt: null,
    actor: 'tester',
    ...more,
  })
}

describe('a statement', () => {
  test('opening, charges, credits and closing add up, and end with the balance', async () => {
    const body = { model: 'sim-chat', messages: [{ role: 'user', content: 'Hello' }] }
    for (let i = 0; i < 3; i++) await stage.post('/v1/chat/completions', home.key, body)
    const dayAgo = new Date(Date.now() - 86_400_000).toISOString()
    const query = { from: dayAgo, time_zone: 'Asia/Shanghai' }
    const read = (more: Record<string, string> = {}) =>
      stage.read(STATEMENT, { as: 'home-member', params: at(), query: { ...query, ...more } })
    const found = await read()
    const { available, held, debt } = await stage.balance(home.accountId)
    assert.equal(nanos(found.closing), available + held - debt)
    assert.equal(
      nanos(found.opening) - nanos(found.charged) + nanos(found.credited),
      nanos(found.closing),
    )
    assert.equal(nanos(found.opening), 0n)
    assert.equal(found.days[0]?.balance_after, found.closing)
    const sum = found.models.reduce((all, { charged }) => all + nanos(charged), 0n)
    assert.equal(sum, nanos(found.charged))
    assert.ok(sum > 0n)
    const past = await read({ to: new Date(Date.now() - 7_200_000).toISOString() })
    assert.deepEqual([past.closing, past.days], ['0', []])
    const refusals: Record<string, string>[] = [{ to: dayAgo }, { from: '2020-01-01T00:00:00Z' }]
    for (const bad of refusals) {
      const refused = await stage.ask(STATEMENT, {
        as: 'home-member',
        params: at(),
        query: { ...query, ...bad },
      })
      assert.equal(refused.status, 400, refused.text)
    }
  })

  test('the export has every transaction once', async () => {
    const { text, status } = await stage.ask(LEDGER_EXPORT, { as: 'home-member', params: at() })
    assert.equal(status, 200)
    const [head, ...lines] = text.trimEnd().split('\r\n')
    assert.match(head ?? '', /^at,kind,amount,balance_after,/)
    const whole = await stage.read(LEDGER, { as: 'home-member', params: at() })
    assert.deepEqual(
      lines.map((line) => line.split(',')[3]),
      whole.data.map((row) => row.balance_after),
    )
  })
})

describe('the ledger', () => {
  test('the balance after each movement is the previous one plus the movement', async () => {
    const body = { model: 'sim-chat', messages: [{ role: 'user', content: 'Hello' }] }
    for (let i = 0; i < 6; i++) await stage.post('/v1/chat/completions', home.key, body)
    const whole = await stage.read(LEDGER, { as: 'home-member', params: at() })
    const { available, held, debt } = await stage.balance(home.accountId)
    assert.equal(nanos(whole.data[0]?.balance_after ?? ''), available + held - debt)
    assert.equal(whole.data.length, 10)
    for (const [index, row] of whole.data.entries()) {
      const before = whole.data[index + 1]?.balance_after ?? '0'
      assert.equal(nanos(row.balance_after), nanos(before) + nanos(row.amount))
    }
    assert.equal(whole.data.at(-1)?.kind, 'top_up')
  })

  test('later pages agree with the first, although calls continue', async () => {
    const whole = await stage.read(LEDGER, { as: 'home-member', params: at() })
    const rows: unknown[] = []
    let cursor: string | null = null
    do {
      const query: Record<string, string> = cursor ? { limit: '2', cursor } : { limit: '2' }
      const page = await stage.read(LEDGER, { as: 'home-member', params: at(), query })
      rows.push(...page.data)
      cursor = page.next_cursor
      const body = { model: 'sim-chat', messages: [{ role: 'user', content: 'Again' }] }
      await stage.post('/v1/chat/completions', home.key, body)
    } while (cursor)
    assert.deepEqual(rows, whole.data)
  })

  test('an invalid cursor is refused', async () => {
    const instant = '2026-11-26 10:00:00+00'
    const forged = [
      ['a', 'b', '1', 'c'],
      ['999999-99-99 99:99:99+99:99', 'b', '1', instant],
      [instant, 'b', '1', '2026-02-31 10:00:00+00'],
      [instant, 'b', '9999999999999999999', instant],
    ].map((parts) => Buffer.from(JSON.stringify(parts)).toString('base64url'))
    for (const cursor of ['x', 'bnVsbA', ...forged]) {
      const query = { cursor }
      const answer = await stage.ask(LEDGER, { as: 'home-member', params: at(), query })
      assert.equal(answer.status, 400, cursor)
    }
  })
})

describe('codes', () => {
  test('of many concurrent redemptions, one is credited', async () => {
    const [made] = await makeCodes(1)
    const rival = await stage.house('rival', '0')
    const before = await stage.balance(home.accountId)
    const tries = Array.from({ length: 12 }, (_, index) =>
      stage.ask(REDEEM, {
        as: index % 2 ? 'home-owner' : 'rival-owner',
        params: { account_id: index % 2 ? home.accountId : rival.accountId },
        body: { code: made?.code },
      }),
    )
    const answers = await Promise.all(tries)
    assert.equal(answers.filter(({ status }) => status === 200).length, 1)
    const first = answers.findIndex(({ status }) => status === 200)
    for (const [index, { status, text }] of answers.entries()) {
      if (index === first) continue
      const isSame = index % 2 === first % 2
      assert.equal(status, 400)
      assert.match(text, isSame ? /this account has already redeemed/ : /already been used/)
    }
    const gained = (await stage.balance(home.accountId)).available - before.available
    assert.equal(gained + (await stage.balance(rival.accountId)).available, nanos('5'))
  })

  test('it is accepted in any spelling, and not stored in plain text', async () => {
    const [made] = await makeCodes(1)
    const typed = ` ${made?.code.toLowerCase().replaceAll('-', ' ')} `
    const answer = await stage.read(REDEEM, {
      as: 'home-owner',
      params: at(),
      body: { code: typed },
    })
    assert.equal(answer.amount, '5')
    const [dump] = await stage.sql`select string_agg(c::text, ' ') as text from redeem_code c`
    assert.ok(!dump?.text.includes(made?.code))
    const credits = await stage.read('GET /accounts/:account_id/credits', {
      as: 'home-member',
      params: at(),
    })
    assert.equal(credits.data[0]?.id, answer.credit_id)
  })

  test('voided, expired and unknown ones, and those of another currency, are refused', async () => {
    const [voided] = await makeCodes(1)
    await voidRedeemCode(stage.sql, voided?.id ?? '')
    await assert.rejects(voidRedeemCode(stage.sql, voided?.id ?? ''), /cannot be voided/)
    const [old] = await makeCodes(1)
    await stage.sql`update redeem_code set expires_at = now() where id = ${old?.id ?? ''}`
    const [foreign] = await makeCodes(1, { currency: 'USD' })
    const cases = [
      [voided?.code, /no longer valid/],
      [old?.code, /has expired/],
      [foreign?.code, /accounts in USD/],
      ['00000-00000-00000-00000', /unknown code/],
    ] as const
    for (const [code, expected] of cases) {
      const answer = await stage.ask(REDEEM, { as: 'home-owner', params: at(), body: { code } })
      assert.equal(answer.status, 400)
      assert.match(answer.text, expected)
    }
    const states = (await listRedeemCodes(stage.sql, { limit: 3 })).map(({ state }) => state)
    assert.deepEqual(new Set(states), new Set(['open', 'expired', 'voided']))
    await assert.rejects(makeCodes(0), /1 to 1000/)
    await assert.rejects(makeCodes(1, { amountNanos: 0n }), /amount of a code must be positive/)
  })

  test('attempts with unknown codes are throttled, and valid codes stay valid', async () => {
    const seeker = await stage.house('seeker', '0')
    const params = { account_id: seeker.accountId }
    const tryCode = (code: string, as = 'seeker-owner') =>
      stage.ask(REDEEM, { as, params, body: { code } })
    for (let count = 0; count < 25; count += 1) {
      const [made] = await makeCodes(1)
      assert.equal((await tryCode(made?.code ?? '')).status, 200, 'good codes cost no attempt')
    }
    const wrong = await Promise.all(
      Array.from({ length: 40 }, (_, index) => tryCode(`WRONG-${index}`)),
    )
    const statuses = wrong.map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 400).length, 10)
    assert.equal(statuses.filter((status) => status === 429).length, 30)
    const refused = wrong.filter(({ status }) => status === 429)
    assert.ok(refused.every(({ headers }) => Number(headers.get('retry-after')) >= 1))
    assert.ok(refused.every(({ text }) => /too many unknown codes/.test(text)))

    stage.enter('seeker-friend', {
      memberships: [{ accountId: seeker.accountId, accountName: 'seeker', role: 'owner' }],
    })
    assert.equal((await tryCode('ANOTHER', 'seeker-friend')).status, 429, 'the account waits')
    const other = await stage.house('other', '0')
    stage.enter('seeker-owner', {
      memberships: [{ accountId: other.accountId, accountName: 'other', role: 'owner' }],
    })
    const elsewhere = { account_id: other.accountId }
    const body = { code: 'ANOTHER' }
    const moved = await stage.ask(REDEEM, { as: 'seeker-owner', params: elsewhere, body })
    assert.equal(moved.status, 429, 'the person waits')
    const innocent = await stage.ask(REDEEM, { as: 'other-owner', params: elsewhere, body })
    assert.equal(innocent.status, 400, 'others do not')
  })
})

describe('payments', () => {
  const seconds = () => Math.floor(Date.now() / 1000)
  const sign = (body: string, t = seconds(), secret = SECRET) =>
    `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`
  async function pay(body: string, signature?: string) {
    const answer = await stage.fetch('/admin/v1/top-ups', {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        ...(signature === undefined ? {} : { 'x-signature': signature }),
      },
    })
    return { status: answer.status, json: (await answer.json()) as { posted?: boolean } }
  }
  const event = (more: object = {}) =>
    JSON.stringify({
      event_id: 'evt_1',
      account_id: home.accountId,
      amount: '7.5',
      currency: 'CNY',
      ...more,
    })

  test('an event credits once, however often it comes', async () => {
    const before = await stage.balance(home.accountId)
    const body = event()
    const answers = await Promise.all(Array.from({ length: 8 }, () => pay(body, sign(body))))
    assert.ok(answers.every(({ status }) => status === 200))
    assert.equal(answers.filter(({ json }) => json.posted).length, 1)
    const { available } = await stage.balance(home.accountId)
    assert.equal(available - before.available, nanos('7.5'))
  })

  test('an event repeated for another account or amount is refused', async () => {
    const other = await stage.tenant()
    const first = event({ event_id: 'evt_reused' })
    assert.equal((await pay(first, sign(first))).status, 200)
    const before = await stage.balance(home.accountId)
    for (const more of [{ amount: '8' }, { account_id: other.accountId }]) {
      const body = event({ event_id: 'evt_reused', ...more })
      const { status, json } = await pay(body, sign(body))
      assert.equal(status, 400, JSON.stringify(json))
    }
    assert.deepEqual(await stage.balance(home.accountId), before)
    assert.equal((await stage.balance(other.accountId)).available, nanos('100'))
  })

  test('an amount beyond what the books can hold is refused, by payment and by code', async () => {
    const rich = await stage.house('rich', '999999999')
    const { accountId } = rich
    const most = (number: number) =>
      event({ event_id: `evt_most_${number}`, account_id: accountId, amount: '999999999' })
    for (let number = 1; number <= 8; number += 1) {
      assert.equal((await pay(most(number), sign(most(number)))).status, 200)
    }
    assert.equal((await pay(most(9), sign(most(9)))).status, 400)
    const [code] = await makeCodes(1, { amountNanos: nanos('999999999') })
    const body = { code: code?.code ?? '' }
    const redeemed = await stage.ask(REDEEM, {
      as: 'rich-owner',
      params: { account_id: accountId },
      body,
    })
    assert.equal(redeemed.status, 400, redeemed.text)
    const [row] = await listRedeemCodes(stage.sql, { limit: 1 })
    assert.equal(row?.state, 'open', 'the code is worth the same as before')
  })

  test('a payment without a valid, recent signature is refused', async () => {
    const before = await stage.balance(home.accountId)
    const body = event({ event_id: 'evt_2' })
    const signatures = [
      undefined,
      '',
      sign(body, seconds(), ''),
      sign(body, seconds(), 'another-secret'),
      sign(body, seconds() - 600),
      sign(body, seconds() + 600),
      sign(`${body} `),
      sign(body).slice(0, -1),
    ]
    for (const signature of signatures) {
      assert.equal((await pay(body, signature)).status, 401)
    }
    assert.deepEqual(await stage.balance(home.accountId), before)
  })

  test('a signed body is validated as well', async () => {
    const bad: [object, number][] = [
      [{ amount: '-1' }, 400],
      [{ amount: '0' }, 400],
      [{ currency: 'USD' }, 400],
      [{ event_id: '' }, 400],
      [{ account_id: 'acct_none' }, 404],
    ]
    for (const [more, status] of bad) {
      const body = event({ event_id: 'evt_3', ...more })
      assert.equal((await pay(body, sign(body))).status, status, JSON.stringify(more))
    }
    const large = event({ reason: 'x'.repeat(70_000) })
    assert.equal((await pay(large, sign(large))).status, 413)
  })
})

test('without a secret there is no such path', async () => {
  const plain = await startAdmin()
  const answer = await plain.fetch('/admin/v1/top-ups', { method: 'POST', body: '{}' })
  assert.equal(answer.status, 404)
  await plain.stop()
})
