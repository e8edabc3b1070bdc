/**
 * The database of a running gateway is restored to an earlier backup: the gateway logs it, is not
 * ready and accepts no paid work. After a restart, nothing is charged twice.
 */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { type Simulators, startSimulators } from '../../simulators/index.ts'
import { type OwnDatabase, startOwnDatabase } from '../support/database/own-database.ts'
import { makeDataDir } from '../support/database/own-postgres.ts'
import {
  applySimulators,
  createTestAccount,
  type GatewayPlace,
  type GatewayProcess,
  startGateway,
} from '../support/gateway.ts'
import { expectSoundBooks } from '../support/servers/crash-stage.ts'
import { until } from '../support/until.ts'

describe('a database restored under a gateway', () => {
  let database: OwnDatabase
  let simulators: Simulators
  let gateway: GatewayProcess
  let place: GatewayPlace
  let key: string
  const dataDir = makeDataDir()
  before(async () => {
    database = await startOwnDatabase()
    simulators = await startSimulators({ port: 0 })
    await applySimulators(database.sql, simulators.url)
    const account = await createTestAccount(database.sql, '1000')
    key = (await createKey(database.sql, { accountId: account.id })).key
    place = { dataDir, databaseUrl: database.url, env: { DRAIN_SECONDS: '1' } }
    gateway = await startGateway(place)
  })
  after(async () => {
    await gateway.stop(5_000)
    await simulators.stop()
    await database.drop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const ask = (script: string, stream: boolean) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sim-chat',
        stream,
        max_tokens: 2_000,
        messages: [{ role: 'user', content: script }],
      }),
    })

  const idOf = (answer: Response) => answer.headers.get('x-request-id') ?? ''

  async function whole(): Promise<string> {
    const answer = await ask('[[tokens:9]]', false)
    assert.equal(answer.status, 200, await answer.clone().text())
    await answer.arrayBuffer()
    return idOf(answer)
  }

  async function readCalls() {
    const rows = await database.sql<
      { request_id: string; status: string | null; state: string; charges: number }[]
    >`
      select h.request_id, h.state, c.status, (
        select count(*)::int from entry e where e.posting = h.id
          and e.step in ('charge', 'overrun', 'debt', 'correction')) as charges
      from hold h left join call c on c.hold_id = h.id`
    return new Map(rows.map(({ request_id: id, ...row }) => [id, row]))
  }

  test('it is detected and logged; no paid work; after a restart all is charged once', async () => {
    const early = await whole()
    // Ten minutes, which are never waited for: it runs until its gateway stops.
    const slow = '[[tokens:600]] [[chunks:600]] [[chunk-delay:1000]]'
    const lasting = await ask(slow, true)
    const checkpointed = await ask('[[tokens:60]] [[chunks:60]] [[chunk-delay:100]]', true)
    // Its checkpoint is in the backup, its end is not.
    await until('a checkpoint', async () => {
      const [row] = await database.sql`
        select 1 from hold where request_id = ${idOf(checkpointed)} and checkpoint is not null`
      return row
    })
    const restore = await database.backUp()
    await checkpointed.text()
    const gone = await until('a call after the backup', () => whole().catch(() => undefined))
    assert.equal((await readCalls()).get(idOf(checkpointed))?.status, 'succeeded')

    await restore()
    const ready = await until('that it is not ready', async () => {
      const answer = await fetch(`${gateway.url}/readyz`)
      const text = await answer.text()
      return /earlier state/.test(text) ? { status: answer.status, text } : undefined
    })
    assert.equal(ready.status, 503)
    assert.match(ready.text, /check it, then restart the gateway/)
    const why = /returned to an earlier state.*No paid work is accepted/
    await until('why', () => why.test(gateway.log()))
    for (const stream of [false, true]) {
      const refused = await ask('more', stream)
      assert.deepEqual([refused.status, refused.headers.has('retry-after')], [503, true])
      await refused.text()
    }
    const before = await readCalls()
    assert.equal(before.get(gone), undefined, 'it was charged in a past that is no more')
    assert.deepEqual(before.get(idOf(checkpointed)), { status: null, state: 'open', charges: 0 })

    const ended = await gateway.stop(120_000)
    assert.deepEqual(ended, { code: 0, signal: null }, gateway.log())
    await lasting.text().catch(() => '')
    gateway = await startGateway(place)
    await until(
      'the end of every hold',
      async () =>
        [...(await readCalls()).values()].every(({ state }) => state !== 'open') || undefined,
    )
    // On a busy machine its settlement comes from the journal, after the sweeper.
    await until('the end of the stream', async () => {
      return (await readCalls()).get(idOf(lasting))?.status === 'failed'
    })
    const calls = await readCalls()
    assert.deepEqual(calls.get(early), { status: 'succeeded', state: 'settled', charges: 1 })
    // The process that had it never settles it again: it is closed at its checkpoint.
    assert.deepEqual(calls.get(idOf(checkpointed)), {
      status: 'lost',
      state: 'settled',
      charges: 1,
    })
    assert.deepEqual(calls.get(idOf(lasting)), { status: 'failed', state: 'settled', charges: 1 })
    const late = await whole()
    assert.equal((await readCalls()).get(late)?.charges, 1)
    await expectSoundBooks(database.sql)
  })
})
