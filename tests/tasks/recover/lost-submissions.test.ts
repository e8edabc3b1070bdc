/**
 * Submissions whose answer was lost, at vendors that know one by an id of ours: found exactly, or
 * known for certain to be absent. A vendor without a recovery method: released at the stated age.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startTestGateway, type TestAnswer, type TestGateway } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { type EraseStage, startEraseStage } from '../erase-stage.ts'
import { QUICK } from '../stage.ts'

const PATH = '/v1/audio/minutes'
const FAST = 'media-seconds=20;queue-time=20;run-time=20'

interface Ended {
  readonly id: string
  readonly state: string
  readonly error_code: string | null
  readonly reason: string | null
}

async function ending({ sql }: TestGateway, answer: TestAnswer): Promise<Ended> {
  const requestId = answer.headers.get('x-request-id') ?? ''
  const readTask = async () => {
    const [task] = await sql<Ended[]>`
      select t.id, t.state, t.error_code, o.reason from task t
      left join uncharged_cost o on o.task_id = t.id
      where t.request_id = ${requestId} and t.finished_at is not null`
    return task
  }
  return until(`the end of the task of ${requestId}`, readTask)
}

async function eventsOf(gateway: TestGateway, key: string, id: string) {
  const { json } = await gateway.get(`/v1/tasks/${id}/timeline`, key)
  const events: readonly Record<string, unknown>[] = json.events
  return (name: string) => events.find(({ event }) => event === name)
}

describe('a lost submission of a recording', () => {
  let gateway: TestGateway
  before(async () => {
    gateway = await startTestGateway({ ...QUICK, ALLOW_PRIVATE_TARGETS: 'true' })
  })
  after(() => gateway.stop())

  const creates = async (model: string, fault: string) => {
    const tenant = await gateway.tenant()
    const file_url = `https://media.example/a.mp3?x=[[fault:${FAST};${fault}]]`
    const body = { model, file_url, features: { summary: true } }
    return { tenant, answer: await gateway.post(PATH, tenant.key, body) }
  }

  async function lose(model: string, fault: string) {
    const { tenant, answer } = await creates(model, fault)
    assert.equal(answer.status, 200, answer.text)
    assert.ok((await gateway.balance(tenant.accountId)).held > 0n, 'it is not over yet')
    const task = await ending(gateway, answer)
    assert.equal((await gateway.balance(tenant.accountId)).held, 0n)
    const record = await gateway.record(answer, tenant.key)
    return { task, record, event: await eventsOf(gateway, tenant.key, task.id) }
  }

  test('recognition is queried by the attempt’s id: adopted, and charged once', async () => {
    const { task, record, event } = await lose('service-minutes', 'lost-answer')
    assert.deepEqual([task.state, task.reason], ['succeeded', null])
    assert.equal(record.lines.find(({ unit }) => unit === 'second')?.quantity, 20)
    assert.equal(event('attempt_unknown'), undefined, 'it was found within the call')
    assert.equal(event('adopted')?.by, 'own_id')
  })

  test('recognition that was never accepted: known for certain, and refused', async () => {
    for (const fault of ['status=500', 'status=504', 'status=502;error-form=page']) {
      const { tenant, answer } = await creates('service-minutes', fault)
      assert.equal(answer.status, 502, `${fault}: ${answer.text}`)
      assert.equal((await gateway.balance(tenant.accountId)).held, 0n)
      const costs = await gateway.sql`
        select 1 from uncharged_cost o join task t on t.id = o.task_id
        where t.account_id = ${tenant.accountId}`
      assert.equal(costs.length, 0)
    }
  })

  test('two at once are kept apart', async () => {
    const both = await Promise.all([
      lose('service-minutes', 'lost-answer'),
      lose('service-minutes', 'lost-answer'),
    ])
    assert.deepEqual(
      both.map(({ task }) => [task.state, task.reason]),
      [
        ['succeeded', null],
        ['succeeded', null],
      ],
    )
  })

  test('the minutes product has no recovery method: released at the age in its timeline', async () => {
    const { task, record, event } = await lose('vendor-minutes', 'lost-answer')
    assert.deepEqual([task.state, task.reason], ['failed', 'unknown_submit'])
    assert.equal(record.charged, '0')
    const unknown = event('attempt_unknown')
    const age = Number(QUICK.TASK_UNKNOWN_MS) / 1000
    assert.deepEqual([unknown?.looked_for_by, unknown?.released_after_seconds], ['none', age])
    assert.ok(Number(event('attempt_given_up')?.after_seconds) >= age)
    assert.equal(event('released')?.uncharged_cost, 'unknown_submit')
  })
})

describe('a lost submission of an erasure', () => {
  let stage: EraseStage
  before(async () => {
    stage = await startEraseStage()
  })
  after(() => stage.stop())

  const creations = () =>
    stage.vendors.book.entries().filter(({ operation }) => operation === 'erase.create')

  async function lose(words: string) {
    const tenant = await stage.gateway.tenant()
    const source = await stage.scripted(tenant, `[[fault:${words}]]`)
    const body = { video_task_id: source, model: 'erase-paid' }
    const answer = await stage.create(tenant, body)
    assert.equal(answer.status, 200, answer.text)
    return { tenant, source, answer }
  }

  test('it is sent again under its token: the vendor made one, and it is charged once', async () => {
    const before = creations().length
    const { tenant, answer } = await lose('lost-answer')
    const task = await ending(stage.gateway, answer)
    assert.deepEqual([task.state, task.reason], ['succeeded', null])
    assert.equal((await stage.gateway.record(answer, tenant.key)).charged, '0.05')
    const event = await eventsOf(stage.gateway, tenant.key, task.id)
    assert.equal(event('adopted')?.by, 'repeated')
    const billed = creations().slice(before)
    assert.equal(billed.filter(({ units }) => units.second !== undefined).length, 1)
  })

  test('a vendor that refuses it when asked again never accepted it: its own words', async () => {
    const tenant = await stage.gateway.tenant()
    const fault = 'status=400;error-message=no-video]][[fault:status=502;error-form=page;times=1'
    const source = await stage.scripted(tenant, `[[call:again]][[fault:${fault}]]`)
    const answer = await stage.create(tenant, { video_task_id: source, model: 'erase-paid' })
    assert.equal(answer.status, 400, answer.text)
    assert.match(answer.text, /no-video/)
    assert.equal((await stage.gateway.balance(tenant.accountId)).held, 0n)
  })

  test('a video that has disappeared cannot be sent again: given up, the cost is recorded', async () => {
    const { tenant, source, answer } = await lose('close-before-head')
    await stage.gateway.sql`update task set deleted_at = now() where id = ${source}`
    const task = await ending(stage.gateway, answer)
    assert.deepEqual([task.state, task.reason], ['failed', 'unknown_submit'])
    const record = await stage.gateway.record(answer, tenant.key)
    assert.deepEqual([record.status, record.charged], ['failed', '0'])
  })
})
