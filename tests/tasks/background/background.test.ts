/**
 * Responses in the background, black box: one hold until the end, one charge, by the vendor's book.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '../../support/until.ts'
import { startReceiver } from '../../webhooks/support.ts'
import { type BackgroundStage, RESPONSES, startBackgroundStage } from './background-stage.ts'

const SLOW = 'queue-time=0;run-time=4000'

describe('a response in the background', () => {
  let stage: BackgroundStage
  before(async () => {
    stage = await startBackgroundStage()
  })
  after(() => stage.stop())

  test('held until its end, then charged what the vendor’s book says, by the worker', async () => {
    const tenant = await stage.gateway.tenant()
    const created = await stage.create(tenant, '[[call:b1]][[tokens:30]]')
    assert.equal(created.status, 200, created.text)
    assert.deepEqual([created.json.status, created.json.usage], ['queued', null])
    const { held } = await stage.gateway.balance(tenant.accountId)
    assert.ok(held > 0n)
    const row = await stage.ended(created.json.id)
    assert.deepEqual([row.state, row.status, row.basis], ['succeeded', 'succeeded', 'usage'])
    assert.equal(row.charged, stage.worth('b1').nanos)
    assert.equal((await stage.gateway.balance(tenant.accountId)).held, 0n)
    const read = await stage.gateway.get(`${RESPONSES}/${created.json.id}`, tenant.key)
    assert.equal(read.json.status, 'completed')
    assert.equal(await stage.charged(tenant), row.charged, 'reading is free')
    const record = await stage.gateway.record(created, tenant.key)
    assert.equal(record.lines.find(({ unit }) => unit === 'output_token')?.quantity, 30)
  })

  test('the hold is that of the same call in the foreground', async () => {
    const tenant = await stage.gateway.tenant()
    // One character less of input, since `false` is longer than `true`.
    const body = { model: 'held', input: 'the sam', background: false, max_output_tokens: 77 }
    const call = await stage.gateway.post(RESPONSES, tenant.key, body)
    const created = await stage.create(tenant, 'the same', { max_output_tokens: 77 })
    const foreground = await stage.gateway.record(call, tenant.key)
    await stage.ended(created.json.id)
    assert.equal((await stage.gateway.record(created, tenant.key)).held, foreground.held)
  })

  test('many readers and the worker at once: the first to read the end settles, once', async () => {
    const tenant = await stage.gateway.tenant()
    const created = await stage.create(tenant, '[[call:b2]][[fault:queue-time=0;run-time=150]]')
    const path = `${RESPONSES}/${created.json.id}`
    await until('the end', async () => {
      const reads = await Promise.all(
        Array.from({ length: 8 }, () => stage.gateway.get(path, tenant.key)),
      )
      assert.deepEqual(new Set(reads.map(({ status }) => status)), new Set([200]))
      const ended = reads.some(({ json }) => json.status === 'completed')
      // What a caller has seen completed is in the books.
      if (ended) assert.notEqual((await stage.task(created.json.id)).charged, null)
      return ended || undefined
    })
    const { nanos, jobs } = stage.worth('b2')
    assert.deepEqual([jobs, await stage.charged(tenant)], [1, nanos])
  })

  test('a stream: the vendor’s own events, settled before the last bytes', async () => {
    const tenant = await stage.gateway.tenant()
    const stream = await stage.client(tenant).responses.create({
      model: 'held',
      input: '[[call:b3]][[tokens:12]]',
      background: true,
      stream: true,
    })
    const types: string[] = []
    let id = ''
    for await (const event of stream) {
      types.push(event.type)
      if (event.type === 'response.created') id = event.response.id
    }
    assert.deepEqual(
      [types[0], types[1], types.at(-1)],
      ['response.created', 'response.queued', 'response.completed'],
    )
    const row = await stage.task(id)
    assert.deepEqual([row.state, row.charged], ['succeeded', stage.worth('b3').nanos])
  })

  test('a stream that breaks goes on, is resumed at any event, and is charged once', async () => {
    const tenant = await stage.gateway.tenant()
    const client = stage.client(tenant)
    const input = '[[call:b4]][[tokens:20]][[fault:reset-mid=5;run-time=300]]'
    const stream = await client.responses.create({
      model: 'held',
      input,
      background: true,
      stream: true,
    })
    const seen: number[] = []
    let id = ''
    await assert.rejects(async () => {
      for await (const event of stream) {
        assert.notEqual(event.type, 'response.failed', 'it has not failed')
        seen.push(event.sequence_number)
        if (event.type === 'response.created') id = event.response.id
      }
    })
    const rest = await client.responses.retrieve(id, {
      stream: true,
      starting_after: seen.at(-1) ?? 0,
    })
    for await (const event of rest) seen.push(event.sequence_number)
    assert.deepEqual(
      seen,
      Array.from(seen, (_, index) => index),
    )
    const row = await stage.ended(id)
    assert.deepEqual([row.state, row.charged], ['succeeded', stage.worth('b4').nanos])
    const again = await client.responses.retrieve(id, { stream: true, starting_after: 3 })
    for await (const event of again) assert.ok(event.sequence_number > 3)
    assert.equal(await stage.charged(tenant), row.charged, 'reading it again is free')
  })

  test('a caller that leaves its stream ends nothing: the worker settles', async () => {
    const tenant = await stage.gateway.tenant()
    const stream = await stage.client(tenant).responses.create({
      model: 'held',
      input: '[[call:b5]][[tokens:20]][[fault:queue-time=0;run-time=300]]',
      background: true,
      stream: true,
    })
    let id = ''
    for await (const event of stream) {
      if (event.type !== 'response.created') continue
      id = event.response.id
      break
    }
    const row = await stage.ended(id)
    assert.deepEqual([row.state, row.charged], ['succeeded', stage.worth('b5').nanos])
  })

  test('cancelled while it waits: nothing is owed, and again changes nothing', async () => {
    const tenant = await stage.gateway.tenant()
    const created = await stage.create(tenant, '[[call:b6]][[fault:queue-time=5000]]')
    const path = `${RESPONSES}/${created.json.id}/cancel`
    for (let times = 0; times < 2; times += 1) {
      const cancelled = await stage.gateway.post(path, tenant.key, {})
      assert.deepEqual([cancelled.status, cancelled.json.status], [200, 'cancelled'])
    }
    const row = await stage.ended(created.json.id)
    assert.deepEqual([row.error_code, row.status, row.charged], ['cancelled', 'cancelled', 0n])
    assert.equal(row.uncharged, 'cancelled', 'its vendor may bill it')
    assert.equal((await stage.gateway.balance(tenant.accountId)).held, 0n)
  })

  test('cancelled while it runs: what the vendor states is charged', async () => {
    const tenant = await stage.gateway.tenant()
    const input = `[[call:b7]][[tokens:60]][[fault:${SLOW};shows-usage]]`
    const created = await stage.create(tenant, input)
    await runs(tenant, created.json.id)
    await stage.gateway.post(`${RESPONSES}/${created.json.id}/cancel`, tenant.key, {})
    const row = await stage.ended(created.json.id)
    assert.deepEqual([row.status, row.basis, row.uncharged], ['cancelled', 'usage', null])
    assert.equal(row.charged, stage.worth('b7').nanos)
  })

  test('a stream that was read and then cancelled is owed as far as it was delivered', async () => {
    const tenant = await stage.gateway.tenant()
    const client = stage.client(tenant)
    const stream = await client.responses.create({
      model: 'held',
      input: `[[call:b8]][[tokens:60]][[fault:${SLOW}]]`,
      background: true,
      stream: true,
    })
    let id = ''
    let deltas = 0
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id
      if (event.type === 'response.output_text.delta') deltas += 1
      if (deltas === 20) break
    }
    await client.responses.cancel(id)
    const row = await stage.ended(id)
    assert.deepEqual([row.status, row.basis], ['cancelled', 'partial'])
    assert.ok(row.charged !== null && row.charged > 0n && row.charged <= row.held)
  })

  test('cancel races the end: one settlement, and it is the vendor’s last word', async () => {
    const tenant = await stage.gateway.tenant()
    for (let round = 0; round < 6; round += 1) {
      const marker = `race${round}`
      const fault = `queue-time=0;run-time=${40 + 20 * round};shows-usage`
      const created = await stage.create(tenant, `[[call:${marker}]][[tokens:8]][[fault:${fault}]]`)
      const path = `${RESPONSES}/${created.json.id}`
      await Promise.all([
        stage.gateway.post(`${path}/cancel`, tenant.key, {}),
        stage.gateway.get(path, tenant.key),
        stage.gateway.post(`${path}/cancel`, tenant.key, {}),
      ])
      const row = await stage.ended(created.json.id)
      const { nanos, jobs } = stage.worth(marker)
      assert.deepEqual([jobs, row.charged], [1, nanos], marker)
    }
  })

  test('a vendor that fails: nothing is charged, unless it states usage', async () => {
    const tenant = await stage.gateway.tenant()
    const failed = await stage.create(tenant, '[[call:b9]][[fault:fail-task;run-time=50]]')
    const row = await stage.ended(failed.json.id)
    assert.deepEqual([row.state, row.status, row.charged], ['failed', 'failed', 0n])
    const shown = await stage.create(
      tenant,
      '[[call:b10]][[fault:fail-task;shows-usage;run-time=50]]',
    )
    const stated = await stage.ended(shown.json.id)
    assert.deepEqual([stated.state, stated.charged], ['failed', stage.worth('b10').nanos])
  })

  test('polls that fail are repeated; one that the vendor forgets costs nothing', async () => {
    const tenant = await stage.gateway.tenant()
    const created = await stage.create(tenant, '[[call:b11]][[fault:poll-errors=3;poll-storm=4]]')
    const row = await stage.ended(created.json.id)
    assert.equal(row.charged, stage.worth('b11').nanos)
  })

  test('store: false is read until it is forgotten, and cannot be built on', async () => {
    const tenant = await stage.gateway.tenant()
    const created = await stage.create(tenant, '[[call:b12]]', { store: false })
    await stage.ended(created.json.id)
    assert.equal(
      (await stage.gateway.get(`${RESPONSES}/${created.json.id}`, tenant.key)).status,
      200,
    )
    const next = { previous_response_id: created.json.id }
    assert.equal((await stage.create(tenant, 'more', next)).status, 400)
    const kept = await stage.create(tenant, 'kept')
    await stage.ended(kept.json.id)
    const built = await stage.create(tenant, 'more', { previous_response_id: kept.json.id })
    assert.equal(built.status, 200, built.text)
    await stage.ended(built.json.id)
  })

  test('a running one is not deleted; one that has ended is settled first', async () => {
    const tenant = await stage.gateway.tenant()
    const created = await stage.create(tenant, `[[call:b13]][[tokens:9]][[fault:${SLOW}]]`)
    const remove = (id: string) =>
      stage.gateway.fetch(`${RESPONSES}/${id}`, { method: 'DELETE', key: tenant.key })
    const early = await remove(created.json.id)
    assert.equal(early.status, 409, await early.text())
    assert.equal(early.headers.get('x-should-retry'), 'false')
    await stage.gateway.post(`${RESPONSES}/${created.json.id}/cancel`, tenant.key, {})
    assert.equal((await remove(created.json.id)).status, 200)
    const quick = await stage.create(tenant, '[[call:b14]][[fault:queue-time=0;run-time=1]]')
    await until('its end at the vendor', () => stage.worth('b14').jobs || undefined)
    assert.equal((await remove(quick.json.id)).status, 200)
    assert.equal((await stage.task(quick.json.id)).charged, stage.worth('b14').nanos)
    assert.equal((await stage.gateway.get(`${RESPONSES}/${quick.json.id}`, tenant.key)).status, 404)
  })

  test('404, the same for whatever is not the caller’s own', async () => {
    const owner = await stage.gateway.tenant()
    const stranger = await stage.gateway.tenant()
    const created = await stage.create(owner, 'mine')
    const texts = new Set<string>()
    const { id: taskId } = await stage.task(created.json.id)
    for (const id of [created.json.id, taskId, 'resp_none', '%00']) {
      for (const query of ['', '?stream=true', '?stream=true&starting_after=1', '/input_items']) {
        const answer = await stage.gateway.get(`${RESPONSES}/${id}${query}`, stranger.key)
        assert.equal(answer.status, 404, `${id}${query}`)
        texts.add(answer.text)
      }
      const cancelled = await stage.gateway.post(`${RESPONSES}/${id}/cancel`, stranger.key, {})
      assert.equal(cancelled.status, 404)
      texts.add(cancelled.text)
    }
    assert.equal(texts.size, 1)
    assert.equal((await stage.ended(created.json.id)).state, 'succeeded')
  })

  test('400 that names the field, and nothing held: no background there, odd values', async () => {
    const tenant = await stage.gateway.tenant()
    const before = await stage.gateway.balance(tenant.accountId)
    for (const [more, param] of [
      [{ model: 'translated' }, 'background'],
      [{ background: 'true' }, 'background'],
      [{ background: 1 }, 'background'],
      [{ background: [true] }, 'background'],
      [{ callback_url: 'not a url' }, 'callback_url'],
      [{ callback_url: 'http://user:secret@example.com/' }, 'callback_url'],
      [{ callback_url: 'http://169.254.169.254/' }, 'callback_url'],
      [{ background: false, callback_url: 'https://example.com/' }, 'callback_url'],
      [{ background: null, callback_url: 'https://example.com/' }, 'callback_url'],
    ] as const) {
      const refused = await stage.create(tenant, 'hi', more)
      assert.equal(refused.status, 400, JSON.stringify(more))
      assert.equal(refused.json.error.param, param, refused.text)
    }
    const odd = `${RESPONSES}/x?stream=true&starting_after=-1`
    assert.equal((await stage.gateway.get(odd, tenant.key)).status, 404)
    assert.deepEqual(await stage.gateway.balance(tenant.accountId), before)
    const vendors = await stage.create(tenant, 'hi', { input: 7 })
    assert.equal(vendors.status, 400)
    assert.deepEqual(await stage.gateway.balance(tenant.accountId), before)
  })

  test('a refusal of the vendor passes as it is, and the money is back', async () => {
    const tenant = await stage.gateway.tenant()
    const before = await stage.gateway.balance(tenant.accountId)
    const refused = await stage.create(tenant, 'hi', { no_such_parameter: 1 })
    assert.deepEqual([refused.status, refused.json.error.code], [400, 'unknown_parameter'])
    assert.equal(refused.headers.get('x-should-retry'), 'false')
    assert.deepEqual(await stage.gateway.balance(tenant.accountId), before)
    const busy = await stage.create(tenant, '[[fault:status=429]]')
    assert.equal(busy.status, 429)
    assert.deepEqual(await stage.gateway.balance(tenant.accountId), before)
  })

  test('callback_url gets one webhook with the id of the creation, and stays with us', async (t) => {
    const tenant = await stage.gateway.tenant()
    const receiver = await startReceiver(t)
    const created = await stage.create(tenant, '[[call:b15]]', { callback_url: receiver.url })
    assert.equal(created.status, 200, created.text)
    const got = await until('the webhook', () => receiver.received[0])
    const payload = JSON.parse(got.body.toString())
    assert.deepEqual(
      { ...payload, created_at: '', finished_at: '' },
      {
        task_id: created.json.id,
        kind: 'response',
        status: 'succeeded',
        model: 'held',
        response_status: 'completed',
        created_at: '',
        finished_at: '',
        charged: '0.113',
        currency: 'CNY',
      },
    )
  })

  for (const stream of [false, true]) {
    test(`a lost answer${stream ? ' to a stream' : ''}: made once, whatever the SDK does`, async () => {
      const tenant = await stage.gateway.tenant()
      const marker = `lost-${stream}`
      const input = `[[call:${marker}]][[fault:lost-answer=504;queue-time=0;run-time=20]]`
      const creating = stage.client(tenant).post<{ id: string; status: string }>('/responses', {
        body: { model: 'held', input, background: true, stream, max_output_tokens: 50 },
      })
      if (stream) await assert.rejects(creating, /502/)
      else {
        const { id, status } = await creating
        assert.match(id, /^task_/)
        assert.equal(status, 'queued')
        const path = `${RESPONSES}/${id}`
        assert.equal((await stage.gateway.get(path, tenant.key)).json.status, 'queued')
        const row = await stage.ended(id)
        assert.deepEqual([row.error_code, row.charged], ['submission_unknown', 0n])
        assert.equal((await stage.gateway.get(path, tenant.key)).json.status, 'failed')
        const removed = await stage.gateway.fetch(path, { method: 'DELETE', key: tenant.key })
        assert.equal(removed.status, 200)
      }
      await until('its end at the vendor', () => stage.worth(marker).jobs || undefined)
      assert.equal(stage.worth(marker).jobs, 1)
    })
  }

  test('an Idempotency-Key: one response, and its answer again', async () => {
    const tenant = await stage.gateway.tenant()
    const key = { 'idempotency-key': 'bg' }
    const first = await stage.create(tenant, '[[call:b16]]', {}, key)
    const second = await stage.create(tenant, '[[call:b16]]', {}, key)
    assert.deepEqual([second.status, second.text], [200, first.text])
    await stage.ended(first.json.id)
    assert.equal((await stage.create(tenant, '[[call:b16]]', {}, key)).text, first.text)
    assert.equal(stage.worth('b16').jobs, 1)
  })

  test('429 over the rate of a key, for reading and cancelling too', async () => {
    const limited = { limits: { requests_per_minute: 2 } }
    const tenant = await stage.gateway.tenant({ key: limited })
    const created = await stage.create(tenant, 'hi')
    const path = `${RESPONSES}/${created.json.id}`
    assert.equal((await stage.gateway.get(path, tenant.key)).status, 200)
    assert.equal((await stage.gateway.get(path, tenant.key)).status, 429)
    assert.equal((await stage.gateway.post(`${path}/cancel`, tenant.key, {})).status, 429)
    await stage.ended(created.json.id)
  })

  async function runs(tenant: { key: string }, id: string): Promise<void> {
    await until('it runs', async () => {
      const { json } = await stage.gateway.get(`${RESPONSES}/${id}`, tenant.key)
      return json.status === 'in_progress' || undefined
    })
  }
})
