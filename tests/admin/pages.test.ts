/** Overview, tasks, library, files and models of an account that has really worked. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Tenant } from '../support/in-process.ts'
import { until } from '../support/until.ts'
import { type AdminStage, startAdmin } from './support.ts'

const VIDEO = {
  model: 'doubao-seedance-2-5-260628',
  content: [{ type: 'text', text: 'a lighthouse in fog' }],
  duration: 5,
  resolution: '720p',
}

describe('pages of an account', () => {
  let stage: AdminStage
  let home: Tenant
  let taskId: string
  before(async () => {
    stage = await startAdmin({ ALLOW_PRIVATE_TARGETS: 'true' })
    home = await stage.house('home')
    await stage.house('other')
    const created = await stage.post('/v1/videos/generations', home.key, VIDEO)
    assert.equal(created.status, 200, created.text)
    taskId = created.json.id
    await stage.post('/v1/chat/completions', home.key, {
      model: 'sim-chat',
      messages: [{ role: 'user', content: 'Hello' }],
    })
  })
  after(() => stage.stop())

  const at = (more: Record<string, string> = {}) => ({ account_id: home.accountId, ...more })

  test('the overview of an empty account says the next steps', async () => {
    stage.enter('fresh', { memberships: [] })
    const fresh = await stage.house('fresh', '0')
    const overview = await stage.read('GET /accounts/:account_id/overview', {
      as: 'fresh-member',
      params: { account_id: fresh.accountId },
    })
    assert.deepEqual(overview.first_steps, { has_credit: false, has_key: true, has_call: false })
    assert.deepEqual(overview.series, [])
    assert.equal(overview.last_24_hours.latency.p50_ms, null)
  })

  test('the overview adds up', async () => {
    const overview = await stage.read('GET /accounts/:account_id/overview', {
      as: 'home-member',
      params: at(),
      query: { time_zone: 'Asia/Shanghai' },
    })
    const balance = await stage.read('GET /accounts/:account_id/balance', {
      as: 'home-member',
      params: at(),
    })
    assert.deepEqual({ currency: overview.currency, ...overview.balance }, balance)
    assert.deepEqual(overview.first_steps, { has_credit: true, has_key: true, has_call: true })
    assert.equal(overview.spend.last_7_days.calls, overview.last_24_hours.calls)
    assert.equal(overview.recent_calls[0]?.model, 'sim-chat')
  })

  test('a balance below the account’s own threshold is low', async () => {
    const change = 'PATCH /accounts/:account_id'
    const isLow = async (threshold: string | null) => {
      const body = { low_balance_at: threshold }
      await stage.read(change, { as: 'home-owner', params: at(), body })
      const overview = await stage.read('GET /accounts/:account_id/overview', {
        as: 'home-member',
        params: at(),
      })
      return overview.low_balance
    }
    assert.deepEqual((await isLow('1')).is_low, false)
    assert.deepEqual((await isLow('1000')).is_low, true)
    assert.equal((await isLow('1000')).threshold, '1000')
  })

  test('a task is followed from the list to its timeline', async () => {
    const list = await stage.read('GET /accounts/:account_id/tasks', {
      as: 'home-member',
      params: at(),
      query: { kind: 'video' },
    })
    assert.deepEqual(
      list.data.map(({ id }) => id),
      [taskId],
    )
    const one = await stage.read('GET /accounts/:account_id/tasks/:task_id', {
      as: 'home-member',
      params: at({ task_id: taskId }),
    })
    assert.equal(one.id, taskId)
    assert.ok(Number(one.held) > 0)
    assert.ok(!JSON.stringify(one.request).includes('lighthouse'), 'the prompt is not kept')
    const { events } = await stage.read('GET /accounts/:account_id/tasks/:task_id/timeline', {
      as: 'home-member',
      params: at({ task_id: taskId }),
    })
    assert.equal(events[0]?.event, 'held')
    const byUpstream = await stage.read('GET /accounts/:account_id/tasks', {
      as: 'home-member',
      params: at(),
      query: { id: one.upstream_id ?? '' },
    })
    assert.equal(byUpstream.data[0]?.id, taskId)
    for (const name of ['kind', 'status', 'model', 'id']) {
      const query = { [name]: { kind: 'image', status: 'failed' }[name] ?? 'x' }
      const none = await stage.read('GET /accounts/:account_id/tasks', {
        as: 'home-member',
        params: at(),
        query,
      })
      assert.deepEqual(none.data, [], JSON.stringify(query))
    }
  })

  test('files are uploaded, listed and deleted', async () => {
    const form = new FormData()
    form.set('file', new Blob(['hello']), 'note.txt')
    form.set('purpose', 'user_data')
    const url = `/admin/v1/accounts/${home.accountId}/files`
    const headers = { cookie: 'session=home-member', 'x-tributary-console': '1' }
    const uploaded = await stage.fetch(url, { method: 'POST', body: form, headers })
    const file = (await uploaded.json()) as { id: string; bytes: number }
    assert.equal(uploaded.status, 200)
    assert.equal(file.bytes, 5)
    const list = await stage.read('GET /accounts/:account_id/files', {
      as: 'home-member',
      params: at(),
    })
    assert.deepEqual(list.data, [file])
    const remove = 'DELETE /accounts/:account_id/files/:file_id'
    const params = at({ file_id: file.id })
    assert.equal((await stage.ask(remove, { as: 'home-member', params })).status, 204)
    assert.equal((await stage.ask(remove, { as: 'home-member', params })).status, 404)
  })

  test('the library shows what a task made and what it cost', async () => {
    const list = () =>
      stage.read('GET /accounts/:account_id/assets', { as: 'home-member', params: at() })
    const shown = await until('the copies', async () => {
      const page = await list()
      return page.data.length > 0 && page
    })
    const video = shown.data.find(({ kind }) => kind === 'video')
    assert.equal(video?.task_id, taskId)
    assert.ok(Number(video?.charged) > 0)
    const remove = 'DELETE /accounts/:account_id/assets/:asset_id'
    const params = at({ asset_id: video?.id ?? '' })
    const one = 'GET /accounts/:account_id/assets/:asset_id'
    assert.deepEqual((await stage.ask(one, { as: 'home-member', params })).json, video)
    const gallery = 'DELETE /accounts/:account_id/gallery/:asset_id'
    assert.equal((await stage.ask(gallery, { as: 'home-member', params })).status, 404)
    assert.equal((await stage.ask(remove, { as: 'home-member', params })).status, 204)
  })

  test('models have prices, their history and no route', async () => {
    const list = await stage.read('GET /accounts/:account_id/models', {
      as: 'home-member',
      params: at(),
      query: { type: 'chat', limit: '2' },
    })
    assert.equal(list.data.length, 2)
    const rest = await stage.read('GET /accounts/:account_id/models', {
      as: 'home-member',
      params: at(),
      query: { cursor: list.next_cursor ?? '' },
    })
    assert.ok(rest.data.every(({ id }) => id > (list.data.at(-1)?.id ?? '')))
    const found = await stage.ask('GET /accounts/:account_id/models/:model_id', {
      as: 'home-member',
      params: at({ model_id: 'sim-chat' }),
    })
    assert.equal(found.json.price_history[0]?.version, found.json.price_version)
    assert.ok(!found.text.includes('sim-openai'), 'channels are the operator’s')
  })

  test('foreign and malformed ids get the same answer', async () => {
    const { accountId } = await stage.house('stranger')
    const named: Record<string, string> = { task_id: taskId, asset_id: taskId, file_id: taskId }
    for (const id of [undefined, 'x', '\0', '%']) {
      const ids = Object.fromEntries(Object.keys(named).map((key) => [key, id ?? taskId]))
      const params = { account_id: accountId, ...ids }
      for (const key of [
        'GET /accounts/:account_id/tasks/:task_id',
        'GET /accounts/:account_id/tasks/:task_id/timeline',
        'POST /accounts/:account_id/tasks/:task_id/cancel',
        'GET /accounts/:account_id/assets/:asset_id',
        'DELETE /accounts/:account_id/assets/:asset_id',
        'DELETE /accounts/:account_id/files/:file_id',
      ] as const) {
        const { status, text } = await stage.ask(key, { as: 'stranger-owner', params })
        assert.equal(status, 404, `${key} ${text}`)
      }
    }
  })
})
