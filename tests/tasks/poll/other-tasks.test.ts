/**
 * Answers to polls that are about another task, as a proxy that mixes answers up gives them, or
 * about none: they end no task. An id that nobody knows may be one that a relay translates.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'
import { until } from '../../support/until.ts'
import { CHARGE, QUICK, startTaskStage, type TaskStage } from '../stage.ts'

describe('a video', () => {
  let stage: TaskStage
  before(async () => {
    stage = await startTaskStage()
  })
  after(() => stage.stop())

  async function begin() {
    const tenant = await stage.gateway.tenant()
    const created = await stage.create(tenant)
    const vendorTask = stage.vendor.tasks.get(created.json.upstream_id)
    assert.ok(vendorTask)
    const polls = () => stage.vendor.requests.filter((one) => one.endsWith(vendorTask.id)).length
    return { tenant, created, vendorTask, polls, id: created.json.id as string }
  }

  test('stays as it is while answers name another task', async () => {
    const other = await begin()
    const { tenant, created, vendorTask, polls, id } = await begin()
    vendorTask.extra = { id: other.vendorTask.id }
    vendorTask.status = 'failed'
    const before = polls()
    await until('polls', () => polls() > before + 2)
    const path = `/v1/videos/generations/${id}`
    const cancel = () => stage.gateway.fetch(path, { method: 'DELETE', key: tenant.key })
    assert.equal((await cancel()).status, 502)
    const { json } = await stage.gateway.get(path, tenant.key)
    assert.equal(json.status, 'queued')
    vendorTask.extra = {}
    vendorTask.status = 'succeeded'
    await stage.until(tenant, id, 'succeeded')
    assert.equal((await stage.gateway.record(created, tenant.key)).charged, CHARGE)
  })

  test('ends by answers with an id that no task has', async () => {
    const { tenant, created, vendorTask, id } = await begin()
    vendorTask.extra = { id: 'of-the-vendor-behind-a-relay' }
    vendorTask.status = 'succeeded'
    await stage.until(tenant, id, 'succeeded')
    assert.equal((await stage.gateway.record(created, tenant.key)).charged, CHARGE)
  })
})

describe('a background response', () => {
  let gateway: TestGateway
  let vendor: LocalServer
  let count = 0
  let polls = 0
  /** Answers a poll of a response. */
  let read: (id: string) => { readonly status: number; readonly body: string }

  const usage = { input_tokens: 5, output_tokens: 3, total_tokens: 8 }
  const ended = (id: string, status = 'completed') =>
    JSON.stringify({ id, object: 'response', status, model: 'm', output: [], usage })

  before(async () => {
    vendor = await startServer((request, response) => {
      const id = request.url?.split('/').at(-1) ?? ''
      const isCreation = request.method === 'POST'
      if (isCreation) count += 1
      else polls += 1
      const queued = { id: `resp_${count}`, object: 'response', status: 'queued', model: 'm' }
      const { status, body } = isCreation
        ? { status: 200, body: JSON.stringify({ ...queued, background: true, output: [] }) }
        : read(id)
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    })
    gateway = await startTestGateway({ ...QUICK, TASK_UNKNOWN_MS: '100' })
    const settings = { base_url: `${vendor.url}/v1`, api_key: 'k', responses: 'pass' }
    await gateway.apply({
      channels: [{ id: 'native', upstream: 'openai-compatible', settings }],
      models: [
        {
          id: 'native',
          type: 'chat',
          prices: [{ unit: 'output_token', per: 1, amount: '1' }],
          routes: [{ channel: 'native', upstream_model: 'm' }],
        },
      ],
    })
  })
  after(async () => {
    await gateway.stop()
    await vendor.stop()
  })

  async function create() {
    const tenant = await gateway.tenant({ balance: '1000000' })
    const body = { model: 'native', input: 'hi', background: true, max_output_tokens: 9 }
    const { json, status } = await gateway.post('/v1/responses', tenant.key, body)
    assert.equal(status, 200)
    return { tenant, id: json.id as string }
  }

  async function holdsOn({ tenant }: Awaited<ReturnType<typeof create>>) {
    const before = polls
    await until('polls', () => polls > before + 5)
    assert.ok((await gateway.balance(tenant.accountId)).held > 0n)
  }

  async function isCharged({ tenant }: Awaited<ReturnType<typeof create>>) {
    const { available } = await gateway.balance(tenant.accountId)
    await until('its end', async () => (await gateway.balance(tenant.accountId)).held === 0n)
    const after = await gateway.balance(tenant.accountId)
    assert.ok(after.available > available)
    assert.equal(after.available, 1_000_000_000_000_000n - 3_000_000_000n)
  }

  test('is not ended by the object of another', async () => {
    read = () => ({ status: 503, body: '{}' })
    const other = await create()
    const created = await create()
    read = () => ({ status: 200, body: ended(other.id, 'failed') })
    await holdsOn(created)
    const shown = await gateway.get(`/v1/responses/${created.id}`, created.tenant.key)
    assert.equal(shown.status, 200)
    assert.ok((await gateway.balance(created.tenant.accountId)).held > 0n)
    read = (id) => ({ status: 200, body: ended(id) })
    await isCharged(created)
  })

  test('is not ended by the page of a proxy, but by its vendor’s own word', async () => {
    read = () => ({ status: 404, body: '<h1>Not Found</h1>' })
    const created = await create()
    await holdsOn(created)
    read = (id) => ({ status: 200, body: ended(id) })
    await isCharged(created)
  })
})
