/**
 * Vendor callbacks: their responses, and that a callback, whoever sent it, only changes when and by
 * which id the vendor is polled.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createSecretBox } from '../../../server/base/lib/secrets/secrets.ts'
import { createCallbackAddresses } from '../../../server/work/tasks/callbacks/callback-addresses.ts'
import { SECRET_KEY, type Tenant } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { BODY, CHARGE, reachable, startTaskStage, type TaskStage } from '../stage.ts'
import type { VendorTask } from '../video-vendor.ts'

/** States of the vendor's task, and ours after a poll. */
const STEPS = [
  ['running', 'processing'],
  ['succeeded', 'succeeded'],
] as const

describe('a vendor callback', () => {
  let stage: TaskStage
  let publicUrl = ''
  before(async () => {
    const environment = await reachable()
    publicUrl = environment.PUBLIC_URL ?? ''
    const slow = {
      TASK_POLL_INTERVAL_MAX_MS: '60000',
      TASK_UNKNOWN_MS: '600000',
    }
    stage = await startTaskStage({ ...environment, ...slow })
    stage.vendor.lists = false
  })
  after(() => stage.stop())

  const callbackUrlOf = ({ body }: VendorTask) => String(body.callback_url)

  async function sendCallback(
    url: string,
    body: unknown,
  ): Promise<{ status: number; text: string }> {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    return { status: answer.status, text: await answer.text() }
  }

  /** Creates a task; `before` runs after the vendor has accepted it and before it responds. */
  async function create(tenant: Tenant, before?: (task: VendorTask) => Promise<unknown>) {
    const vendorTasks: VendorTask[] = []
    stage.vendor.onTask = async (task) => {
      vendorTasks.push(task)
      await before?.(task)
    }
    const answer = await stage.create(tenant)
    stage.vendor.onTask = undefined
    const [task] = vendorTasks
    assert.ok(task, 'the vendor has it')
    return { answer, task }
  }

  async function rowOf(task: VendorTask) {
    const attemptId = `att_${callbackUrlOf(task).split('/').at(-1)?.split('.')[0]}`
    const [row] = await stage.gateway.sql<
      {
        id: string
        state: string
        callback_upstream_id: string | null
        callback_count: number
        polls: number
      }[]
    >`select t.id, t.state, a.callback_upstream_id, a.callback_count, t.polls from task t
      join task_attempt a on a.task_id = t.id where a.id = ${attemptId}`
    assert.ok(row)
    return row
  }

  const stateIs = (task: VendorTask, state: string) =>
    until(`a task that is ${state}`, async () =>
      (await rowOf(task)).state === state ? true : undefined,
    )

  async function eventsOf(tenant: Tenant, task: VendorTask) {
    const { json } = await stage.gateway.get(
      `/v1/tasks/${(await rowOf(task)).id}/timeline`,
      tenant.key,
    )
    return json.events as readonly Record<string, unknown>[]
  }

  test('the vendor gets an address of ours, the caller’s own stays here', async () => {
    const tenant = await stage.gateway.tenant()
    const callback_url = 'http://127.0.0.1:9/mine'
    const seen: VendorTask[] = []
    stage.vendor.onTask = async (task) => void seen.push(task)
    await stage.create(tenant, { ...BODY, callback_url })
    stage.vendor.onTask = undefined
    const [task] = seen
    assert.ok(task && callbackUrlOf(task).startsWith(`${publicUrl}/v1/hooks/upstream/`))
    assert.ok(!JSON.stringify(task.body).includes('mine'))
  })

  test('makes a task due that would be polled much later; its timeline says so', async () => {
    const tenant = await stage.gateway.tenant()
    const { answer, task } = await create(tenant)
    task.status = 'running'
    const said = await sendCallback(callbackUrlOf(task), { id: task.id, status: 'running' })
    assert.deepEqual(said, { status: 200, text: '{"status":"success"}' })
    await stateIs(task, 'processing')
    // Whatever was due soon has been polled: only the next callback makes it due again.
    await until('a poll that is far ahead', async () => {
      const { id } = await rowOf(task)
      const [row] = await stage.gateway.sql`select 1 from task
          where id = ${id} and not is_claimed and due_at > now() + interval '20 seconds'`
      return row && true
    })
    task.status = 'succeeded'
    // The state in the callback is ignored.
    await sendCallback(callbackUrlOf(task), { id: task.id, status: 'failed' })
    await stateIs(task, 'succeeded')
    const events = await eventsOf(tenant, task)
    assert.equal(events.filter(({ event }) => event === 'upstream_reported').length, 2)
    assert.equal((await stage.gateway.record(answer, tenant.key)).charged, CHARGE)
  })

  test('forged: the same bytes whatever is wrong, and no query', async () => {
    const tenant = await stage.gateway.tenant()
    const { task } = await create(tenant)
    const url = callbackUrlOf(task)
    const others = [...'ABCDEF'].map((last) => url.slice(0, -1) + last)
    const [id, signature] = url.split('/').at(-1)?.split('.') ?? []
    const box = createSecretBox([SECRET_KEY])
    const strange = createCallbackAddresses(box, () => publicUrl).urlOf(`att_${'x'.repeat(22)}`)
    const foreign = createCallbackAddresses(createSecretBox(['k'.repeat(32)]), () => publicUrl)
    const forged = [
      ...others.filter((one) => one !== url),
      `${publicUrl}/v1/hooks/upstream/${id}`,
      `${publicUrl}/v1/hooks/upstream/x`,
      `${publicUrl}/v1/hooks/upstream/${'y'.repeat(22)}.${signature}`,
      `${publicUrl}/v1/hooks/upstream/%ff`,
      `${url}A`,
      foreign.urlOf(`att_${id}`),
      // Correctly signed, for an attempt that does not exist.
      strange,
    ]
    const answers = await Promise.all(forged.map((one) => sendCallback(one ?? '', { id: task.id })))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [404])
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1, JSON.stringify(answers))
    assert.equal((await rowOf(task)).callback_count, 0)
  })

  test('too large, or no JSON at all: 413, and a poll', async () => {
    const tenant = await stage.gateway.tenant()
    const { task } = await create(tenant)
    const { status } = await sendCallback(callbackUrlOf(task), {
      id: task.id,
      pad: 'x'.repeat(70_000),
    })
    assert.equal(status, 413)
    assert.equal((await rowOf(task)).callback_count, 0)
    task.status = 'running'
    assert.equal((await sendCallback(callbackUrlOf(task), 'not json')).status, 200)
    await stateIs(task, 'processing')
    for (const odd of ['[]', '"x"', '{"id":"a\\u0000b"}', '{"id":7}', '']) {
      assert.equal((await sendCallback(callbackUrlOf(task), odd)).status, 200, odd)
    }
    assert.equal((await rowOf(task)).callback_upstream_id, null)
  })

  test('an id that is another attempt’s is refused, and never shown', async () => {
    const tenant = await stage.gateway.tenant()
    const { task: others } = await create(await stage.gateway.tenant())
    stage.vendor.loseAnswers(1)
    const { answer, task } = await create(tenant, (vendorTask) =>
      sendCallback(callbackUrlOf(vendorTask), { id: others.id }),
    )
    assert.equal(answer.status, 200)
    await sendCallback(callbackUrlOf(task), { id: others.id })
    assert.equal((await rowOf(task)).callback_upstream_id, null)
    const ignored = (await eventsOf(tenant, task)).filter(({ ignored: why }) => why)
    assert.deepEqual([...new Set(ignored.map(({ ignored: why }) => why))], ['another_task'])
    assert.ok(!JSON.stringify(ignored).includes(others.id))
    // The right id is still taken.
    task.status = 'succeeded'
    await sendCallback(callbackUrlOf(task), { id: task.id })
    await stateIs(task, 'succeeded')
    others.status = 'succeeded'
    await sendCallback(callbackUrlOf(others), { id: others.id })
    await stateIs(others, 'succeeded')
  })

  test('of an attempt that is known, no other id is taken', async () => {
    const tenant = await stage.gateway.tenant()
    const { answer, task } = await create(tenant)
    await sendCallback(callbackUrlOf(task), { id: 'cgt-of-nobody' })
    const { json } = await stage.gateway.get(`/v1/videos/generations/${answer.json.id}`, tenant.key)
    assert.equal(json.upstream_id, task.id)
    assert.equal((await rowOf(task)).callback_upstream_id, null)
  })

  test('before the answer to the submission: nothing is lost, nothing is taken twice', async () => {
    const tenant = await stage.gateway.tenant()
    const { answer, task } = await create(tenant, async (vendorTask) => {
      assert.equal(
        (await sendCallback(callbackUrlOf(vendorTask), { id: vendorTask.id, status: 'queued' }))
          .status,
        200,
      )
    })
    assert.equal(answer.status, 200, answer.text)
    const events = (await eventsOf(tenant, task)).map(({ event }) => event)
    assert.deepEqual(events.slice(0, 3), ['held', 'upstream_reported', 'submitted'])
    task.status = 'succeeded'
    await sendCallback(callbackUrlOf(task), { id: task.id })
    await stateIs(task, 'succeeded')
    assert.equal((await stage.gateway.record(answer, tenant.key)).charged, CHARGE)
  })

  test('another task’s id, adopted before a late answer: the answer’s id counts', async () => {
    const tenant = await stage.gateway.tenant()
    const stranger = { ...(await create(tenant)).task, id: 'cgt-of-a-stranger', status: 'running' }
    stage.vendor.tasks.set(stranger.id, stranger)
    const idOf = async (vendorTask: VendorTask) => {
      const { id } = await rowOf(vendorTask)
      return (await stage.gateway.get(`/v1/videos/generations/${id}`, tenant.key)).json.upstream_id
    }
    const { answer, task } = await create(tenant, async (vendorTask) => {
      assert.equal((await sendCallback(callbackUrlOf(vendorTask), { id: stranger.id })).status, 200)
      const { id } = await rowOf(vendorTask)
      // As after a pause of the process that is longer than its lease.
      await stage.gateway.sql`update task set fence = fence + 1, due_at = now() where id = ${id}`
      await until('a worker adopts the id', async () =>
        (await idOf(vendorTask)) === stranger.id ? true : undefined,
      )
    })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.json.upstream_id, task.id)
    assert.equal(await idOf(task), task.id)
    stranger.status = 'failed'
    task.status = 'succeeded'
    await sendCallback(callbackUrlOf(task), { id: task.id })
    await stateIs(task, 'succeeded')
    assert.equal((await stage.gateway.record(answer, tenant.key)).charged, CHARGE)
  })

  test('before an answer that never comes: adopted, after the vendor confirms the id', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.loseAnswers(1)
    const { answer, task } = await create(tenant, (vendorTask) => {
      vendorTask.status = 'succeeded'
      return sendCallback(callbackUrlOf(vendorTask), { id: vendorTask.id })
    })
    assert.equal(answer.status, 200)
    await stateIs(task, 'succeeded')
    const adopted = (await eventsOf(tenant, task)).find(({ event }) => event === 'adopted')
    assert.equal(adopted?.by, 'callback')
    assert.equal((await stage.gateway.record(answer, tenant.key)).charged, CHARGE)
  })

  test('an id that the vendor does not know is polled, and not taken', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.loseAnswers(1)
    const { task } = await create(tenant)
    await sendCallback(callbackUrlOf(task), { id: 'cgt-of-nobody' })
    const isPolled = () => stage.vendor.requests.some((one) => one.endsWith('/cgt-of-nobody'))
    await until('a poll', async () => isPolled() || undefined)
    assert.equal((await rowOf(task)).state, 'submitting')
    task.status = 'succeeded'
    await sendCallback(callbackUrlOf(task), { id: task.id })
    await stateIs(task, 'succeeded')
  })

  test('during a poll: the poll finishes undisturbed, and another one follows', async () => {
    const tenant = await stage.gateway.tenant()
    const { task } = await create(tenant)
    const { task: other } = await create(tenant)
    const pollsOf = () => stage.vendor.requests.filter((one) => one.endsWith(task.id)).length
    let meanwhile: number | undefined
    stage.vendor.onPoll = async (polledTask) => {
      if (polledTask !== task || meanwhile !== undefined) return
      const before = pollsOf()
      // The answer under way says `queued`.
      task.status = 'succeeded'
      await sendCallback(callbackUrlOf(task), { id: task.id })
      // The second poll of another task is due after a second poll of this one would be.
      for (const [status, state] of STEPS) {
        other.status = status
        await sendCallback(callbackUrlOf(other), { id: other.id })
        await stateIs(other, state)
      }
      meanwhile = pollsOf() - before
    }
    await sendCallback(callbackUrlOf(task), { id: task.id })
    await stateIs(task, 'succeeded')
    stage.vendor.onPoll = undefined
    assert.equal(meanwhile, 0, 'nobody else polled')
  })

  test('after the end, and again and again: 200, and nothing happens', async () => {
    const tenant = await stage.gateway.tenant()
    const { answer, task } = await create(tenant)
    task.status = 'succeeded'
    await sendCallback(callbackUrlOf(task), { id: task.id })
    await stateIs(task, 'succeeded')
    const before = await rowOf(task)
    task.status = 'failed'
    for (let times = 0; times < 5; times += 1) {
      assert.equal(
        (await sendCallback(callbackUrlOf(task), { id: task.id, status: 'failed' })).status,
        200,
      )
    }
    assert.deepEqual(await rowOf(task), before)
    assert.equal((await stage.gateway.record(answer, tenant.key)).charged, CHARGE)
  })

  test('a flood at one address: a limited number counts, then 429; others are not affected', async () => {
    const tenant = await stage.gateway.tenant()
    const { task } = await create(tenant)
    const pollsOf = () => stage.vendor.requests.filter((one) => one.endsWith(task.id)).length
    // All at once: the limit refills with time, and a slow machine would never reach it.
    const flood = Array.from({ length: 120 }, () =>
      sendCallback(callbackUrlOf(task), { id: task.id }),
    )
    const statuses = (await Promise.all(flood)).map(({ status }) => status)
    assert.deepEqual([...new Set(statuses)].sort(), [200, 429])
    assert.equal((await rowOf(task)).callback_count, 40)
    assert.ok(pollsOf() <= 42, `${pollsOf()} polls`)
    const { task: other } = await create(tenant)
    assert.equal((await sendCallback(callbackUrlOf(other), { id: other.id })).status, 200)
  })
})

test('without a public URL vendors get no callback URL', async () => {
  const stage = await startTaskStage()
  try {
    await stage.create(await stage.gateway.tenant())
    const [task] = stage.vendor.tasks.values()
    assert.ok(task && !('callback_url' in task.body))
  } finally {
    await stage.stop()
  }
})
