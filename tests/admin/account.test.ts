/** An account's settings, the key of its playground, and the events that keep pages fresh. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../server/base/lib/ids.ts'
import { removeBudget } from '../../server/money/ledger/budgets/budgets.ts'
import { giveBudget } from '../ledger/budgets/support.ts'
import type { Tenant } from '../support/in-process.ts'
import { until } from '../support/until.ts'
import { type AdminStage, startAdmin } from './support.ts'

const ONE = 'GET /accounts/:account_id'
const CHANGE = 'PATCH /accounts/:account_id'
const PLAY = 'POST /accounts/:account_id/playground-key'
const BODY = { model: 'sim-chat', messages: [{ role: 'user', content: 'Hello' }] }

let stage: AdminStage
let home: Tenant
before(async () => {
  stage = await startAdmin()
  home = await stage.house('home')
})
after(() => stage.stop())

const at = () => ({ account_id: home.accountId })

test('settings are changed one by one, and nothing else', async () => {
  const change = (body: object) => stage.ask(CHANGE, { as: 'home-owner', params: at(), body })
  assert.equal((await change({ name: 'Acme' })).json.name, 'Acme')
  const low = await change({ low_balance_at: '12.5' })
  assert.deepEqual([low.json.name, low.json.low_balance_at], ['Acme', '12.5'])
  assert.equal((await change({ low_balance_at: null })).json.low_balance_at, null)
  for (const body of [{ status: 'active' }, { limits: {} }, { balance: '9' }, { name: '' }]) {
    assert.equal((await change(body)).status, 400, JSON.stringify(body))
  }
  const { limits, status } = await stage.read(ONE, { as: 'home-member', params: at() })
  assert.deepEqual([limits, status], [{}, 'active'])
})

test('owners set budgets, and change none that an operator has set', async () => {
  const path = '/accounts/:account_id/budgets' as const
  const budget_id = (await giveBudget(stage.sql, home.accountId, 5_000_000_000n)).id
  const terms = { amount: '100', unit: 'call', period: 'day', time_zone: 'Asia/Shanghai' }
  const create = (body: object) =>
    stage.ask(`POST ${path}`, { as: 'home-owner', params: at(), body })
  const { json: own } = await create(terms)
  assert.deepEqual([own.set_by, own.amount, own.remaining], ['owner', '100', '100'])
  for (const wrong of [{ amount: '1.5' }, { time_zone: 'Mars/Base' }, { scope: 'tag' }]) {
    assert.equal((await create({ ...terms, ...wrong })).status, 400, JSON.stringify(wrong))
  }
  const change = (id: string) =>
    stage.ask(`PATCH ${path}/:budget_id`, {
      as: 'home-owner',
      params: { ...at(), budget_id: id },
      body: { amount: '7' },
    })
  assert.equal((await change(own.id)).json.amount, '7')
  assert.equal((await change(budget_id)).status, 400)
  const { data } = await stage.read(`GET ${path}`, { as: 'home-member', params: at() })
  assert.deepEqual(
    data.map(({ id, amount }) => [id, amount]),
    [
      [budget_id, '5'],
      [own.id, '7'],
    ],
  )
  const params = { ...at(), budget_id: own.id }
  const shown = await stage.read(`GET ${path}/:budget_id`, { as: 'home-member', params })
  assert.equal(shown.amount, '7')
  await stage.read(`DELETE ${path}/:budget_id`, { as: 'home-owner', params })
  await removeBudget(stage.sql, budget_id, 'operator')
})

test('budgets are filtered, and listed page by page with the spend limits behind them', async () => {
  const path = '/accounts/:account_id/budgets' as const
  const key = await stage.read('POST /accounts/:account_id/keys', {
    as: 'home-owner',
    params: at(),
    body: { name: '100%', tags: ['blue'], spend_limit: '0' },
  })
  const give = async (terms: Parameters<typeof giveBudget>[3]) =>
    (await giveBudget(stage.sql, home.accountId, 5n, { unit: 'call', ...terms })).id
  const ids = [
    await give({}),
    await give({ scope: 'key', subject: home.keyId }),
    await give({ scope: 'tag', subject: 'blue' }),
  ]
  const [ofAccount, ofKey, ofTag] = ids
  const list = (query: Readonly<Record<string, string>>) =>
    stage.read(`GET ${path}`, { as: 'home-member', params: at(), query })
  const found = async (query: Readonly<Record<string, string>>) =>
    (await list(query)).data.map(({ id }) => id)
  assert.deepEqual(await found({}), [...ids, key.id])
  assert.deepEqual(await found({ key: key.id }), [ofAccount, ofTag, key.id])
  assert.deepEqual(await found({ key: home.keyId }), [ofAccount, ofKey])
  assert.deepEqual(await found({ scope: 'tag' }), [ofTag])
  assert.deepEqual(await found({ scope: 'key', search: '0%' }), [key.id])
  assert.deepEqual(await found({ search: 'BLUE' }), [ofTag])
  assert.deepEqual(await found({ full: 'true' }), [key.id])
  const paged: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await list({ limit: '1', ...(cursor ? { cursor } : {}) })
    paged.push(...page.data.map(({ id }) => id))
    cursor = page.next_cursor
  }
  assert.deepEqual(paged, [...ids, key.id])
  const one = (budget_id: string, as = 'home-member') =>
    stage.ask(`GET ${path}/:budget_id`, { as, params: { ...at(), budget_id } })
  assert.equal((await one(key.id)).json.period, 'total')
  assert.equal((await one(home.keyId)).status, 404)
  for (const id of ids) await removeBudget(stage.sql, id, 'operator')
})

test('a refused budget names the field that is wrong', async () => {
  for (const [wrong, param] of [
    [{ scope: 'tag', subject: 'nobody' }, 'subject'],
    [{ scope: 'account', subject: 'nobody' }, 'subject'],
    [{ scope: 'end_user', subject: 'nobody' }, 'subject'],
    [{ models: ['sim-chat', 'gtp-5'] }, 'models[1]'],
    [{ thresholds: [0] }, 'thresholds'],
    [{ max_end_users: 0 }, 'max_end_users'],
  ] as const) {
    const { status, text } = await stage.ask('POST /accounts/:account_id/budgets', {
      as: 'home-owner',
      params: at(),
      body: { amount: '1', period: 'day', ...wrong },
    })
    assert.deepEqual([status, JSON.parse(text).param], [400, param])
  }
})

test('alerts are listed with what became of their webhook and mail', async () => {
  const { sql } = stage
  const guest = await stage.house('guest')
  const person = newId('user')
  await sql`insert into person (id, email, name) values (${person}, 'told@example.com', 'T')`
  await sql`insert into membership (person_id, account_id, role)
    values (${person}, ${home.accountId}, 'owner')`
  await sql`update account set alert_url = 'http://127.0.0.1:9/' where id = ${home.accountId}`
  await sql`
    insert into alert_event (kind, account_id, subject) values
      ('balance_low', ${home.accountId}, '{"available": "1500000000"}'),
      ('key_expiring', ${home.accountId}, '{"days": 7}'),
      ('balance_empty', ${guest.accountId}, '{}'),
      ('books_unbalanced', null, '{"failed": "I1"}')`
  await until('all dispatched', async () => {
    const [left] = await sql`select 1 from alert_event where dispatched_at is null`
    return left === undefined || undefined
  })
  const [mailed] = await sql`select id from alert_event where kind = 'balance_low'`
  await sql`insert into mail (id, address, language, kind, params, once) values
    ('mail_1', 'told@example.com', 'en', 'balance_low', '{}', ${`${mailed?.id}:${person}`})`
  const read = (query: Readonly<Record<string, string>>) =>
    stage.read('GET /accounts/:account_id/alerts', { as: 'home-member', params: at(), query })
  const { data } = await read({})
  assert.deepEqual(
    data.map(({ event }) => event),
    ['key.expiring', 'balance.low'],
  )
  const [low] = (await read({ event: 'balance.low' })).data
  assert.equal(low?.members.available, '1.5')
  assert.match(low?.webhook?.delivery_id ?? '', /^whd_/)
  assert.notEqual(low?.webhook?.delivery_id, data[0]?.webhook?.delivery_id)
  assert.deepEqual(low?.mails, [
    { email: 'told@example.com', status: 'pending', attempts: 0, error: null },
  ])
  const first = await read({ limit: '1' })
  assert.deepEqual((await read({ cursor: first.next_cursor ?? '' })).data, data.slice(1))
  assert.equal(
    (
      await stage.ask('GET /accounts/:account_id/alerts', {
        as: 'home-member',
        params: at(),
        query: { cursor: 'x' },
      })
    ).status,
    400,
  )
  stage.enterOperator('operator')
  const all = await stage.read('GET /operator/alerts', { as: 'operator' })
  assert.deepEqual(
    all.data.map(({ event, account_name: name }) => [event, name]),
    [
      ['books.unbalanced', null],
      ['balance.empty', 'test'],
      ['key.expiring', 'Acme'],
      ['balance.low', 'Acme'],
    ],
  )
  const query = { account: guest.accountId }
  assert.equal((await stage.read('GET /operator/alerts', { as: 'operator', query })).data.length, 1)
})

describe('the playground', () => {
  test('its key calls, is billed, and is not in the list', async () => {
    const made = await stage.read(PLAY, { as: 'home-member', params: at() })
    const answer = await stage.post('/v1/chat/completions', made.key, BODY)
    assert.equal(answer.status, 200)
    const usage = await stage.read('GET /accounts/:account_id/usage', {
      as: 'home-member',
      params: at(),
      query: { key: made.key_id },
    })
    assert.equal(usage.data.length, 1)
    const keys = await stage.read('GET /accounts/:account_id/keys', {
      as: 'home-member',
      params: at(),
    })
    assert.ok(keys.data.every(({ id }) => id !== made.key_id))
  })

  test('it reads no secret of the account, as its creator may not either', async () => {
    const { key } = await stage.read(PLAY, { as: 'home-member', params: at() })
    assert.equal((await stage.get('/v1/webhooks/secret', key)).status, 403)
    assert.equal((await stage.post('/v1/webhooks/secret/rotate', key, {})).status, 403)
    assert.equal((await stage.get('/v1/webhooks/secret', home.key)).status, 200)
  })

  test('at most five are valid: a further one replaces the oldest', async () => {
    const made: { key: string; key_id: string }[] = []
    for (let i = 0; i < 7; i++)
      made.push(await stage.read(PLAY, { as: 'home-member', params: at() }))
    const [row] = await stage.sql`select count(*)::int as keys from api_key
      where account_id = ${home.accountId} and purpose = 'playground'`
    assert.equal(row?.keys, 5)
    assert.equal((await stage.get('/v1/models', made[0]?.key ?? '')).status, 401)
    assert.equal((await stage.get('/v1/models', made[6]?.key ?? '')).status, 200)
  })
})

describe('events', () => {
  const path = () => `/admin/v1/accounts/${home.accountId}/events`
  const open = (as: string, signal: AbortSignal) =>
    stage.fetch(path(), { headers: { cookie: `session=${as}` }, signal })

  async function readUntil(response: Response, wanted: RegExp): Promise<string> {
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true })
      if (wanted.test(text)) return text
    }
    return text
  }

  test('a call is listed with the balance after it', async () => {
    const closing = new AbortController()
    const stream = await open('home-member', closing.signal)
    assert.equal(stream.headers.get('content-type'), 'text/event-stream')
    let text: string | undefined
    const reading = readUntil(stream, /event: usage[\s\S]*\n\n/).then((all) => {
      text = all
    })
    // What ends before the gateway's first poll is no event: calls go on until one is.
    await until('an event', async () => {
      await stage.post('/v1/chat/completions', home.key, BODY)
      return text !== undefined
    })
    await reading
    closing.abort()
    assert.match(text ?? '', /event: balance\ndata: \{"available":"[\d.]+","held":/)
  })

  test('a session has six streams and no more', async () => {
    const closing = new AbortController()
    // The client ends a stream whose response nobody refers to any more.
    const streams: Response[] = []
    for (let i = 0; i < 7; i++) streams.push(await open('home-owner', closing.signal))
    const statuses = streams.map(({ status }) => status)
    closing.abort()
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200, 429])
  })

  test('other users receive nothing', async () => {
    await stage.house('stranger')
    const closing = new AbortController()
    assert.equal((await open('stranger-owner', closing.signal)).status, 404)
    assert.equal((await open('nobody', closing.signal)).status, 401)
  })

  test('a stopping gateway ends them', async () => {
    const short = await startAdmin()
    const tenant = await short.house('short')
    const stream = await short.fetch(`/admin/v1/accounts/${tenant.accountId}/events`, {
      headers: { cookie: 'session=short-owner' },
    })
    const ended = stream.text()
    await short.stop()
    assert.match(await ended, /^retry: 3000/)
  })
})
