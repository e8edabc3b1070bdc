/**
 * kill -9 while a recording is converted and submitted: another process converts it again or asks
 * the vendor for the submission, and the caller pays once.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { audit } from '../../../server/money/ledger/audit/audit.ts'
import { WITHOUT_FFMPEG } from '../../support/ffmpeg.ts'
import { type Stage, startGateway, startStage } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { QUICK } from '../stage.ts'
import { type FileServer, makeSound, serveFiles } from './support.ts'

const PATH = '/v1/audio/minutes'
/**
 * Lines of a worker, how often the recording is converted, and the seconds charged. A submission
 * that may have been sent is never repeated: where the vendor does not know it, nothing is charged.
 */
const LINES: Readonly<Record<string, readonly [conversions: number, seconds: readonly number[]]>> =
  {
    'conversion-begun': [1, [3]],
    'conversion-done': [1, [3]],
    'conversion-submitting': [2, [3]],
    'task-sending': [1, []],
    'task-sent': [1, [3]],
  }

describe('killed while a recording is converted', { skip: WITHOUT_FFMPEG }, () => {
  let stage: Stage
  let files: FileServer
  before(async () => {
    files = await serveFiles()
    const env = { ...QUICK, FFMPEG: 'ffmpeg', ROLE: 'api', ALLOW_PRIVATE_TARGETS: 'true' }
    stage = await startStage({ env, simulators: { timeScale: 0.02 } })
  })
  after(async () => {
    await stage.stop()
    files.stop()
  })

  for (const [line, [conversions, charged]] of Object.entries(LINES)) {
    test(line, async () => {
      const file_url = files.put(`/${line}.m4a`, makeSound('a.m4a', 2))
      const created = await stage.post(PATH, { model: 'service-minutes', file_url })
      assert.equal(created.status, 200)
      const { id, request_id: requestId } = (await created.json()) as Record<string, string>
      // The vendor fetches the sound from the gateway that is not killed.
      const env = { ...stage.place.env, ROLE: 'worker', PUBLIC_URL: stage.url }
      const dying = await startGateway({
        ...stage.place,
        env: { ...env, TRIBUTARY_FAIL: line },
      }).catch(() => undefined)
      await dying?.exited
      const worker = await startGateway({ ...stage.place, env })
      try {
        const done = await until('the minutes', async () => {
          const json = (await (await stage.get(`${PATH}/${id}`)).json()) as { status: string }
          return json.status === 'processing' ? undefined : json
        })
        const state = charged.length > 0 ? 'succeeded' : 'failed'
        assert.equal(done.status, state, JSON.stringify(done))
      } finally {
        await worker.stop(5_000)
      }
      const events = await stage.sql<{ kind: string }[]>`
        select kind from task_event where task_id = ${id ?? ''}`
      assert.equal(events.filter(({ kind }) => kind === 'converted').length, conversions)
      const record = (await (await stage.get(`/v1/usage/${requestId}`)).json()) as {
        lines: { unit: string; quantity: number }[]
      }
      const seconds = record.lines.filter(({ unit }) => unit === 'second')
      assert.deepEqual(
        seconds.map(({ quantity }) => quantity),
        charged,
      )
      assert.equal((await stage.sql`select 1 from file where published`).length, 0)
      assert.equal((await stage.sql`select 1 from task_conversion`).length, 0)
      assert.ok((await audit(stage.sql)).ok)
    })
  }
})
