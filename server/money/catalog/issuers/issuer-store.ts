/** SQL of token issuers. All writes run under the catalog's lock. */
import type { Sql, TransactionSql } from 'postgres'
import type { TokenIssuer } from '../../../base/lib/token-issuer.ts'

export interface IssuerRow {
  readonly id: string
  readonly status: 'active' | 'retired'
  readonly source: string
  readonly definition: TokenIssuer
  readonly updated_at: Date
}

export function selectIssuers(sql: Sql | TransactionSql): Promise<IssuerRow[]> {
  return sql<IssuerRow[]>`
    select id, status, source, definition, updated_at from token_issuer order by id collate "C"`
}

export async function saveIssuer(
  sql: TransactionSql,
  issuer: Pick<IssuerRow, 'id' | 'source' | 'definition'>,
): Promise<void> {
  await sql`
    insert into token_issuer (id, source, definition)
    values (${issuer.id}, ${issuer.source}, ${JSON.stringify(issuer.definition)}::text::jsonb)
    on conflict (id) do update set source = excluded.source, status = 'active',
      definition = excluded.definition, updated_at = now()`
}

export async function retireIssuers(sql: TransactionSql, ids: readonly string[]): Promise<void> {
  await sql`
    update token_issuer set status = 'retired', updated_at = now() where id in ${sql(ids)}`
}
