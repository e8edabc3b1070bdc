/** The append-only audit log: actor, act, subject and network address. */
import type { Sql, TransactionSql } from 'postgres'
import { insertAudit } from './audit-store.ts'

export interface AuditEntry {
  /** A person's id, or `cli:name`; undefined for callers that have not authenticated. */
  readonly actor: string | undefined
  /** The access token that the actor used. */
  readonly tokenId?: string | undefined
  readonly accountId?: string | undefined
  readonly ip?: string
  /** The act, for example `sign-in` or the key of a route. */
  readonly action: string
  /** The id of the person or thing acted upon. */
  readonly target?: string
  /** Facts, never secrets. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** Adds a row; within a transaction, both are committed or neither. */
export async function writeAudit(sql: Sql | TransactionSql, entry: AuditEntry): Promise<void> {
  const { actor, tokenId, accountId, ip = '', action, target = '', details = {} } = entry
  await insertAudit(sql, {
    actor: actor ?? null,
    tokenId: tokenId ?? null,
    accountId: accountId ?? null,
    ip,
    action,
    target,
    details,
  })
}
