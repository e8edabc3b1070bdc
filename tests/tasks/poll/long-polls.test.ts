/** Long polls keep their lease, and a stop of the gateway does not wait for a model. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startTestGateway } from '../../support/in-process.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { type LocalServer, startServer } from '../../support/servers/local-server.ts'
import { until } from '../../support/until.ts'
import { QUICK, startTaskStage, type TaskStage } from '../stage.ts'

/** A busy process renews its lease in time. */
const LEASE_MS = 8_000

describe('a poll that lasts longer than the lease', () => {
  let stage: TaskStage
  before(async () => {
    stage = await startTaskStage({ ...QUICK, TASK_LEASE_MS: String(LEASE_MS) })
  })
  after(() => stage.stop())

  test('stays with its worker, and is not repeated', async () => {
    const tenant = await stage.gateway.tenant()
    stage.vendor.begin = 'succeeded'
    stage.vendor.holdsPolls = true
    const created = await stage.create(tenant)
    await until('the time of a lease, and a part of the next', async () => {
      const [row] = await stage.gateway.sql<{ over: boolean }[]>`
        select now() > created_at + ${1.25 * LEASE_MS} * interval '1 ms' as over
        from task where id = ${created.json.id}`
      return row?.over
    })
    stage.vendor.holdsPolls = false
    await stage.until(tenant, created.json.id, 'succeeded')
    const [row] = await stage.gateway.sql`select fence from task where id = ${created.json.id}`
    assert.equal(row?.fence, 1n)
    const polls = stage.vendor.requests.filter((line) => line.startsWith('GET'))
    assert.equal(polls.length, 1)
  })
})

test('a stop hands a long poll over to the next worker', { timeout: 240_000 }, async () => {
  const database = await createTestDatabase()
  const kept = { ...database, drop: async () => undefined }
  const { gateway, vendor, create } = await startTaskStage(
    { TASK_LEASE_MS: '600000' },
    { database: kept },
  )
  try {
    vendor.holdsPolls = true
    const created = await create(await gateway.tenant())
    assert.equal(created.status, 200)
    await until('the poll', async () => vendor.requests.find((line) => line.startsWith('GET')))
    const findReleased = async () => {
      const [row] = await database.sql<{ failures: number }[]>`
        select failures from task
        where id = ${created.json.id} and due_at <= now() and not is_claimed`
      return row
    }
    const stopped = gateway.stop()
    await until('the hand-over', findReleased)
    // The poll then fails in the process that has handed its task over, and changes nothing.
    vendor.cutConnections()
    await stopped
    assert.deepEqual(await findReleased(), { failures: 0 })
  } finally {
    await vendor.stop()
    await database.drop()
  }
})

describe('a stop during a follow-up call to a model', () => {
  let model: LocalServer
  let requests = 0
  before(async () => {
    // A model that thinks for longer than anybody waits.
    model = await startServer(() => {
      requests += 1
    })
  })
  after(async () => {
    await model.stop()
  })

  test('does not wait for its answer', { timeout: 240_000 }, async () => {
    const gateway = await startTestGateway({ ...QUICK, ALLOW_PRIVATE_TARGETS: 'true' })
    const settings = { base_url: `${model.url}/v1`, api_key: 'key' }
    await gateway.apply({
      channels: [
        { id: 'thinker', upstream: 'openai-compatible', settings },
        {
          id: 'recognition',
          upstream: 'doubao-recognition',
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the catalog's own variable
          settings: { base_url: '${SIMULATORS_URL}/openspeech', api_key: 'sim-speech-key' },
        },
      ],
      models: [
        {
          id: 'thinking',
          type: 'chat',
          free: true,
          routes: [{ channel: 'thinker', upstream_model: 'm' }],
        },
        {
          id: 'thoughtful-minutes',
          type: 'minutes',
          free: true,
          details: { summary_model: 'thinking' },
          routes: [{ channel: 'recognition', upstream_model: 'volc.seedasr.auc' }],
        },
      ],
    })
    const tenant = await gateway.tenant()
    const file_url = 'https://media.example/a.mp3?[[fault:media-seconds=9;queue-time=9;run-time=9]]'
    const body = { model: 'thoughtful-minutes', file_url }
    const created = await gateway.post('/v1/audio/minutes', tenant.key, body)
    assert.equal(created.status, 200, created.text)
    await until('the question', async () => requests || undefined)
    await gateway.stop()
    assert.equal(requests, 1)
  })
})
