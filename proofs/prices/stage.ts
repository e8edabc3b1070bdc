/** A gateway with the proof's catalog in front of the proof's vendor, and its callers. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { createSecretBox } from '../../server/base/lib/secrets/secrets.ts'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { applyCatalog } from '../../server/money/catalog/apply/apply.ts'
import { parseCatalogFile } from '../../server/money/catalog/apply/file.ts'
import { UPSTREAMS } from '../../server/wire/upstreams/index.ts'
import {
  createTestAccount,
  type GatewayProcess,
  startGateway,
} from '../../tests/support/gateway.ts'
import { createTestDatabase } from '../../tests/support/postgres.ts'
import { catalogFor } from './catalog.ts'
import { startVendor, type Vendor } from './vendor/vendor.ts'

const SECRET_KEY = 'a-secret-key-of-proofs-which-is-long-enough'
const NAME = 'prove-prices.json'
export const BALANCE = '900000000'
/** The vendor stalls on purpose, and tasks end at once. */
const ENV = {
  SECRET_KEY,
  TASK_POLL_INTERVAL_MIN_MS: '50',
  TASK_POLL_INTERVAL_MAX_MS: '200',
  UPSTREAM_DRAIN_MS: '10000',
  LOG_LEVEL: 'silent',
}

export interface Purse {
  readonly accountId: string
  readonly key: string
  readonly opening: string
}

export interface ProofStage {
  readonly sql: Sql
  readonly url: string
  readonly vendor: Vendor
  readonly gateway: GatewayProcess
  createPurse(balance: string): Promise<Purse>
  stop(): Promise<void>
}

export interface StageOptions {
  /** Models of the sheet to sell; all by default. */
  readonly only?: readonly string[]
}

/** Uses the run's PostgreSQL for tests, or its own. */
export async function openStage({ only }: StageOptions = {}): Promise<ProofStage> {
  const database = await createTestDatabase()
  const vendor = await startVendor()
  const dataDir = mkdtempSync(join(tmpdir(), 'tributary-prices-'))
  const { sql } = database
  await applyPrices(sql, vendor.url, only)
  const gateway = await startGateway({ dataDir, databaseUrl: database.url, env: ENV })
  return {
    sql,
    url: gateway.url,
    vendor,
    gateway,
    async createPurse(opening) {
      const account = await createTestAccount(sql, opening, { currency: 'USD' })
      const { key } = await createKey(sql, { accountId: account.id })
      return { accountId: account.id, key, opening }
    },
    async stop() {
      await gateway.stop(5_000)
      await vendor.stop()
      await database.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

async function applyPrices(sql: Sql, vendorUrl: string, only?: readonly string[]): Promise<void> {
  const file = parseCatalogFile(NAME, JSON.stringify(catalogFor(vendorUrl, only)), {})
  await applyCatalog({
    sql,
    files: [file],
    upstreams: Object.fromEntries(UPSTREAMS),
    secrets: createSecretBox([SECRET_KEY]),
    environment: {},
  })
}
