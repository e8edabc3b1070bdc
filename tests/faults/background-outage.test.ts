/**
 * The database is unavailable during a background response: its end is settled afterwards, once, at
 * the stated usage, with one webhook.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type OwnDatabase, startOwnDatabase } from '../support/database/own-database.ts'
import type { GatewayProcess } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import {
  type BackgroundProcesses,
  startBackgroundProcesses,
} from '../tasks/background/background-processes.ts'
import { startReceiver } from '../webhooks/support.ts'

describe('background responses in a database outage', () => {
  let database: OwnDatabase
  let stage: BackgroundProcesses
  let gateway: GatewayProcess
  before(async () => {
    database = await startOwnDatabase()
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

  for (const name of ['stopped', 'frozen'] as const) {
    test(`${name} during a poll: settled once, one webhook`, async (t) => {
      const receiver = await startReceiver(t)
      const poll = stage.gate.stopNext('GET', /^\/openai\/v1\/responses\//)
      const input = `[[call:${name}]][[tokens:9]][[fault:queue-time=0;run-time=20]]`
      const created = await stage.create(gateway, input, { callback_url: receiver.url })
      assert.equal(created.status, 200, await created.clone().text())
      const { id }: { id: string } = JSON.parse(await created.text())
      await poll.arrived()
      await until('its end at the vendor', () => stage.worth(name).jobs || undefined)
      const bringBack = database.ways[name]()
      t.after(bringBack)
      poll.release()
      await until('a refusal', async () => {
        const answer = await stage.ask(gateway, id)
        await answer.arrayBuffer()
        return answer.status === 503 || undefined
      })
      await bringBack()
      const row = await stage.ended(id)
      assert.deepEqual([row.state, row.basis, row.charges], ['succeeded', 'usage', 1])
      assert.deepEqual(stage.worth(name), { nanos: row.charged, jobs: 1 })
      const [delivery] = await until('the delivery', () => readDelivered(row.id))
      assert.deepEqual({ ...delivery }, { state: 'delivered', attempts: 1, of: 1 })
      assert.equal(receiver.received.length, 1)
    })

    test(`${name} during a stream: delivered to its end, settled once`, async (t) => {
      const marker = `stream-${name}`
      const input = `[[call:${marker}]][[tokens:40]][[fault:queue-time=0;run-time=1500]]`
      const stream = await stage.client(gateway).responses.create({
        model: 'held',
        input,
        background: true,
        stream: true,
        max_output_tokens: 100,
      })
      let bringBack: (() => Promise<unknown>) | undefined
      t.after(() => bringBack?.())
      let id = ''
      let last = ''
      for await (const event of stream) {
        last = event.type
        if (event.type === 'response.created') id = event.response.id
        if (event.type === 'response.output_text.delta') bringBack ??= database.ways[name]()
      }
      assert.equal(last, 'response.completed')
      await bringBack?.()
      const row = await stage.ended(id)
      assert.deepEqual([row.state, row.basis, row.charges], ['succeeded', 'usage', 1])
      assert.deepEqual(stage.worth(marker), { nanos: row.charged, jobs: 1 })
    })
  }

  async function readDelivered(taskId: string) {
    const rows = await database.sql<{ state: string; attempts: number; of: number }[]>`
      select state, attempts, count(*) over ()::int as of from delivery where task_id = ${taskId}`
    return rows.every(({ state }) => state !== 'pending') ? rows : undefined
  }
})
