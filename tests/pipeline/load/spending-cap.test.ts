/** Spending caps of channels: what counts, what is refused, and what is reported. */
import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Channel } from '../../../server/money/catalog/catalog.ts'
import { createChannelSpending } from '../../../server/work/pipeline/load/channel-spending.ts'
import { type AdminStage, startAdmin } from '../../admin/support.ts'
import { setBudgetClock } from '../../ledger/budgets/support.ts'
import { until } from '../../support/until.ts'

const CHAT = '/v1/chat/completions'
const AS = { as: 'boss' }
const ANSWER = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
})

describe('spending caps', () => {
  let stage: AdminStage
  let calls = 0
  let isSlow = false
  let waiting: ServerResponse[] = []
  const vendor = createServer((request, response) => {
    request.resume()
    request.once('end', () => {
      calls += 1
      response.writeHead(200, { 'content-type': 'application/json' })
      if (isSlow) waiting.push(response)
      else response.end(ANSWER)
    })
  })
  const settingsOf = (caps: object) => {
    const { port } = vendor.address() as AddressInfo
    return { base_url: `http://127.0.0.1:${port}/v1`, api_key: 'k', ...caps }
  }

  before(async () => {
    await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
    stage = await startAdmin()
    stage.enterOperator('boss')
    // No day ends while its calls are made.
    await setBudgetClock(stage.sql, new Date().toISOString())
  })
  beforeEach(() => {
    calls = 0
    isSlow = false
    waiting = []
  })
  after(async () => {
    await stage.stop()
    vendor.close()
  })

  /** Defines a channel with a model of its name that costs 0.4 upstream and sells for 0.1. */
  async function define(id: string, caps: object, { type = 'chat', costs = true, more = {} } = {}) {
    const per = type === 'image' ? 'image' : 'call'
    const route = { channel: id, ...(costs ? { costs: [{ unit: per, amount: '0.4' }] } : {}) }
    const prices = [{ unit: per, amount: '0.1' }]
    const channel = { id, upstream: 'openai-compatible', settings: settingsOf(caps) }
    await stage.apply(
      { channels: [channel], models: [{ id, type, prices, routes: [route], ...more }] },
      id,
    )
  }
  const call = (key: string, model: string) =>
    stage.post(CHAT, key, { model, messages: [{ role: 'user', content: 'Hi' }] })
  const show = (id: string) =>
    stage.read('GET /operator/channels/:channel_id', { ...AS, params: { channel_id: id } })

  test('a channel over its cap by upstream costs gets no calls until the cap is raised', async () => {
    await define('daily', { spending_cap_per_day: '1 CNY' })
    const { key, accountId } = await stage.tenant()
    for (let index = 0; index < 3; index += 1) assert.equal((await call(key, 'daily')).status, 200)
    const refused = await call(key, 'daily')
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '60'])
    assert.equal(calls, 3)
    assert.equal((await stage.balance(accountId)).held, 0n)
    const { health, spending } = await show('daily')
    assert.equal(health.state, 'over_cap')
    assert.match(health.reason ?? '', /cap of 1 CNY per day is reached: no new calls until 20\d\d-/)
    const [{ resets_at: resets, ...cap } = { resets_at: '' }] = spending
    assert.deepEqual(cap, { period: 'day', currency: 'CNY', spent: '1.2', cap: '1' })
    assert.match(resets, /T00:00:00.000Z$/)
    const raised = await stage.ask('PUT /operator/channels/:channel_id', {
      ...AS,
      params: { channel_id: 'daily' },
      body: {
        upstream: 'openai-compatible',
        settings: settingsOf({ spending_cap_per_day: '2 CNY' }),
      },
    })
    assert.equal(raised.status, 200, raised.text)
    assert.deepEqual([raised.json.health.state, raised.json.spending[0]?.spent], ['working', '1.2'])
    assert.equal((await call(key, 'daily')).status, 200)
  })

  test('another route serves instead; without costs the charges count', async () => {
    await define('spare', {})
    await define('monthly', { spending_cap_per_month: '0.15 CNY' }, { costs: false })
    const prices = [{ unit: 'call', amount: '0.1' }]
    const routes = [{ channel: 'monthly' }, { channel: 'spare', priority: 1 }]
    await stage.apply({ channels: [], models: [{ id: 'both', type: 'chat', prices, routes }] }, 'b')
    const { key } = await stage.tenant()
    const served: unknown[] = []
    for (let index = 0; index < 4; index += 1) {
      const { attempts } = await stage.record(await call(key, 'both'), key)
      served.push((attempts as readonly { channel: string }[]).at(-1)?.channel)
    }
    assert.deepEqual(served, ['monthly', 'monthly', 'spare', 'spare'])
  })

  test('a burst does not pass the cap: calls in progress count with their holds', async () => {
    await define('burst', { spending_cap_per_day: '0.5 CNY' }, { costs: false })
    const { key } = await stage.tenant()
    isSlow = true
    const all = Array.from({ length: 12 }, () => call(key, 'burst'))
    const refused = all.map((one) => one.then(({ status }) => status))
    await until('five calls at the vendor', () => Promise.resolve(waiting.length === 5))
    await until('the rest refused', async () => {
      const ended = await Promise.all(refused.map((one) => Promise.race([one, undefined])))
      return ended.filter((status) => status === 429).length === 7
    })
    for (const response of waiting) response.end(ANSWER)
    const statuses = await Promise.all(refused)
    assert.equal(statuses.filter((status) => status === 200).length, 5)
    assert.equal((await call(key, 'burst')).status, 503)
  })

  test('open tasks count with their holds', async () => {
    await define('painter', { spending_cap_per_day: '0.15 CNY' }, { type: 'image', costs: false })
    const { key } = await stage.tenant()
    isSlow = true
    const create = () =>
      stage.post('/v1/images/async', key, { model: 'painter', prompt: 'a river' })
    assert.equal((await create()).status, 200)
    assert.equal((await create()).status, 200)
    assert.ok([429, 503].includes((await create()).status))
    await until('both at the vendor', () => Promise.resolve(waiting.length === 2))
    for (const response of waiting) response.end(JSON.stringify({ error: { message: 'no' } }))
  })

  test('the continuation of an answer of that channel is a 503, not an unknown answer', async () => {
    await define('stored', { spending_cap_per_day: '0.3 CNY' })
    const { key, accountId } = await stage.tenant()
    await stage.sql`
      insert into stored_answer (id, account_id, channel_id, tokens)
      values ('resp_1', ${accountId}, 'stored', 1)`
    assert.equal((await call(key, 'stored')).status, 200)
    const next = { model: 'stored', input: 'on', previous_response_id: 'resp_1' }
    assert.equal((await stage.post('/v1/responses', key, next)).status, 503)
  })

  test('a cap is an amount and a currency', async () => {
    for (const cap of ['50', '-1 USD', '0 USD', '5 usd', 50]) {
      const { status, json } = await stage.ask('PUT /operator/channels/:channel_id', {
        ...AS,
        params: { channel_id: 'wrong' },
        body: { upstream: 'volc-search', settings: { api_key: 'k', spending_cap_per_day: cap } },
      })
      assert.equal(status, 400, String(cap))
      assert.match(JSON.stringify(json), /spending_cap_per_day/)
    }
  })
})

const CHANNEL: Channel = {
  id: 'a',
  upstream: 'u',
  version: 1,
  settings: { spending_cap_per_day: '1 USD', spending_cap_per_month: '3 USD' },
}
const ROW = { channel: 'a', currency: 'USD', day: 0n, month: 0n, held: 0n }

function createSpending() {
  const rows = [ROW]
  const logged: unknown[] = []
  const spending = createChannelSpending({
    channels: () => [CHANNEL],
    read: async () => rows,
    log: { warn: () => undefined, error: (fields) => void logged.push(fields) },
  })
  return { spending, logged, read: (row: object) => rows.splice(0, 1, { ...ROW, ...row }) }
}

test('calls and tasks of other gateways count from the next read on, and it is logged once', async () => {
  const { spending, logged, read } = createSpending()
  assert.equal(spending.hasRoom(CHANNEL), true)
  read({ day: 400_000_000n, held: 600_000_000n })
  await spending.refresh()
  assert.deepEqual([spending.hasRoom(CHANNEL), spending.reached(CHANNEL)], [false, undefined])
  read({ day: 1_000_000_000n })
  await spending.refresh()
  await spending.refresh()
  assert.equal(spending.reached(CHANNEL)?.period, 'day')
  assert.deepEqual(logged, [{ channel: 'a', reason: '1 USD per day' }])
  read({ month: 3_000_000_000n })
  await spending.refresh()
  assert.equal(spending.reached(CHANNEL)?.period, 'month')
  spending.stop()
})

test('a call counts once: while it runs, until it is read, and not after it was freed', async () => {
  const { spending, read } = createSpending()
  const first = spending.begin('USD')
  assert.equal(first.take(CHANNEL, 900_000_000n), true)
  first.free()
  assert.equal(first.take(CHANNEL, 900_000_000n), true)
  first.spent(200_000_000n)
  first.end()
  first.end()
  assert.equal(spending.figures(CHANNEL)[0]?.spentNanos, 200_000_000n)
  read({ day: 200_000_000n })
  await spending.refresh()
  assert.equal(spending.figures(CHANNEL)[0]?.spentNanos, 200_000_000n)
  const foreign = spending.begin('CNY')
  assert.equal(foreign.take(CHANNEL, 10_000_000_000n), true)
  foreign.end()
  assert.equal(spending.figures(CHANNEL)[0]?.spentNanos, 200_000_000n)
  spending.stop()
})
