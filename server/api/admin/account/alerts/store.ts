/** SQL of the lists of alerts, newest first, with what became of their webhooks and mail. */
import type { Sql } from 'postgres'
import { columnsOf } from '../../../../base/database/columns.ts'
import { during, equal } from '../../../../base/database/conditions.ts'
import { membersOf } from '../../../../work/alerts/alert-store.ts'
import type { SchemaRow } from '../../../endpoints/codecs.ts'
import type { ReadQuery } from '../../route.ts'
import { alertRow, type alertsContract } from './contract.ts'

type Query = ReadQuery<(typeof alertsContract)['GET /operator/alerts']>

/** With `accountId`, those of that account alone. */
export function selectAlerts(
  sql: Sql,
  { limit, cursor, event, account, ...times }: Query,
  accountId: string | undefined,
): Promise<SchemaRow<typeof alertRow>[]> {
  const columns = columnsOf(sql, alertRow.shape, 'e', {
    event: sql`replace(e.kind, '_', '.')`,
    account_name: sql`a.name`,
    currency: sql`a.currency`,
    at: sql`e.created_at`,
    members: membersOf(sql),
    // Enqueued in the transaction that dispatched the alert, whose time both have.
    webhook: sql`(
      select json_build_object('delivery_id', d.id, 'status', d.state) from delivery d
      where d.account_id = e.account_id and d.created_at = e.dispatched_at and d.kind = 'alert'
        and convert_from(d.body, 'UTF8')::jsonb ->> 'alert_id' = e.id::text limit 1)`,
    mails: sql`(
      select coalesce(json_agg(json_build_object('email', m.address, 'status', m.state,
        'attempts', m.attempts, 'error', m.error) order by m.address), '[]')
      from person p join mail m on m.once = e.id || ':' || p.id
      where case when e.account_id is null then p.is_operator
        else p.id in (select person_id from membership where account_id = e.account_id) end)`,
  })
  return sql<SchemaRow<typeof alertRow>[]>`
    with page as (
      select * from alert_event where true
        ${accountId === undefined ? sql`` : sql`and account_id = ${accountId}`}
        ${equal(sql, { account_id: account, kind: event?.replace('.', '_') })}
        ${during(sql, 'created_at', times)}
        ${cursor ? sql`and id < ${cursor}::bigint` : sql``}
      order by id desc limit ${limit + 1})
    select ${columns} from page e left join account a on a.id = e.account_id order by e.id desc`
}
