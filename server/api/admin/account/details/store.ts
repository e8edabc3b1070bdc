/** SQL of an account's settings. */
import type { Sql } from 'postgres'
import { columnsOf } from '../../../../base/database/columns.ts'
import { readNetworks } from '../../../../base/lib/networks.ts'
import type { SchemaRow } from '../../../endpoints/codecs.ts'
import { accountSettings } from './contract.ts'

export async function readAccountSettings(sql: Sql, accountId: string) {
  const [row] = await sql<SchemaRow<typeof accountSettings>[]>`
    select ${columnsOf(sql, accountSettings.shape, 'account')} from account where id = ${accountId}`
  return row
}

/** Absent members stay unchanged. */
export async function updateAccountSettings(
  sql: Sql,
  accountId: string,
  change: {
    readonly name?: string | undefined
    readonly low_balance_at?: bigint | null | undefined
    readonly alert_url?: string | null | undefined
    readonly allowed_ips?: readonly string[] | undefined
  },
): Promise<void> {
  const { name, low_balance_at: low, alert_url: url, allowed_ips: ips } = change
  await sql`
    update account set name = ${name ?? sql`name`},
      allowed_ips = ${ips ? readNetworks(ips) : sql`allowed_ips`},
      alert_url = ${url === undefined ? sql`alert_url` : url},
      low_balance_at = ${low === undefined ? sql`low_balance_at` : (low?.toString() ?? null)}
    where id = ${accountId}`
}
