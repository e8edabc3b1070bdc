/**
 * A hold or a task is committed, and its connection breaks before the gateway knows: a retry finds
 * it, so the call runs, is charged once, and no second hold is taken.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type FaultyProxy, openProxy } from '../../../proofs/outage/proxy.ts'
import { findFreePort } from '../../support/free-port.ts'
import { startTestGateway, type Tenant, type TestGateway } from '../../support/in-process.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { QUICK } from '../../tasks/stage.ts'

const CHAT = { model: 'sim-chat', messages: [{ role: 'user', content: 'hi' }] }
const VIDEO = {
  model: 'doubao-seedance-2-0-260128',
  content: [{ type: 'text', text: '[[fault:queue-time=20;run-time=50]] a river' }],
}

let proxy: FaultyProxy
let gateway: TestGateway
let metrics: string
let tenant: Tenant
before(async () => {
  const database = await createTestDatabase()
  proxy = await openProxy(database.place)
  const port = await findFreePort()
  metrics = `http://127.0.0.1:${port}/metrics`
  gateway = await startTestGateway(
    { ...QUICK, ADMIT_WAIT_SECONDS: '60', METRICS_PORT: String(port) },
    undefined,
    { database: { ...database, url: proxy.url } },
  )
})
after(async () => {
  await gateway.stop()
  await proxy.close()
})
beforeEach(async () => {
  tenant = await gateway.tenant({ balance: '100' })
})

/** Returns how often a hold was found that the gateway had not heard of. */
async function countFound(): Promise<number> {
  const text = await (await fetch(metrics)).text()
  const name = 'tributary_ledger_surprises_total{operation="hold",verdict="already"}'
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(name))
      ?.split(' ')[1] ?? 0,
  )
}

async function holdsOf({ accountId }: Tenant) {
  const rows = await gateway.sql<{ id: string; state: string }[]>`
    select id, state from hold where account_id = ${accountId}`
  return rows.map(({ state }) => state)
}

async function stepsOf({ accountId }: Tenant) {
  const rows = await gateway.sql<{ step: string }[]>`
    select step from entry where account_id = ${accountId} and step <> 'credit' order by id`
  return rows.map(({ step }) => step)
}

/** Sends a call whose hold is committed unheard. */
async function callUnheard(headers: object = {}) {
  const found = await countFound()
  const lost = proxy.loseAnswer('SELECT')
  const answer = await gateway.post('/v1/chat/completions', tenant.key, CHAT, headers)
  await lost
  assert.equal(answer.status, 200, answer.text)
  assert.equal(await countFound(), found + 1, 'the commit was lost')
  const record = await gateway.record(answer, tenant.key)
  assert.deepEqual(
    record.ledger.map(({ step }) => step),
    ['hold', 'charge', 'return'],
  )
  assert.deepEqual(await holdsOf(tenant), ['settled'])
  assert.equal((await gateway.balance(tenant.accountId)).held, 0n)
  return answer
}

test('a call whose hold was committed unheard runs and is charged once', async () => {
  await callUnheard()
})

test('a call keeps the Idempotency-Key that its lost commit took', async () => {
  const key = { 'idempotency-key': 'unheard' }
  const answer = await callUnheard(key)
  const again = await gateway.post('/v1/chat/completions', tenant.key, CHAT, key)
  assert.equal(again.headers.get('idempotent-replayed'), answer.headers.get('x-request-id'))
  assert.equal(again.text, answer.text)
  assert.deepEqual(await holdsOf(tenant), ['settled'])
})

test('a task that was committed unheard is found, submitted once and charged once', async () => {
  const lost = proxy.loseAnswer('COMMIT')
  const key = { 'idempotency-key': 'unheard-task' }
  const { status, text, json } = await gateway.post(
    '/v1/videos/generations',
    tenant.key,
    VIDEO,
    key,
  )
  await lost
  assert.equal(status, 200, text)
  assert.equal((await holdsOf(tenant)).length, 1)
  const task = await until('its end', async () => {
    const { json: now } = await gateway.get(`/v1/videos/generations/${json.id}`, tenant.key)
    return now.status === 'succeeded' ? now : undefined
  })
  assert.equal(task.id, json.id)
  const attempts = await gateway.sql`
    select from task_attempt where task_id = ${json.id}`
  assert.equal(attempts.length, 1)
  assert.deepEqual(await holdsOf(tenant), ['settled'])
  assert.deepEqual(await stepsOf(tenant), ['hold', 'charge', 'return'])
  assert.equal((await gateway.balance(tenant.accountId)).held, 0n)
})
