/** SQL about secrets at rest, in whatever table. */
import type { Sql } from 'postgres'

/** The columns that are encrypted under SECRET_KEY, by table: those that `rekey` encrypts again. */
export const SEALED: Readonly<
  Record<string, { readonly what: string; readonly columns: string[] }>
> = {
  channel_version: { what: 'credentials of channels', columns: ['secrets'] },
  account: {
    what: 'webhook secrets',
    columns: ['webhook_secret', 'webhook_secret_previous'],
  },
  person: { what: 'authenticator apps', columns: ['totp_secret', 'totp_pending'] },
  identity_provider: { what: 'client secrets of sign-in providers', columns: ['client_secret'] },
  ledger_signing_key: { what: 'signing keys of checkpoints', columns: ['private_key'] },
}

/** Returns how many secrets there are, by the id of the key that sealed them. */
export async function countSealed(sql: Sql): Promise<ReadonlyMap<string, number>> {
  const columns = Object.entries(SEALED)
    .flatMap(([table, { columns }]) =>
      columns.map((column) => sql`select ${sql(column)} as sealed from ${sql(table)}`),
    )
    .reduce((all, one) => sql`${all} union all ${one}`)
  const rows = await sql<{ key_id: string; secrets: number }[]>`
    select encode(substring(s.sealed from 2 for 4), 'hex') as key_id, count(*)::int as secrets
    from (${columns}) s where s.sealed is not null group by 1`
  return new Map(rows.map((row) => [row.key_id, row.secrets]))
}
