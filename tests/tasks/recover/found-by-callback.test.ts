/**
 * Submissions whose answer was lost, at a vendor that only sends callbacks: the simulated one, with
 * its challenge. Adopted once, charged once, in all three books.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createSecretBox } from '../../../server/base/lib/secrets/secrets.ts'
import { createCallbackAddresses } from '../../../server/work/tasks/callbacks/callback-addresses.ts'
import { SECRET_KEY, startTestGateway, type TestGateway } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { QUICK, reachable, VIDEO_PATH } from '../stage.ts'

/** Five seconds of the vendor's usual picture. */
const CHARGE = '2.5'
const PRICES = [{ unit: 'second', per: 1, amount: '0.5' }]

interface Ended {
  readonly id: string
  readonly state: string
  readonly upstream_id: string | null
  readonly charged: bigint
  readonly reason: string | null
}

describe('a lost submission at a callback-only vendor', () => {
  let gateway: TestGateway
  before(async () => {
    // Callbacks of a busy machine come late: what is given up, a test has made old itself.
    const patient = { ...QUICK, TASK_UNKNOWN_MS: '600000' }
    const environment = { ...patient, ...(await reachable()), ALLOW_PRIVATE_TARGETS: 'true' }
    gateway = await startTestGateway(environment)
    const channel = (id: string, more: object) => ({
      id,
      upstream: 'minimax',
      settings: {
        base_url: `${gateway.simulators.url}/minimax`,
        api_key: 'sim-minimax-key',
        ...more,
      },
    })
    const model = (id: string) => ({
      id,
      type: 'video',
      prices: PRICES,
      routes: [{ channel: id, upstream_model: 'MiniMax-H3' }],
    })
    await gateway.apply({
      channels: [channel('with-callbacks', {}), channel('without-callbacks', { callbacks: false })],
      models: [model('with-callbacks'), model('without-callbacks')],
    })
  })
  after(() => gateway.stop())

  let count = 0

  async function create(model: string, fault: string) {
    count += 1
    const marker = `r-${count}`
    const tenant = await gateway.tenant()
    const text = `[[call:${marker}]][[fault:queue-time=20;run-time=300;${fault}]] a river`
    const body = { model, content: [{ type: 'text', text }], resolution: '768P' }
    const answer = await gateway.post(VIDEO_PATH, tenant.key, body)
    return { tenant, answer, marker }
  }

  async function endOf({ answer }: Awaited<ReturnType<typeof create>>): Promise<Ended> {
    const requestId = answer.headers.get('x-request-id') ?? ''
    const readTask = async () => {
      const [row] = await gateway.sql<Ended[]>`
        select t.id, t.state, a.upstream_id, c.charged, o.reason from task t
        join task_attempt a on a.id = t.attempt_id join call c on c.hold_id = t.hold_id
        left join uncharged_cost o on o.task_id = t.id
        where t.request_id = ${requestId} and t.finished_at is not null`
      return row
    }
    return until(`the end of the task of ${requestId}`, readTask)
  }

  /** Sends it an hour ago, once its outcome is unknown: it is given up at the next pass. */
  async function makeOld({ answer }: Awaited<ReturnType<typeof create>>): Promise<void> {
    const requestId = answer.headers.get('x-request-id') ?? ''
    await until(`the unknown outcome of ${requestId}`, async () => {
      const made = await gateway.sql`
        update task_attempt a set sent_at = a.sent_at - interval '1 hour' from task t
        where a.id = t.attempt_id and t.request_id = ${requestId} and a.state = 'unknown'`
      return made.count > 0
    })
    await gateway.sql`
      update task set due_at = now() where request_id = ${requestId} and finished_at is null`
  }

  const billed = (marker: string) =>
    gateway.simulators.book.entries({ marker }).filter((entry) => entry.billed)

  async function eventsOf(creation: Awaited<ReturnType<typeof create>>, id: string) {
    const { json } = await gateway.get(`/v1/tasks/${id}/timeline`, creation.tenant.key)
    return json.events as readonly Record<string, unknown>[]
  }

  /** The vendor's book, the ledger and the caller's record say the same. */
  async function compareBooks(creation: Awaited<ReturnType<typeof create>>, ended: Ended) {
    assert.deepEqual([ended.state, ended.reason], ['succeeded', null])
    assert.deepEqual(
      billed(creation.marker).map(({ request_id: id, units }) => [id, units]),
      [[ended.upstream_id, { second: 5 }]],
    )
    const record = await gateway.record(creation.answer, creation.tenant.key)
    assert.deepEqual([record.charged, record.status], [CHARGE, 'succeeded'])
    const balance = await gateway.balance(creation.tenant.accountId)
    assert.deepEqual([balance.held, balance.available], [0n, 97_500_000_000n])
  }

  test('adopted by its callback, once, and charged once', async () => {
    const creation = await create('with-callbacks', 'lost-answer')
    assert.equal(creation.answer.status, 200, creation.answer.text)
    const ended = await endOf(creation)
    await compareBooks(creation, ended)
    const events = await eventsOf(creation, ended.id)
    const one = (name: string) => events.filter(({ event }) => event === name)
    assert.equal(one('attempt_unknown')[0]?.looked_for_by, 'callback')
    assert.deepEqual(
      one('adopted').map(({ by }) => by),
      ['callback'],
    )
    assert.ok(one('upstream_reported').length >= 1)
  })

  test('several at once are kept apart; repeated callbacks count once', async () => {
    const creations = await Promise.all([
      create('with-callbacks', 'lost-answer'),
      create('with-callbacks', 'lost-answer;callbacks=twice'),
      create('with-callbacks', 'lost-answer'),
      create('with-callbacks', 'callbacks=twice'),
    ])
    for (const creation of creations) await compareBooks(creation, await endOf(creation))
  })

  test('one that fails at the vendor is adopted too, and costs nothing', async () => {
    const creation = await create('with-callbacks', 'lost-answer;fail-task')
    const ended = await endOf(creation)
    assert.deepEqual([ended.state, ended.charged, ended.reason], ['failed', 0n, null])
    assert.deepEqual(billed(creation.marker), [])
  })

  test('no callback: released at the stated age, and the cost is recorded', async () => {
    const creation = await create('with-callbacks', 'lost-answer;callbacks=none')
    await makeOld(creation)
    const ended = await endOf(creation)
    assert.deepEqual([ended.state, ended.charged], ['failed', 0n])
    assert.equal(ended.reason, 'unknown_submit')
    // A late callback changes nothing, and records the id on the vendor's bill.
    const [attempt] = await gateway.sql<{ id: string }[]>`
      select id from task_attempt where task_id = ${ended.id}`
    const addresses = createCallbackAddresses(createSecretBox([SECRET_KEY]), () => gateway.url)
    const body = JSON.stringify({ task: { id: '311', status: 'succeeded' } })
    const late = await fetch(addresses.urlOf(attempt?.id ?? '') ?? '', { method: 'POST', body })
    assert.equal(late.status, 200)
    assert.deepEqual(await endOf(creation), ended)
    const lateEvent = (await eventsOf(creation, ended.id)).at(-1)
    assert.deepEqual([lateEvent?.ignored, lateEvent?.upstream_id], ['too_late', '311'])
  })

  test('a channel without callbacks: the vendor gets no URL, and none is awaited', async () => {
    const creation = await create('without-callbacks', 'lost-answer')
    await makeOld(creation)
    const ended = await endOf(creation)
    assert.equal(ended.reason, 'unknown_submit')
    const [unknown] = (await eventsOf(creation, ended.id)).filter(
      ({ event }) => event === 'attempt_unknown',
    )
    assert.equal(unknown?.looked_for_by, 'none')
  })
})
