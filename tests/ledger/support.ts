/** Shared by tests of the ledger: an account with money, hold rows, quiet logs. */
import type { Sql } from 'postgres'
import { holdIdOf, newRequestId } from '../../server/base/lib/ids.ts'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { createKey } from '../../server/money/accounts/manage-keys.ts'
import { type AuditOptions, audit } from '../../server/money/ledger/audit/audit.ts'
import type { HoldRow, SettleRow, StoredCheckpoint } from '../../server/money/ledger/store.ts'

export const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }

/** Options of sweepers in tests. */
export const LEASES = { renewMs: 5_000, leaseSeconds: 20, isolatedMs: 300_000 }

export interface TestCaller {
  readonly accountId: string
  readonly keyId: string
}

export async function createCaller(sql: Sql, openingBalanceNanos = 1_000n): Promise<TestCaller> {
  const account = await createAccount(sql, { name: 'test', openingBalanceNanos, actor: 'test' })
  const key = await createKey(sql, { accountId: account.id })
  return { accountId: account.id, keyId: key.id }
}

export function holdRow(caller: TestCaller, more: Partial<HoldRow> = {}): HoldRow {
  const requestId = newRequestId()
  return {
    id: holdIdOf(requestId),
    request_id: requestId,
    account_id: caller.accountId,
    key_id: caller.keyId,
    owner_id: null,
    task_id: null,
    endpoint: 'test',
    model: 'm',
    price_version: null,
    amount: '100',
    estimate: {},
    spend_limit: null,
    idempotency_key: null,
    route: null,
    fingerprint: null,
    ...more,
  }
}

export function settleRow(hold: HoldRow, charge: bigint | null, more: Partial<SettleRow> = {}) {
  return {
    hold_id: hold.id,
    account_id: hold.account_id,
    charge: charge?.toString() ?? null,
    status: charge === null ? 'failed' : 'succeeded',
    basis: 'usage',
    review: false,
    lines: [],
    attempts: [],
    upstream_cost: null,
    upstream_cost_version: null,
    error: null,
    task_id: null,
    answer: null,
    ...more,
  } satisfies SettleRow
}

/** Returns a checkpoint without lines, attempts and upstream cost. */
export function storedCheckpoint(charge: bigint, more: Partial<StoredCheckpoint> = {}) {
  return {
    charge: charge.toString(),
    lines: [],
    attempts: [],
    upstream_cost: null,
    upstream_cost_version: null,
    ...more,
  } satisfies StoredCheckpoint
}

/** Returns the ids and titles of broken invariants. */
export async function brokenInvariants(sql: Sql, options: AuditOptions = {}): Promise<string[]> {
  const { checks } = await audit(sql, options)
  return checks.filter(({ ok }) => !ok).map((check) => JSON.stringify(check))
}
