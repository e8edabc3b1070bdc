/** Gateways in processes of their own, which tests kill, on one database that outlives them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { createKey } from '../../../server/money/accounts/manage-keys.ts'
import { audit } from '../../../server/money/ledger/audit/audit.ts'
import { applyObject, createTestAccount, type GatewayProcess, startGateway } from '../gateway.ts'
import { createTestDatabase } from '../postgres.ts'

type Variables = Readonly<Record<string, string>>

export interface CrashStage {
  readonly sql: Sql
  /** The key of an account with a balance of 1000. */
  readonly key: string
  /** `more` takes precedence over the variables of all gateways of this stage. */
  start(more?: Variables): Promise<GatewayProcess>
  /** Sends JSON with the key; `headers` are added. */
  send(url: string, method: string, body?: object, headers?: object): Promise<Response>
  /** Checks the books and removes what was made here. */
  stop(): Promise<void>
}

export async function startCrashStage(
  catalog: object,
  variables: Variables = {},
): Promise<CrashStage> {
  const database = await createTestDatabase()
  const { sql, url: databaseUrl } = database
  const dataDir = mkdtempSync(join(tmpdir(), 'tributary-crash-'))
  await applyObject(sql, 'crash', catalog)
  const { id: accountId } = await createTestAccount(sql)
  const { key } = await createKey(sql, { accountId })
  return {
    sql,
    key,
    start: (more = {}) => startGateway({ dataDir, databaseUrl, env: { ...variables, ...more } }),
    send(url, method, body, headers = {}) {
      const own = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const text = body && JSON.stringify(body)
      return fetch(url, { method, headers: { ...own, ...headers }, body: text })
    },
    async stop() {
      try {
        await expectSoundBooks(sql)
      } finally {
        await database.drop()
        rmSync(dataDir, { recursive: true, force: true })
      }
    },
  }
}

/** Rejects with what an audit finds broken. */
export async function expectSoundBooks(sql: Sql): Promise<void> {
  const { checks } = await audit(sql)
  const broken = checks.filter(({ ok }) => !ok)
  assert.deepEqual(broken, [])
}
