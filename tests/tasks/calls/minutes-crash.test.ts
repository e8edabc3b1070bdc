/**
 * kill -9 while a recording is summarised: another process goes on with the text that is there,
 * asks the model again, and the caller pays for one summary.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { audit } from '../../../server/money/ledger/audit/audit.ts'
import { type Stage, startGateway, startStage } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { endLeases, QUICK } from '../stage.ts'

const PATH = '/v1/audio/minutes'
const FAULT = '[[fault:media-seconds=20;queue-time=20;run-time=20]]'
/** Lines of a worker at the model's question, and how the lost call is noted. */
const LINES = ['task-model-sending', 'task-model-answered']

describe('killed while a recording is summarised', () => {
  let stage: Stage
  before(async () => {
    stage = await startStage({
      env: { ...QUICK, ROLE: 'api', ALLOW_PRIVATE_TARGETS: 'true' },
    })
  })
  after(() => stage.stop())

  for (const line of LINES) {
    test(line, async () => {
      const file_url = `https://media.example/a.mp3?${FAULT}`
      const created = await stage.post(PATH, { model: 'service-minutes', file_url })
      assert.equal(created.status, 200)
      const { id, request_id: requestId } = (await created.json()) as Record<string, string>
      const dying = await startGateway({
        ...stage.place,
        env: { ...QUICK, ROLE: 'worker', TRIBUTARY_FAIL: line },
      }).catch(() => undefined)
      await dying?.exited
      await endLeases(stage.sql)
      const worker = await startGateway({
        ...stage.place,
        env: { ...QUICK, ROLE: 'worker' },
      })
      try {
        const done = await until('the minutes', async () => {
          const json = (await (await stage.get(`${PATH}/${id}`)).json()) as { status: string }
          return json.status === 'processing' ? undefined : json
        })
        assert.equal(done.status, 'succeeded')
      } finally {
        await worker.stop(5_000)
      }
      const calls = await stage.sql<{ state: string }[]>`
        select state from task_call where task_id = ${id ?? ''} order by number`
      assert.deepEqual(
        calls.map(({ state }) => state),
        ['unknown', 'answered'],
      )
      const record = (await (await stage.get(`/v1/usage/${requestId}`)).json()) as {
        lines: { unit: string; quantity: number }[]
      }
      assert.deepEqual(record.lines.map(({ unit }) => unit).sort(), [
        'input_token',
        'output_token',
        'second',
      ])
      assert.ok((await audit(stage.sql)).ok)
    })
  }
})
