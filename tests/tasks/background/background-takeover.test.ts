/**
 * kill -9 in the middle of a background response's stream: its vendor goes on, another gateway has
 * the rest of the events, and the response is settled once, whoever reads its end.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { GatewayProcess } from '../../support/gateway.ts'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts'
import { type BackgroundProcesses, startBackgroundProcesses } from './background-processes.ts'

describe('a gateway killed in a stream', () => {
  /** An answer that takes so long; what has to happen before its end needs room. */
  const lasting = (ms: number) => `[[tokens:60]][[fault:queue-time=0;run-time=${ms}]]`
  let database: TestDatabase
  let stage: BackgroundProcesses
  let survivor: GatewayProcess
  before(async () => {
    database = await createTestDatabase()
    stage = await startBackgroundProcesses(database.sql, database.url)
    survivor = await stage.start()
  })
  after(async () => {
    try {
      await stage.close()
    } finally {
      await database.drop()
    }
  })

  /** Streams from a gateway of its own and kills it after some pieces of the answer. */
  async function streamAndKill(
    marker: string,
    ms: number,
  ): Promise<{ id: string; seen: number[] }> {
    const doomed = await stage.start()
    const seen: number[] = []
    let id = ''
    let pieces = 0
    const stream = await stage.client(doomed).responses.create({
      model: 'held',
      input: `[[call:${marker}]]${lasting(ms)}`,
      max_output_tokens: 100,
      background: true,
      stream: true,
    })
    await assert.rejects(async () => {
      for await (const event of stream) {
        seen.push(event.sequence_number)
        if (event.type === 'response.created') id = event.response.id
        if (event.type === 'response.output_text.delta') pieces += 1
        if (pieces === 10 && !doomed.hasExited()) await stage.kill(doomed)
      }
    })
    return { id, seen }
  }

  const follow = (id: string, after: number) =>
    stage.client(survivor).responses.retrieve(id, { stream: true, starting_after: after })

  test('the other one sends the rest of the events; charged what was stated, once', async () => {
    const { id, seen } = await streamAndKill('rest', 8_000)
    const during = await stage.ask(survivor, id)
    assert.equal(during.status, 200)
    assert.equal(JSON.parse(await during.text()).status, 'in_progress')
    let last = ''
    for await (const event of await follow(id, seen.at(-1) ?? 0)) {
      seen.push(event.sequence_number)
      last = event.type
    }
    assert.equal(last, 'response.completed')
    assert.deepEqual(
      seen,
      Array.from(seen, (_, index) => index),
    )
    const row = await stage.ended(id)
    assert.deepEqual([row.state, row.basis, row.charges], ['succeeded', 'usage', 1])
    assert.deepEqual(stage.worth('rest'), { nanos: row.charged, jobs: 1 })
  })

  test('without a reader a worker of the other gateway settles', async () => {
    const { id } = await streamAndKill('left', 4_000)
    const row = await stage.ended(id)
    assert.deepEqual([row.state, row.basis, row.charges], ['succeeded', 'usage', 1])
    assert.deepEqual(stage.worth('left'), { nanos: row.charged, jobs: 1 })
  })

  test('cancelled at the other one: owed as far as it was delivered, never beyond the hold', async () => {
    const { id, seen } = await streamAndKill('cancelled', 20_000)
    let pieces = 0
    for await (const event of await follow(id, seen.at(-1) ?? 0)) {
      if (event.type === 'response.output_text.delta') pieces += 1
      if (pieces === 5) break
    }
    const cancelled = await stage.ask(survivor, `${id}/cancel`, 'POST')
    assert.equal(JSON.parse(await cancelled.text()).status, 'cancelled')
    const row = await stage.ended(id)
    assert.deepEqual([row.error_code, row.basis, row.charges], ['cancelled', 'partial', 1])
    assert.ok(row.charged <= row.held)
  })
})
