/** SQL of the audit log, which only grows. */
import type { Sql, TransactionSql } from 'postgres'
import { stringifyStorable } from '../../../base/lib/text/well-formed.ts'

export async function insertAudit(
  sql: Sql | TransactionSql,
  row: {
    readonly actor: string | null
    readonly tokenId: string | null
    readonly accountId: string | null
    readonly ip: string
    readonly action: string
    readonly target: string
    readonly details: Readonly<Record<string, unknown>>
  },
): Promise<void> {
  await sql`
    insert into audit_log (actor, token_id, account_id, ip, action, target, details)
    values (${row.actor}, ${row.tokenId}, ${row.accountId}, ${row.ip}, ${row.action.slice(0, 200)},
      ${row.target.slice(0, 500)}, ${stringifyStorable(row.details)}::text::jsonb)`
}
