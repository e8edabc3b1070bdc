/**
 * kill -9 during an interpretation: another gateway closes its hold at the last checkpoint, or
 * releases it if nothing was delivered.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { type AstVendor, startAstVendor } from '../support/ast-vendor.ts'
import { createTestAccount } from '../support/gateway.ts'
import { astCatalog, encodeForm, type FormEntry, MODEL, ROUTE } from '../support/interpretation.ts'
import { type CrashStage, startCrashStage } from '../support/servers/crash-stage.ts'
import { until } from '../support/until.ts'
import { makeWav } from '../support/wav.ts'

/** 12 s of audio in 3 s: a checkpoint is written each second. */
const PACE_MS = 20
const FORM: readonly FormEntry[] = [
  ['model', MODEL],
  ['file', makeWav(12_000)],
]

let stage: CrashStage
let vendor: AstVendor
before(async () => {
  vendor = await startAstVendor()
  stage = await startCrashStage(astCatalog(vendor.url, PACE_MS))
})
after(async () => {
  await vendor.stop()
  await stage.stop()
})

interface Row {
  readonly status: string
  readonly basis: string
  readonly charged: bigint
}

/** Kills a gateway during one call when `isTime`; resolves to the closed call. */
async function kill(mode: string, isTime: (received: number) => boolean): Promise<Row> {
  const { sql } = stage
  const account = await createTestAccount(sql)
  const { key, id: keyId } = await createKey(sql, { accountId: account.id })
  const victim = await stage.start()
  let received = 0
  const asked = fetch(victim.url + ROUTE, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: encodeForm([['mode', mode], ...FORM]),
  }).then(async ({ body }) => {
    for await (const chunk of body ?? []) received += chunk.length
  })
  asked.catch(() => undefined)
  await until('the moment', () => (isTime(received) ? true : undefined))
  await victim.kill9()
  await assert.rejects(asked, 'no clean end')
  const heir = await stage.start()
  const row = await until('the sweeper', async () => {
    const [one] = await sql<Row[]>`
        select status, basis, charged from call where key_id = ${keyId}`
    return one && one.status !== 'running' ? one : undefined
  })
  await heir.stop(5_000)
  const [balance] = await sql<{ held: bigint }[]>`
    select held from balance where account_id = ${account.id}`
  assert.equal(balance?.held, 0n)
  return row
}

test('s2s: the last checkpoint is charged, never more than the vendor billed', async () => {
  const checkpointed = () => (vendor.sessions.at(-1)?.sentences ?? 0) >= 4
  const row = await kill('s2s', (received) => received > 0 && checkpointed())
  const { input, output } = vendor.last()
  assert.deepEqual([row.status, row.basis], ['lost', 'checkpoint'])
  assert.ok(row.charged > 0n)
  assert.ok(row.charged <= BigInt(Math.ceil(input)) + 1_000n * BigInt(Math.ceil(output)))
})

test('s2t: nothing was delivered, and the hold is released', async () => {
  const sessions = vendor.sessions.length
  const isHeard = () => vendor.sessions.length > sessions && vendor.last().sentences >= 2
  const row = await kill('s2t', isHeard)
  assert.deepEqual([row.status, row.charged], ['lost', 0n])
})
