/** The audit log: who did what to whom, and from where. It is only ever added to. */
import type { Sql, TransactionSql } from 'postgres'
import { insertAudit } from './audit-store.ts'

export interface AuditEntry {
  /** A person's id, or `cli:name`; undefined when nobody has proved who they are. */
  readonly actor: string | undefined
  /** The access token that stood in for them. */
  readonly tokenId?: string | undefined
  readonly accountId?: string | undefined
  readonly ip?: string
  /** What was done, for example `sign-in` or the key of a route. */
  readonly action: string
  /** The id of whom or what it was done to. */
  readonly target?: string
  /** Facts, never secrets. */
  readonly details?: Readonly<Record<string, unknown>>
}

/** Adds a row; within a transaction, both or neither. */
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
