/** SQL of the state of the gateways and of their database. */
import type { Sql } from 'postgres'
import type { SchemaRow } from '../../../endpoints/codecs.ts'
import type { operatorSystemContract } from './contract.ts'

type System = SchemaRow<(typeof operatorSystemContract)['GET /operator/system']['answer']>
type GatewayRow = Omit<System['gateways'][number], 'this'>
type DatabaseRow = Omit<System['database'], 'tables'>
type TableRow = System['database']['tables'][number]

/** Lists live gateways, and those that ended within a day. */
export function selectGateways(sql: Sql): Promise<GatewayRow[]> {
  return sql<GatewayRow[]>`
    select id, address, started_at, lease_until > now() as alive from owner
    where lease_until > now() - interval '1 day' order by started_at desc limit 100`
}

export async function selectDatabase(sql: Sql): Promise<DatabaseRow> {
  const [row] = await sql<DatabaseRow[]>`
    select current_setting('server_version') as version,
      pg_database_size(current_database())::float8 as bytes,
      (select count(*)::int from pg_stat_activity
        where datname = current_database()) as connections,
      array(select name from schema_migration order by name) as migrations`
  if (!row) throw new Error('the database does not describe itself')
  return row
}

/** Lists the largest tables; row counts are the database's own estimate. */
export function selectTables(sql: Sql): Promise<TableRow[]> {
  return sql<TableRow[]>`
    select relname as name, greatest(n_live_tup, 0)::float8 as rows,
      pg_total_relation_size(relid)::float8 as bytes
    from pg_stat_user_tables order by pg_total_relation_size(relid) desc limit 20`
}
