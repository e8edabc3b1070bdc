/** /v1/webhooks/deliveries: lists deliveries of the own account, and redelivers. */
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { enqueueTestDelivery, insertDropped, startReceiver } from '../../webhooks/support.ts'

const PATH = '/v1/webhooks/deliveries'
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway({ ALLOW_PRIVATE_TARGETS: 'true' })
})
after(() => gateway.stop())

async function deliver(t: TestContext) {
  const tenant = await gateway.tenant()
  const receiver = await startReceiver(t, (response) => response.writeHead(201).end('grüezi'))
  const id = await enqueueTestDelivery(gateway.sql, tenant.accountId, receiver.url, '{"a":"水"}')
  return { ...tenant, receiver, id, delivered: await whenOver(id, tenant.key) }
}

const whenOver = (id: string, key: string) =>
  until('the delivery', async () => {
    const { json } = await gateway.get(`${PATH}/${id}`, key)
    return json.status === 'pending' ? undefined : json
  })

test('200: a delivery is listed with its attempts', async (t) => {
  const { key, id, delivered, receiver } = await deliver(t)
  assert.deepEqual([delivered.id, delivered.status, delivered.url], [id, 'delivered', receiver.url])
  const [attempt] = delivered.attempts
  assert.deepEqual(
    [attempt.number, attempt.outcome, attempt.status, attempt.answer, attempt.error],
    [1, 'accepted', 201, 'grüezi', null],
  )
  assert.deepEqual((await gateway.get(PATH, key)).json, { data: [delivered], next_cursor: null })
  const filters = [`task_id=${delivered.task_id}`, 'status=delivered']
  for (const filter of filters) {
    assert.equal((await gateway.get(`${PATH}?${filter}`, key)).json.data.length, 1)
  }
  assert.deepEqual((await gateway.get(`${PATH}?status=dropped`, key)).json.data, [])
})

test('200: pages, the newest first', async (t) => {
  const { accountId, key } = await gateway.tenant()
  const receiver = await startReceiver(t)
  const ids: string[] = []
  for (let index = 0; index < 5; index += 1) {
    ids.unshift(await enqueueTestDelivery(gateway.sql, accountId, receiver.url))
  }
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { json } = await gateway.get(`${PATH}?limit=2&cursor=${cursor}`, key)
    seen.push(...json.data.map(({ id }: { id: string }) => id))
    cursor = json.next_cursor
  }
  assert.deepEqual(seen, ids)
  assert.equal((await gateway.get(`${PATH}?cursor=2`, key)).status, 400)
})

test('200: a redelivery sends the same bytes once more, freshly signed', async (t) => {
  const { key, id, receiver } = await deliver(t)
  const again = await gateway.post(`${PATH}/${id}/redeliver`, key, {})
  assert.deepEqual([again.status, again.json.redelivery_of], [200, id])
  await whenOver(again.json.id, key)
  const third = await gateway.post(`${PATH}/${again.json.id}/redeliver`, key, {})
  assert.equal(third.json.redelivery_of, id, 'always of the first')
  await whenOver(third.json.id, key)
  const bodies = receiver.received.map(({ body }) => body.toString())
  assert.deepEqual(bodies, Array(3).fill('{"a":"水"}'))
})

test('200: the dropped ones of a time are sent again once', async (t) => {
  const { accountId, key } = await gateway.tenant()
  const receiver = await startReceiver(t)
  const id = await insertDropped(gateway.sql, accountId, receiver.url)
  const body = {
    from: new Date(Date.now() - 3_600_000).toISOString(),
    to: new Date(Date.now() + 3_600_000).toISOString(),
    host: `127.0.0.1:${receiver.port}`,
  }
  const ask = (more: object) => gateway.post(`${PATH}/redeliver`, key, { ...body, ...more })
  const dry = await ask({ dry_run: true })
  assert.deepEqual([dry.status, dry.json], [200, { redelivered: 0, remaining: 1 }])
  const answers = await Promise.all([ask({}), ask({})])
  assert.equal(
    answers.reduce((sum, { json }) => sum + json.redelivered, 0),
    1,
  )
  const { json } = await gateway.get(`${PATH}/${id}`, key)
  await whenOver(json.redelivered_as, key)
  assert.equal(receiver.received.length, 1)
  for (const wrong of [{ to: body.from }, { from: 'x' }, { host: 'a b' }, { more: 1 }]) {
    assert.equal((await ask(wrong)).status, 400, JSON.stringify(wrong))
  }
  const query = `from=${body.from}&to=${body.to}&host=127.0.0.1&status=dropped`
  assert.equal((await gateway.get(`${PATH}?${query}`, key)).json.data.length, 1)
  assert.equal((await gateway.get(`${PATH}?to=${body.from}`, key)).json.data.length, 0)
})

test('409 while a delivery is pending', async () => {
  const { accountId, key } = await gateway.tenant()
  const id = await enqueueTestDelivery(gateway.sql, accountId, 'http://127.0.0.1:1/')
  const answer = await gateway.post(`${PATH}/${id}/redeliver`, key, {})
  assert.deepEqual([answer.status, answer.json.type], [409, 'conflict_error'])
  assert.match(answer.json.error, /still pending/)
})

test('400 for invalid filters', async () => {
  const { key } = await gateway.tenant()
  for (const query of ['limit=0', 'limit=x', 'status=lost']) {
    assert.equal((await gateway.get(`${PATH}?${query}`, key)).status, 400, query)
  }
})

test('401, and the same 404 for foreign, unknown and malformed ids', async (t) => {
  const { id } = await deliver(t)
  const { key } = await gateway.tenant()
  assert.equal((await gateway.get(PATH, 'tr-junk')).status, 401)
  const answers = await Promise.all(
    [id, 'whd_0000000000000000000000', "'"].flatMap((one) => [
      gateway.get(`${PATH}/${encodeURIComponent(one)}`, key),
      gateway.post(`${PATH}/${encodeURIComponent(one)}/redeliver`, key, {}),
    ]),
  )
  assert.deepEqual(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1)
  assert.equal(answers[0]?.status, 404)
  assert.deepEqual((await gateway.get(`${PATH}?cursor=${id}`, key)).json.data, [])
})
