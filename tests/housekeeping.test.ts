/** What is old leaves the database, what is not stays, and the books still agree: `stop` audits. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type HousekeepingJob, startHousekeeping } from '../server/api/app/housekeeping.ts'
import { createLog } from '../server/api/app/log.ts'
import { MP4, type Origin, startOrigin } from './assets/origin.ts'
import { until } from './support/until.ts'
import { BODY, startTaskStage, type TaskStage } from './tasks/stage.ts'

const SETTINGS = { DELIVERY_DAYS: '30', TIMELINE_DAYS: '40', HOUSEKEEPING_MS: '100' }
let stage: TaskStage
let receiver: Origin

before(async () => {
  receiver = await startOrigin(MP4)
  stage = await startTaskStage(SETTINGS)
})
after(async () => {
  await stage.stop()
  await receiver.stop()
})

const count = async (rows: Promise<readonly { count: number }[]>) => (await rows)[0]?.count ?? 0

test('deliveries and timelines go when they are old; tasks and charges never', async () => {
  const { sql } = stage.gateway
  const tenant = await stage.gateway.tenant()
  stage.vendor.begin = 'succeeded'
  const ids: string[] = []
  for (let number = 0; number < 3; number += 1) {
    const { json } = await stage.create(tenant, { ...BODY, callback_url: `${receiver.url}/hook` })
    await stage.until(tenant, json.id, 'succeeded')
    ids.push(json.id)
  }
  const delivered = () => count(sql`select count(*)::int from delivery where state = 'delivered'`)
  await until('three deliveries', async () => (await delivered()) === 3 || undefined)
  const [old = '', older = '', young = ''] = ids
  await sql`
    update delivery set finished_at = finished_at - interval '31 days'
    where task_id in (${old}, ${older})`
  await sql`
    update task_event set at = at - interval '41 days' where task_id in (${old}, ${older})`
  const left = async () => [
    await delivered(),
    await count(sql`select count(*)::int from delivery_attempt`),
    await count(sql`select count(distinct task_id)::int from task_event`),
  ]
  await until('the old to go', async () => (await left()).join() === '1,1,1' || undefined)
  assert.notDeepEqual(await stage.timeline(tenant, young), [])
  assert.equal((await stage.gateway.get(`/v1/videos/generations/${old}`, tenant.key)).status, 200)
  const { data } = (await stage.gateway.get('/v1/usage', tenant.key)).json
  assert.equal(data.length, 3)
})

test('container sessions go when they are older than a day', async () => {
  const { sql } = stage.gateway
  await sql`
    insert into container_session (channel_id, container_id, request_id, minutes, started_at)
    values ('one', 'old', 'r', 20, now() - interval '25 hours'),
      ('one', 'young', 'r', 20, now() - interval '23 hours')`
  await until('the old to go', async () => {
    const left = await sql`select container_id from container_session`
    return left.map((row) => row.container_id).join() === 'young' || undefined
  })
})

test('Idempotency-Keys go when they have expired, however many there are', async () => {
  const { sql } = stage.gateway
  await sql`
    insert into idempotency
      (account_id, key, route, fingerprint, request_id, hold_id, state, created_at)
    select 'a', number::text, 'r', '', 'r', 'h' || number, state, now() - age * interval '1 hour'
    from (select number, 'streamed' as state, 25 as age from generate_series(1, 12000) number
      union all values (-1, 'streamed', 23), (-2, 'running', 25)) made`
  await until('the old to go', async () => {
    const left = await sql`select key from idempotency where account_id = 'a' order by key`
    return left.map((row) => row.key).join() === '-1,-2' || undefined
  })
})

test('ids of stored items go when they have expired', async () => {
  const { sql } = stage.gateway
  await sql`
    insert into stored_item (account_id, id, channel_id, answer_id, expires_at)
    values ('a', 'old', 'one', 'r', now() - interval '1 second'),
      ('a', 'young', 'one', 'r', now() + interval '1 hour')`
  await until('the old to go', async () => {
    const left = await sql`select id from stored_item`
    return left.map((row) => row.id).join() === 'young' || undefined
  })
})

test('what was scheduled before the clock was set back by an hour goes on within minutes', async () => {
  const { sql } = stage.gateway
  const tenant = await stage.gateway.tenant()
  stage.vendor.begin = 'processing'
  const { json } = await stage.create(tenant, BODY)
  await stage.until(tenant, json.id, 'processing')
  await sql`
    insert into delivery (id, account_id, kind, url, host, body, due_at, lease_until) values
      ('waiting', 'a', 'test', 'http://h/', 'h', '', now() + interval '1 hour', null),
      ('leased', 'a', 'test', 'http://h/', 'h', '', now(), now() + interval '1 hour')`
  await sql`
    insert into asset (id, account_id, kind, task_id, request_id, model, source_url,
      source_expires_at, token, due_at)
    values ('late', 'a', 'video', 't', 'r', 'm', '', now(), 't', now() + interval '1 hour')`
  await sql`
    insert into task_conversion (task_id, account_id, due_at)
    values ('late', 'a', now() + interval '1 hour')`
  await sql`update task set due_at = now() + interval '1 hour', fence = fence + 1
    where id = ${json.id}`
  await until('due times within minutes', async () => {
    const rows = await sql`
      select 1 from task where id = ${json.id} and due_at > now() + interval '2 minutes'
      union all select 1 from delivery where due_at > now() + interval '2 minutes'
        or lease_until > now() + interval '2 minutes'
      union all select 1 from asset where due_at > now() + interval '2 minutes'
      union all select 1 from task_conversion where due_at > now() + interval '2 minutes'`
    return rows.length === 0 || undefined
  })
  const leased = await sql`
    select id from delivery where lease_until is not null and id in ('waiting', 'leased')`
  assert.deepEqual(
    leased.map((row) => row.id),
    ['leased'],
  )
  await sql`delete from delivery where account_id = 'a'`
  await sql`delete from asset where account_id = 'a'`
  await sql`delete from task_conversion where account_id = 'a'`
})

test('mails that the clock moved away are due within minutes and retries at their time', async () => {
  const { sql } = stage.gateway
  await sql`
    insert into mail (id, address, language, kind, params, once, attempts, due_at, lease_until)
    select id, 'a@example.com', 'en', 'reset', '{}', id, attempts, now() + due, now() + lease
    from (values
      ('new', 0, interval '1 hour', null),
      ('first', 1, interval '1 hour', null),
      ('leased', 3, interval '1 hour', interval '61 minutes'),
      ('third', 3, interval '29 minutes', null),
      ('sixth', 6, interval '23 hours', null)) as m(id, attempts, due, lease)`
  await until('the moved to be due', async () => {
    const moved = await sql`
      select from mail where id in ('new', 'first', 'leased')
        and greatest(due_at, lease_until) <= now() + interval '2 minutes'`
    return moved.length === 3 || undefined
  })
  const waiting = await sql`
    select id from mail where due_at > now() + interval '20 minutes' order by id`
  assert.deepEqual(
    waiting.map((row) => row.id),
    ['sixth', 'third'],
  )
  await sql`delete from mail where address = 'a@example.com'`
})

test('a job that fails, or never ends, holds up no other', async () => {
  const done: string[] = []
  const note = (name: string, run: HousekeepingJob['run']): HousekeepingJob => ({
    name,
    run() {
      done.push(name)
      return run()
    },
  })
  let pieces = 3
  const jobs = [
    note('broken', () => Promise.reject(new Error('broken'))),
    note('pieces', async () => {
      pieces -= 1
      return Math.max(0, pieces)
    }),
    note('nothing', async () => 0),
  ]
  const log = createLog({ level: 'silent', format: 'json' })
  const housekeeping = startHousekeeping({ jobs, everyMs: 20, log })
  const rounds = () => done.filter((one) => one === 'nothing').length
  await until('two rounds', async () => rounds() >= 2 || undefined)
  await housekeeping.stop()
  assert.deepEqual(done.slice(0, 5), ['broken', 'pieces', 'pieces', 'pieces', 'nothing'])
})
