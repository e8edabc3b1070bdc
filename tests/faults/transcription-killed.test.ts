/**
 * kill -9 during a transcription: nothing was delivered, so another gateway releases the hold, even
 * if the vendor billed its work; and the upload is public for minutes at most.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { type Simulators, startSimulators } from '../../simulators/index.ts'
import {
  applySimulators,
  createTestAccount,
  type GatewayProcess,
  startGateway,
} from '../support/gateway.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { expectSoundBooks } from '../support/servers/crash-stage.ts'
import { until } from '../support/until.ts'
import { makeWav } from '../support/wav.ts'

const HALF_AN_HOUR_SECONDS = 1800

let database: TestDatabase
let simulators: Simulators
let dataDir: string
before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'tributary-transcription-'))
  database = await createTestDatabase()
  simulators = await startSimulators({ port: 0 })
  await applySimulators(database.sql, simulators.url)
})
after(async () => {
  await simulators.stop()
  await database.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

function start(): Promise<GatewayProcess> {
  return startGateway({ dataDir, databaseUrl: database.url })
}

function transcribe({ url }: GatewayProcess, key: string, fields: Record<string, string>) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', new Blob([new Uint8Array(makeWav(2_000))]), 'a.wav')
  const headers = { authorization: `Bearer ${key}` }
  return fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })
}

const CASES = [
  ['sim-whisper', 'audio.transcriptions', '[[fault:delay-head=60000]]'],
  ['sim-recognition', 'recognition.submit', '[[fault:queue-time=10;run-time=60000]]'],
  ['sim-recognition-turbo', 'recognition.flash', '[[fault:delay-head=60000]]'],
] as const

interface Asked {
  readonly operation: string
  readonly accountId: string
  readonly keyId: string
  readonly answer: Promise<Response>
}

/** Starts one call per account; resolves when the vendors are working. */
function askAll(victim: GatewayProcess): Promise<Asked[]> {
  const { sql } = database
  return Promise.all(
    CASES.map(async ([model, operation, prompt]) => {
      const { id: accountId } = await createTestAccount(sql)
      const { key, id: keyId } = await createKey(sql, { accountId })
      const answer = transcribe(victim, key, { model, prompt })
      answer.catch(() => undefined)
      await until(`the work of ${model}`, () =>
        simulators.calls.list().find((call) => call.operation === operation),
      )
      return { operation, accountId, keyId, answer }
    }),
  )
}

/** Returns the call as the sweeper closed it. */
function readCall(keyId: string) {
  return until('the sweeper', async () => {
    const [one] = await database.sql<{ status: string; charged: bigint }[]>`
        select status, charged from call where key_id = ${keyId}`
    return one && one.status !== 'running' ? one : undefined
  })
}

test('killed while vendors work: holds are released, nothing is resent, books agree', async () => {
  const { sql } = database
  const victim = await start()
  const asked = await askAll(victim)
  await victim.kill9()
  const heir = await start()
  for (const { operation, accountId, keyId, answer } of asked) {
    await assert.rejects(answer, 'no answer')
    const { status, charged } = await readCall(keyId)
    assert.deepEqual([status, charged], ['lost', 0n])
    const [balance] = await sql<{ held: bigint }[]>`
      select held from balance where account_id = ${accountId}`
    assert.equal(balance?.held, 0n)
    const uploads = await sql<{ seconds: number }[]>`
      select extract(epoch from expires_at - now())::float8 as seconds from file
      where account_id = ${accountId}`
    assert.equal(uploads.length, operation === 'recognition.submit' ? 1 : 0)
    assert.ok(uploads.every(({ seconds }) => seconds <= HALF_AN_HOUR_SECONDS))
    const sent = simulators.calls.list().filter((call) => call.operation === operation)
    assert.equal(sent.length, 1)
  }
  await heir.stop(5_000)
  await expectSoundBooks(sql)
})
