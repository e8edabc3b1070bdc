/** GET /v1/usage and /v1/usage/{request_id}, black box. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parseAmount } from '../../../server/base/lib/money.ts'
import { readMonth } from '../../../server/work/archive/periods.ts'
import { startTestGateway, type Tenant, type TestGateway } from '../../support/in-process.ts'

let gateway: TestGateway
let tenant: Tenant

const CALLS = 7

before(async () => {
  gateway = await startTestGateway()
  tenant = await gateway.tenant()
  for (let call = 0; call < CALLS; call += 1) {
    const body =
      call % 2 === 0 ? { Type: 'web', Query: `q${call}` } : { Type: 'global', Query: `q${call}` }
    await gateway.post('/v1/search', tenant.key, body)
  }
})
after(() => gateway.stop())

const list = (query: string) => gateway.get(`/v1/usage${query}`, tenant.key)

test('200: newest first, in pages that neither repeat nor skip', async () => {
  const seen: { request_id: string; created_at: string }[] = []
  let cursor: string | null = null
  do {
    const page = await list(`?limit=3${cursor ? `&cursor=${cursor}` : ''}`)
    assert.equal(page.status, 200)
    seen.push(...page.json.data)
    cursor = page.json.next_cursor
  } while (cursor)
  assert.equal(new Set(seen.map((record) => record.request_id)).size, CALLS)
  const times = seen.map((record) => record.created_at)
  assert.deepEqual(times, [...times].sort().reverse())
})

test('filters by model, endpoint, key and time', async () => {
  const count = async (query: string) => (await list(query)).json.data.length
  assert.equal(await count('?model=vendor-web-search'), 4)
  assert.equal(await count('?endpoint=search'), CALLS)
  assert.equal(await count('?endpoint=other'), 0)
  assert.equal(await count(`?key=${tenant.keyId}`), CALLS)
  assert.equal(await count('?from=2100-01-01'), 0)
  assert.equal(await count('?to=2100-01-01T00:00:00Z'), CALLS)
})

test('calls of one status; those under way with what each holds', async () => {
  const { accountId, key } = await gateway.tenant({ balance: '1000' })
  const asked = (query: string) => gateway.get(`/v1/usage${query}`, key)
  const idsOf = async (query: string) =>
    (await asked(query)).json.data.map((record: { request_id: string }) => record.request_id)
  const tasks: string[] = []
  for (const words of ['one', 'two', 'three']) {
    const answer = await gateway.post('/v1/videos/generations', key, {
      model: 'doubao-seedance-1-0-pro-250528',
      content: [{ type: 'text', text: `${words} [[fault:never-ends]]` }],
    })
    assert.equal(answer.status, 200, answer.text)
    tasks.unshift(answer.headers.get('x-request-id') ?? '')
  }
  const ended = await gateway.post('/v1/search', key, { Type: 'web', Query: 'rivers' })
  const { json } = await asked('?status=running')
  assert.deepEqual(await idsOf('?status=running'), tasks)
  assert.deepEqual(
    json.data.map((record: { status: string; charged: string }) => [record.status, record.charged]),
    tasks.map(() => ['running', '0']),
  )
  const held = json.data.map((record: { held: string }) => parseAmount(record.held))
  const sum = held.reduce((all: bigint, one: bigint) => all + one, 0n)
  assert.equal(sum, (await gateway.balance(accountId)).held)
  assert.ok(sum > 0n)
  const page = (await asked('?status=running&limit=2')).json
  assert.equal(page.data.length, 2)
  assert.deepEqual(
    await idsOf(`?status=running&limit=2&cursor=${page.next_cursor}`),
    tasks.slice(2),
  )
  assert.deepEqual(await idsOf('?status=running&endpoint=search'), [])
  const succeeded = [ended.headers.get('x-request-id')]
  assert.deepEqual(await idsOf('?status=succeeded'), succeeded)
  assert.deepEqual(await idsOf(''), succeeded)
  assert.deepEqual(await idsOf('?status=failed'), [])
  const other = await gateway.get('/v1/usage?status=running', tenant.key)
  assert.deepEqual(other.json.data, [])
})

test('400 for an invalid limit, time or field', async () => {
  for (const query of ['?limit=0', '?limit=x', '?limit=501', '?from=yesterday', '?cursor=x']) {
    const answer = await list(query)
    assert.equal(answer.status, 400, query)
    assert.match(answer.json.error, /^(limit|from|cursor): /)
  }
})

test('200: one charge explained, its lines and entries adding up', async () => {
  const page = await list('?limit=1')
  const answer = await gateway.get(`/v1/usage/${page.json.data[0].request_id}`, tenant.key)
  assert.equal(answer.status, 200)
  const { lines, ledger, charged, price_version: version } = answer.json
  assert.equal(lines[0].amount, charged)
  assert.deepEqual(Object.keys(lines[0]), ['unit', 'quantity', 'unit_price', 'per', 'amount'])
  assert.match(version, /^\d+$/)
  assert.deepEqual(
    ledger.map((entry: { step: string }) => entry.step),
    ['hold', 'charge'],
  )
})

test('404, the same for unknown, malformed and foreign requests', async () => {
  const stranger = await gateway.tenant()
  const page = await list('?limit=1')
  const answers = await Promise.all([
    gateway.get('/v1/usage/req_unknown', tenant.key),
    gateway.get('/v1/usage/%00', tenant.key),
    gateway.get(`/v1/usage/${page.json.data[0].request_id}`, stranger.key),
  ])
  for (const answer of answers) {
    assert.equal(answer.status, 404)
    assert.deepEqual(answer.json, { error: 'no such request', type: 'not_found_error' })
  }
})

test('404 says that a call is archived', async () => {
  const { afterId, endId } = readMonth('2025-01')
  await gateway.sql`
    insert into archive (month, after_id, end_id) values ('2025-01-01', ${afterId}, ${endId})`
  const digits = Date.parse('2025-01-15').toString(36).padStart(9, '0')
  const answer = await gateway.get(`/v1/usage/req_${digits}aaaaaaaaaaaaa`, tenant.key)
  assert.equal(answer.status, 404)
  assert.match(answer.json.error, /the calls of its time are archived/)
})

test('401 without a key', async () => {
  assert.equal((await gateway.get('/v1/usage', 'tr-nobody')).status, 401)
})
