/** GET and DELETE /v1/responses/{id}, black box: only for the account that created it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestGateway, type TestGateway } from '../../support/in-process.ts'

const PATH = '/v1/responses'
let gateway: TestGateway

before(async () => {
  gateway = await startTestGateway()
})
after(() => gateway.stop())

const ask = (more: object = {}) => ({ model: 'sim-chat', input: '[[say:kept words]]', ...more })

async function remove(id: string, key: string) {
  const answer = await gateway.fetch(`${PATH}/${id}`, { method: 'DELETE', key })
  return { status: answer.status, text: await answer.text() }
}

test('200: its owner reads it, lists its input, continues it and deletes it', async () => {
  const { key, accountId } = await gateway.tenant()
  for (const stream of [false, true]) {
    const created = await gateway.post(PATH, key, ask({ stream }))
    const id = /"id":"(resp_[^"]+)"/.exec(created.text)?.[1] ?? ''
    const { available } = await gateway.balance(accountId)
    const found = await gateway.get(`${PATH}/${id}`, key)
    assert.equal(found.status, 200, found.text)
    assert.match(found.text, /kept words/)
    const items = await gateway.get(`${PATH}/${id}/input_items?limit=5`, key)
    assert.equal(items.status, 200)
    assert.equal((await gateway.balance(accountId)).available, available, 'free of charge')
    const next = await gateway.post(PATH, key, ask({ previous_response_id: id }))
    assert.equal(next.status, 200, next.text)
    assert.equal((await remove(id, key)).status, 200)
    assert.equal((await gateway.get(`${PATH}/${id}`, key)).status, 404)
  }
})

test('a continuation holds for all earlier turns again', async () => {
  const { key } = await gateway.tenant()
  const input = 'a long story '.repeat(2_000)
  const first = await gateway.post(PATH, key, ask({ input }))
  const { usage } = first.json
  const second = await gateway.post(PATH, key, ask({ previous_response_id: first.json.id }))
  const heldFor = async (answer: { headers: Headers }) => {
    const id = answer.headers.get('x-request-id')
    const [row] = await gateway.sql<{ estimate: Record<string, number> }[]>`
      select estimate from hold where request_id = ${id}`
    return row?.estimate.input_token ?? 0
  }
  assert.ok(usage.input_tokens > 1_000)
  assert.ok((await heldFor(second)) >= usage.input_tokens + usage.output_tokens)
  const old = ask({ previous_response_id: first.json.id })
  await gateway.sql`update stored_answer set tokens = null`
  assert.equal((await gateway.post(PATH, key, old)).status, 200, 'an answer of before')
})

test('the same 404 for foreign, unknown and malformed ids, also for continuations', async () => {
  const owner = await gateway.tenant()
  const stranger = await gateway.tenant()
  const created = await gateway.post(PATH, owner.key, ask())
  const { id } = created.json
  const texts = new Set<string>()
  for (const tried of [id, 'resp_unknown', '%00', 'a%2Fb', 'x'.repeat(150)]) {
    for (const path of [tried, `${tried}/input_items`]) {
      const answer = await gateway.get(`${PATH}/${path}`, stranger.key)
      assert.equal(answer.status, 404, path)
      texts.add(answer.text)
    }
    assert.equal((await remove(tried, stranger.key)).status, 404)
  }
  assert.equal(texts.size, 1)
  const stolen = await gateway.post(PATH, stranger.key, ask({ previous_response_id: id }))
  assert.equal(stolen.status, 400)
  assert.equal(stolen.json.error.param, 'previous_response_id')
  for (const junk of [5, {}, [id], true]) {
    const answer = await gateway.post(PATH, stranger.key, ask({ previous_response_id: junk }))
    assert.equal(answer.status, 400, JSON.stringify(junk))
    assert.equal(answer.json.error.param, 'previous_response_id')
  }
  assert.equal((await gateway.get(`${PATH}/${id}`, owner.key)).status, 200)
})

test('404 if store was false, 400 for a stream of it, 401 without a key', async () => {
  const { key } = await gateway.tenant()
  const created = await gateway.post(PATH, key, ask({ store: false }))
  assert.equal((await gateway.get(`${PATH}/${created.json.id}`, key)).status, 404)
  assert.equal((await gateway.get(`${PATH}/x?stream=true`, key)).status, 404)
  const kept = await gateway.post(PATH, key, ask())
  const streamed = await gateway.get(`${PATH}/${kept.json.id}?stream=true`, key)
  assert.deepEqual([streamed.status, streamed.json.error.param], [400, 'stream'])
  assert.equal((await gateway.get(`${PATH}/x`, 'tr-nobody')).status, 401)
})
