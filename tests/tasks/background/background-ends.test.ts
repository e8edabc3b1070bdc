/**
 * A background response at its greatest age, and one that is deleted, cancelled and read at the
 * moment of its end: the vendor's last word decides what is charged, once.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { GatewayProcess } from '../../support/gateway.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'
import { type BackgroundProcesses, startBackgroundProcesses } from './background-processes.ts'

describe('the end of a background response', () => {
  let database: TestDatabase
  let stage: BackgroundProcesses
  let gateway: GatewayProcess
  before(async () => {
    database = await createTestDatabase()
    stage = await startBackgroundProcesses(database.sql, database.url)
    gateway = await stage.start()
  })
  after(async () => {
    try {
      await stage.close()
    } finally {
      await database.drop()
    }
  })

  async function create(marker: string, fault: string): Promise<string> {
    const input = `[[call:${marker}]][[tokens:12]][[fault:queue-time=0;${fault}]]`
    const answer = await stage.create(gateway, input)
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    return JSON.parse(text).id
  }

  const stopCancel = (id: string) => stage.gate.stopNext('POST', new RegExp(`/${id}/cancel$`))
  const stopRead = (id: string) => stage.gate.stopNext('GET', new RegExp(`/${id}$`))

  /** As if it had been created so long ago that it expired `seconds` ago. */
  const expire = (id: string, seconds = 0) => database.sql`
    update task set expires_at = now() - make_interval(secs => ${seconds})
    where attempt_id = (select id from task_attempt where upstream_id = ${id})`

  test('too old and not finished: cancelled at the vendor, closed, nothing charged', async () => {
    const id = await create('never', 'never-ends')
    await expire(id)
    const row = await stage.ended(id)
    assert.deepEqual([row.state, row.error_code, row.charges], ['failed', 'task_expired', 0])
    assert.equal(stage.worth('never').jobs, 1, 'its vendor has ended it')
    const read = await stage.ask(gateway, id)
    const { status, error } = JSON.parse(await read.text())
    assert.deepEqual([read.status, status], [200, 'failed'])
    assert.match(error.message, /did not finish in time/)
  })

  /** What the vendor answers to the cancel, and to the question after it; undefined: as it is. */
  const moments = [
    { name: 'it says so', cancel: undefined, read: undefined },
    { name: 'it refuses to cancel what has ended', cancel: 409, read: undefined },
    { name: 'it is out of order for a moment', cancel: 503, read: 503 },
  ] as const
  test('finished at the moment of its cancelling: charged what was stated', {
    concurrency: 3,
  }, async (t) => {
    const all = moments.map(({ name, cancel, read }, place) =>
      t.test(name, async () => {
        const marker = `moment-${place}`
        const id = await create(marker, 'never-ends;ends-at-cancel')
        const cancelling = stopCancel(id)
        await expire(id)
        await cancelling.arrived()
        const reading = read && stopRead(id)
        cancelling.release(cancel)
        reading?.release(read)
        const row = await stage.ended(id)
        assert.deepEqual([row.state, row.basis, row.charges], ['succeeded', 'usage', 1])
        assert.deepEqual(stage.worth(marker), { nanos: row.charged, jobs: 1 })
      }),
    )
    await Promise.all(all)
  })

  test('a vendor that says nothing for long: closed, nothing charged, its cost noted', async () => {
    const id = await create('silent', 'never-ends')
    const cancelling = stopCancel(id)
    await expire(id, 3600)
    await cancelling.arrived()
    const reading = stopRead(id)
    cancelling.release(503)
    reading.release(503)
    const row = await stage.ended(id)
    assert.deepEqual([row.error_code, row.charges], ['task_expired', 0])
    const [uncharged] = await database.sql`
      select reason from uncharged_cost where task_id = ${row.id}`
    assert.equal(uncharged?.reason, 'expired')
  })

  test('read again and again, then cancelled: what was delivered counts once', async () => {
    const { responses } = stage.client(gateway)
    const input = '[[call:again]][[tokens:60]][[fault:queue-time=0;never-ends]]'
    const stream = await responses.create({
      model: 'held',
      input,
      background: true,
      stream: true,
      max_output_tokens: 100,
    })
    let id = ''
    let pieces = 0
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id
      if (event.type === 'response.output_text.delta') pieces += 1
      if (pieces === 20) break
    }
    for (const starting_after of [0, 1, 3]) {
      pieces = 0
      const again = await responses.retrieve(id, { stream: true, starting_after })
      for await (const event of again) {
        if (event.type === 'response.output_text.delta') pieces += 1
        if (pieces === 20) break
      }
    }
    await stage.ask(gateway, `${id}/cancel`, 'POST')
    const row = await stage.ended(id)
    assert.deepEqual([row.basis, row.charges], ['partial', 1])
    let bytes = 0
    const replayed = await responses.retrieve(id, { stream: true })
    // All that was made, and no last event: it was cancelled.
    await assert.rejects(async () => {
      for await (const event of replayed) {
        if (event.type === 'response.output_text.delta') bytes += Buffer.byteLength(event.delta)
      }
    })
    const [task] = await database.sql<{ output_bytes: bigint }[]>`
      select output_bytes from task where id = ${row.id}`
    const noted = Number(task?.output_bytes)
    assert.ok(noted > 0 && noted <= bytes, `${noted} of ${bytes} bytes`)
  })

  test('deleted, cancelled and read at the moment of its end: one charge, the vendor’s', async () => {
    for (let round = 0; round < 6; round += 1) {
      const marker = `race-${round}`
      const id = await create(marker, `run-time=${30 * (round + 1)};shows-usage`)
      const answers = await Promise.all([
        stage.ask(gateway, id, 'DELETE'),
        stage.ask(gateway, `${id}/cancel`, 'POST'),
        stage.ask(gateway, id),
        stage.ask(gateway, id, 'DELETE'),
      ])
      for (const answer of answers) {
        const text = await answer.text()
        assert.ok([200, 404, 409].includes(answer.status), `${answer.status} ${text}`)
      }
      const row = await stage.ended(id)
      assert.deepEqual(stage.worth(marker), { nanos: row.charged, jobs: 1 })
    }
  })
})
