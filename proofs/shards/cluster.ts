/**
 * Databases with the ledger's schema as it is, and a router before them: functions of PL/Proxy with
 * the signatures of the ledger's, which run in the database that the account's hash names.
 */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Sql } from 'postgres'
import { connect } from '../../server/base/database/connection/client.ts'
import { migrate } from '../../server/base/database/migrations/migrate.ts'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { signalServer, startOwnServer } from '../../tests/support/database/own-postgres.ts'
import { packagedBinaries } from '../../tests/support/database/packaged-postgres.ts'
import { until } from '../../tests/support/until.ts'

const MIGRATIONS = new URL('../../migrations', import.meta.url).pathname
/** Parameters by which functions are routed, in the order of preference. */
const ROUTED_BY = ['account', 'credited_account', 'account_ids']

export type Server = Awaited<ReturnType<typeof startOwnServer>>

export interface Shards {
  readonly servers: { readonly router: Server; readonly shards: readonly Server[] }
  /** Clients of the router and of each database. */
  readonly sql: { readonly router: Sql; readonly shards: readonly Sql[] }
  /** Names of the routed functions. */
  readonly functions: readonly string[]
  stop(): Promise<void>
}

/** Returns why the proof cannot run here; undefined if it can. */
export function whyNoShards(): string | undefined {
  const version = packagedBinaries && dirname(packagedBinaries).split('/').at(-1)
  const control = `/usr/share/postgresql/${version}/extension/plproxy.control`
  if (version && existsSync(control)) return undefined
  return `PL/Proxy is missing: apt-get install postgresql-${version ?? '15'}-plproxy`
}

export async function startShards(count: number): Promise<Shards> {
  const start = () => startOwnServer(undefined, { choice: 'debian' })
  const [router, ...shards] = await Promise.all(Array.from({ length: count + 1 }, start))
  if (!router) throw new Error('no server was started')
  const client = (server: Server) => connect(server.place, { patient: true, connections: 24 })
  const sql = { router: client(router), shards: shards.map(client) }
  for (const one of sql.shards) await migrate(one, MIGRATIONS)
  const functions = await route(sql.router, shards, sql.shards)
  return {
    servers: { router, shards },
    sql,
    functions,
    async stop() {
      for (const one of [sql.router, ...sql.shards]) await one.end({ timeout: 1 })
      for (const one of [router, ...shards]) await one.remove()
    },
  }
}

/** Creates the router's functions: one for each of the ledger's that names an account. */
async function route(sql: Sql, shards: readonly Server[], [shard]: readonly Sql[]) {
  if (!shard) throw new Error('there is no database')
  await sql`create extension plproxy`
  const places = shards.map(({ place }, index) => `p${index} '${addressOf(place)}'`)
  await sql.unsafe(`
    create server shards foreign data wrapper plproxy options (${places.join(', ')});
    create user mapping for public server shards;
    create function shard_of(account text) returns integer language sql immutable
      as $$ select hashtext(account) $$;
    create function shard_of(accounts text[]) returns integer language plpgsql immutable as $$
    begin
      if exists (select from unnest(accounts) a where a is distinct from accounts[1]) then
        raise exception 'a batch of several accounts has no database of its own';
      end if;
      return hashtext(accounts[1]);
    end $$`)
  const rows = await shard<{ name: string; args: string; result: string; names: string[] }[]>`
    select proname as name, pg_get_function_arguments(oid) as args,
      pg_get_function_result(oid) as result, proargnames as names
    from pg_proc where pronamespace = 'public'::regnamespace
      and proname ~ '^(ledger_(take|close)|ledger_credit$|rate_take$)'
    order by 1`
  for (const { name, args, result, names } of rows) {
    const account = ROUTED_BY.find((one) => names.includes(one))
    if (account === undefined) throw new Error(`${name} names no account`)
    await sql.unsafe(`
      create function ${name}(${args}) returns ${result} language plproxy
      as $$ cluster 'shards'; run on shard_of(${account}); $$`)
  }
  return rows.map(({ name }) => name)
}

function addressOf(place: Server['place']): string {
  if ('url' in place) throw new Error('the servers of this proof are its own')
  const { socketFolder, port, user, password, database } = place
  return `host=${socketFolder} port=${port} user=${user} password=${password} dbname=${database}`
}

/** Creates accounts with an opening balance, each in the database that its id names. */
export async function createAccounts(shards: readonly Sql[], each: number, nanos: bigint) {
  const accounts: { readonly id: string; readonly shard: number }[] = []
  for (const [shard, sql] of shards.entries()) {
    for (let made = 0; made < each; ) {
      const account = await createAccount(sql, { name: 'spread', actor: 'proof' })
      const [row] = await sql<{ at: number }[]>`
        select hashtext(${account.id}) & ${shards.length - 1}::int as at`
      // One whose id belongs elsewhere stays empty.
      if (row?.at !== shard) continue
      made += 1
      await sql`select ledger_credit(${`opening_${account.id}`}, ${account.id}, 'top_up',
        ${nanos.toString()}::bigint, 'opening', 'proof', null)`
      accounts.push({ id: account.id, shard })
    }
  }
  return accounts
}

/** Kills a server with all its processes, and brings it back. */
export async function killAndRevive(server: Server): Promise<void> {
  signalServer(server.pid() ?? 0, 'SIGKILL')
  await until('its end', () => server.pid() === undefined || undefined)
  await until('its return', () =>
    server
      .revive()
      .then(() => true)
      .catch(() => undefined),
  )
}
