/** Records, figures and the export, of calls that were really made. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { parseAmount } from '../../server/base/lib/money.ts'
import { countEndedCalls } from '../../server/money/usage/rollup-store.ts'
import type { Tenant } from '../support/in-process.ts'
import { countAllCalls } from '../usage/count-all.ts'
import { type AdminStage, startAdmin } from './support.ts'

const LIST = 'GET /accounts/:account_id/usage'
const ONE = 'GET /accounts/:account_id/usage/:request_id'
const SUMMARY = 'GET /accounts/:account_id/usage/summary'
const EXPORT = 'GET /accounts/:account_id/usage/export'
const CALLS = 7

const BODY = { model: 'sim-chat', messages: [{ role: 'user', content: 'Hello' }] }

describe('usage', () => {
  let stage: AdminStage
  let home: Tenant
  before(async () => {
    stage = await startAdmin()
    home = await stage.house('home')
    const other = await stage.house('other')
    for (let i = 0; i < CALLS; i++) await call(home.key)
    await call(other.key)
  })
  after(() => stage.stop())

  async function call(key: string) {
    const answer = await stage.post('/v1/chat/completions', key, BODY)
    assert.equal(answer.status, 200, answer.text)
    return answer
  }
  const read = (query: Record<string, string> = {}) =>
    stage.read(LIST, { as: 'home-member', params: { account_id: home.accountId }, query })

  test('pages hold each of the account’s own calls once', async () => {
    const seen: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await read({ limit: '3', ...(cursor ? { cursor } : {}) })
      seen.push(...page.data.map((row) => row.request_id))
      cursor = page.next_cursor
    }
    assert.equal(seen.length, CALLS)
    assert.equal(new Set(seen).size, CALLS)
  })

  test('a member is who created the key; the filter holds in lists, figures and exports', async () => {
    const user = { id: 'usr_maker', email: 'm@example.com', name: 'Mo', language: 'en' as const }
    await stage.sql`
      insert into person (id, email, name) values ('usr_maker', 'm@example.com', 'Mo')`
    const mill = await stage.house('mill')
    const params = { account_id: mill.accountId }
    const memberships = [{ accountId: mill.accountId, accountName: 'mill', role: 'owner' as const }]
    stage.enter('maker', { user: { ...user, operator: false }, memberships })
    const made = await stage.read('POST /accounts/:account_id/keys', {
      as: 'maker',
      params,
      body: { name: 'by Mo' },
    })
    assert.deepEqual(made.created_by, { user_id: 'usr_maker', name: 'Mo' })
    const rotated = await stage.read('POST /accounts/:account_id/keys/:key_id/rotate', {
      as: 'mill-owner',
      params: { ...params, key_id: made.id },
      body: {},
    })
    await call(rotated.key)
    const query = { member: 'usr_maker' }
    const list = async (query: Record<string, string>) =>
      (await stage.read(LIST, { as: 'mill-member', params, query })).data
    const rows = await list(query)
    assert.deepEqual(
      rows.map(({ key_id: id, member }) => [id, member]),
      [[rotated.id, 'Mo']],
    )
    assert.deepEqual(await list({ member: 'usr_none' }), [])
    assert.deepEqual(await list({ ...query, key: mill.keyId }), [])
    const { totals } = await stage.read(SUMMARY, { as: 'mill-member', params, query })
    assert.equal(totals.calls, 1)
    const columns = { ...query, columns: 'member,key_id' }
    const csv = (await stage.ask(EXPORT, { as: 'mill-member', params, query: columns })).text
    assert.match(csv, new RegExp(`member,key_id\\s+Mo,${rotated.id}\\s+$`))
  })

  test('figures of an end user and of a tag are those of the list and the export', async () => {
    const mint = await stage.house('mint')
    await stage.sql`update api_key set tags = '{night}' where id = ${mint.keyId}`
    for (const user of ['u1', 'u1', 'u2']) {
      const answer = await stage.post('/v1/chat/completions', mint.key, { ...BODY, user })
      assert.equal(answer.status, 200, answer.text)
    }
    const params = { account_id: mint.accountId }
    for (const [query, calls] of [
      [{ end_user: 'u1' }, 2],
      [{ tag: 'night' }, 3],
      [{ tag: 'night', end_user: 'u2' }, 1],
      [{ tag: 'day' }, 0],
    ] as const) {
      const as = 'mint-member'
      const { data } = await stage.read(LIST, { as, params, query })
      const shown = await stage.read(SUMMARY, { as, params, query: { ...query, by: 'end_user' } })
      const columns = { ...query, format: 'jsonl', columns: 'charged' }
      const { text } = await stage.ask(EXPORT, { as, params, query: columns })
      const sum = (rows: readonly { readonly charged: string }[]) =>
        rows.reduce((all, { charged }) => all + (parseAmount(charged) ?? 0n), 0n)
      const lines = text.split('\n').filter((line) => line !== '')
      const exported = lines.map((line): { charged: string } => JSON.parse(line))
      assert.deepEqual([shown.totals.calls, data.length, exported.length], [calls, calls, calls])
      const charged = parseAmount(shown.totals.charged)
      assert.deepEqual([sum(data), sum(exported), sum(shown.labels)], [charged, charged, charged])
    }
  })

  test('filters narrow', async () => {
    const [first] = (await read()).data
    assert.ok(first)
    const count = async (query: Record<string, string>) => (await read(query)).data.length
    assert.equal(await count({ request_id: first.request_id }), 1)
    assert.equal(await count({ model: 'sim-chat', status: 'succeeded' }), CALLS)
    assert.equal(await count({ model: 'another' }), 0)
    assert.equal(await count({ status: 'failed' }), 0)
    assert.equal(await count({ key: home.keyId }), CALLS)
    assert.equal(await count({ key: 'key_other' }), 0)
    assert.equal(await count({ charged_at_least: first.charged }), CALLS)
    assert.equal(await count({ charged_at_least: '1000' }), 0)
    assert.equal(await count({ task_id: 'task_none' }), 0)
    assert.equal(await count({ to: first.created_at }), CALLS - 1)
  })

  test('a record is explained as the public API explains it', async () => {
    const [first] = (await read()).data
    const id = first?.request_id ?? ''
    const params = { account_id: home.accountId, request_id: id }
    const { text } = await stage.ask(ONE, { as: 'home-member', params })
    assert.equal(text, (await stage.get(`/v1/usage/${id}`, home.key)).text)
    const record = JSON.parse(text)
    assert.deepEqual(
      record.ledger.map(({ step }: { step: string }) => step),
      ['hold', 'charge', 'return'],
    )
  })

  test('figures are the same before, between and after a count', async () => {
    const figures = () =>
      stage.read(SUMMARY, { as: 'home-member', params: { account_id: home.accountId } })
    const before = await figures()
    assert.equal(before.totals.calls, CALLS)
    const charges = (await read()).data.map(({ charged }) => parseAmount(charged) ?? 0n)
    const sum = charges.reduce((a, b) => a + b, 0n)
    assert.equal(parseAmount(before.totals.charged), sum)
    assert.equal(before.keys[0]?.key_id, home.keyId)
    assert.ok((before.totals.latency.p95_ms ?? 0) >= (before.totals.latency.p50_ms ?? 1))

    await countAllCalls(stage.sql)
    const [counted] = await stage.sql`select sum(calls)::int as calls from usage_hour
      where account_id = ${home.accountId}`
    assert.equal(counted?.calls, CALLS)
    const { from: _from, to: _to, ...rest } = await figures()
    const { from: _f, to: _t, ...first } = before
    assert.deepEqual({ ...rest.totals, latency: 0 }, { ...first.totals, latency: 0 })
    await call(home.key)
    assert.equal((await figures()).totals.calls, CALLS + 1)
    await countEndedCalls(stage.sql, 3600)
    assert.equal((await figures()).totals.calls, CALLS + 1)
  })

  test('the export has a line for each record and no formula', async () => {
    await stage.sql`update call set model = '=cmd|calc', error = 'a "quoted", line'
      where request_id = (select request_id from call where account_id = ${home.accountId}
        order by created_at desc limit 1)`
    const params = { account_id: home.accountId }
    const { text, headers } = await stage.ask(EXPORT, { as: 'home-member', params })
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.match(headers.get('content-disposition') ?? '', /^attachment/)
    const lines = text.trimEnd().split('\r\n')
    assert.equal(lines.length, 1 + CALLS + 1)
    assert.match(lines[1] ?? '', /,'=cmd\|calc,/)
    assert.match(lines[1] ?? '', /"a ""quoted"", line"/)
    const narrowed = await stage.ask(EXPORT, {
      as: 'home-member',
      params,
      query: { model: 'sim-chat' },
    })
    assert.equal(narrowed.text.trimEnd().split('\r\n').length, 1 + CALLS)
  })

  test('an export has the requested columns, order and form', async () => {
    const params = { account_id: home.accountId }
    const ask = (query: Record<string, string>) =>
      stage.ask(EXPORT, { as: 'home-member', params, query })
    const columns = 'request_id,key_name,input_tokens,output_tokens,charged'
    const { text, headers } = await ask({ format: 'jsonl', order: 'oldest', columns })
    assert.equal(headers.get('content-type'), 'application/jsonl; charset=utf-8')
    const rows = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(Object.keys(rows[0]), columns.split(','))
    assert.ok(rows[0].input_tokens > 0 && rows[0].output_tokens > 0)
    const listed = (await read({ order: 'oldest' })).data
    assert.deepEqual(
      rows.map((row) => row.request_id),
      listed.map((row) => row.request_id),
    )
    assert.deepEqual(
      listed.map((row) => row.request_id),
      (await read()).data.map((row) => row.request_id).reverse(),
    )
    const [whole = ''] = (await ask({ format: 'jsonl', order: 'oldest' })).text.split('\n')
    const { price_list: list, price_version: version, list_amount: amount } = JSON.parse(whole)
    assert.deepEqual([list, version, amount], ['base', listed[0]?.price_version, rows[0].charged])
    const csv = await ask({ columns: 'model,charged' })
    assert.equal(csv.text.split('\r\n')[0], 'model,charged')
    const refused = await ask({ columns: 'model,hold_id' })
    assert.equal(refused.status, 400)
    assert.match(refused.text, /hold_id/)
  })

  test('a page of the oldest goes on where the one before ended, by hour and in order', async () => {
    for (const filter of [{}, { model: 'sim-chat' }] as Record<string, string>[]) {
      const seen: string[] = []
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const query = { ...filter, order: 'oldest', limit: '2', ...(cursor ? { cursor } : {}) }
        const page = await read(query)
        seen.push(...page.data.map((row) => row.request_id))
        cursor = page.next_cursor
      }
      const all = (await read({ ...filter, limit: '100' })).data.map((row) => row.request_id)
      assert.deepEqual(seen, all.reverse())
    }
  })

  test('the series is stacked by a name, and adds up to the whole', async () => {
    const params = { account_id: home.accountId }
    for (const by of ['model', 'key', 'endpoint']) {
      const found = await stage.read(SUMMARY, { as: 'home-member', params, query: { by } })
      const parts = found.groups.flatMap(({ series }) => series)
      const sum = parts.reduce((all, { charged }) => all + (parseAmount(charged) ?? 0n), 0n)
      assert.equal(sum, parseAmount(found.totals.charged))
      assert.ok(found.groups.every(({ label }) => label !== ''))
    }
    const { models } = await stage.read(SUMMARY, { as: 'home-member', params })
    const { p50_ms: median, p95_ms: slow } = models.find((one) => one.calls > 1)?.latency ?? {}
    assert.ok(median && slow && slow >= median)
  })

  test('records of another account are not found', async () => {
    const [first] = (await read()).data
    const [foreign] = await stage.sql<{ account_id: string }[]>`
      select account_id from call where account_id <> ${home.accountId}`
    const account_id = foreign?.account_id ?? ''
    for (const request_id of [first?.request_id ?? '', 'req_none', '%00', "'"]) {
      const params = { account_id, request_id }
      const { status, text } = await stage.ask(ONE, { as: 'other-owner', params })
      assert.equal(status, 404, text)
      assert.match(text, /no such request/)
    }
  })

  test('a span of too many hours is refused', async () => {
    const params = { account_id: home.accountId }
    const from = new Date(Date.now() - 60 * 86_400_000).toISOString()
    const ask = (step: string) =>
      stage.ask(SUMMARY, { as: 'home-member', params, query: { from, step } })
    assert.equal((await ask('hour')).status, 400)
    assert.equal((await ask('day')).status, 200)
  })

  test('an invalid time zone is refused', async () => {
    const params = { account_id: home.accountId }
    for (const [time_zone, status] of [
      ['Asia/Shanghai', 200],
      // Names that the engine alone knows.
      ['AET', 200],
      ['US/Pacific-New', 200],
      ['Mars/Base', 400],
      ['+08:00', 400],
    ] as const) {
      const query = { time_zone, step: 'day' }
      const answer = await stage.ask(SUMMARY, { as: 'home-member', params, query })
      assert.equal(answer.status, status, answer.text)
    }
  })
})
