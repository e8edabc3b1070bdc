/** Fills a database with calls that are spread evenly over some days of the past. */
import type { Sql } from 'postgres'

const STEP = 100_000

export interface Spread {
  readonly calls: number
  readonly days: number
  /** The days that have passed since the last of them. */
  readonly endedDays: number
}

/** Posts what the ledger posts for each call: hold, charge and return. */
export async function fillCalls(
  sql: Sql,
  { account_id: accountId, id: keyId }: { readonly account_id: string; readonly id: string },
  { calls, days, endedDays }: Spread,
): Promise<void> {
  await sql`
    create function pg_temp.to_time(at timestamptz) returns text language plpgsql as $$
    declare ms bigint := extract(epoch from at) * 1000; digits text := '';
    begin
      for step in 1..9 loop
        digits := substr('0123456789abcdefghijklmnopqrstuvwxyz', (ms % 36)::int + 1, 1) || digits;
        ms := ms / 36;
      end loop;
      return digits;
    end $$`
  for (let from = 0; from < calls; from += STEP) {
    const to = Math.min(from + STEP, calls) - 1
    await sql`
      with made as (
        select pg_temp.to_time(at) || substr(md5(n::text), 1, 13) as id, n, at,
          9000 + n::bigint * 13 % 4093 as held, 1000 + n::bigint * 31 % 7919 as charged,
          200 + n::bigint * 7 % 2903 as tokens
        from (select n, now() - interval '1 day'
          * (${endedDays}::int + ${days}::int - n::float8 / ${calls}::int * ${days}::int) as at
          from generate_series(${from}::int, ${to}::int) n) s
      ), held as (
        insert into hold (id, request_id, account_id, key_id, owner_id, endpoint, model,
          price_version, amount, estimate, state, created_at, closed_at)
        select 'hold_' || id, 'req_' || id, ${accountId}, ${keyId}, 'own_benchmark',
          'chat.completions', 'model-' || n % 30, 1, held,
          '{"input_token":1500,"output_token":4096}', 'settled', at, at + interval '2 s' from made
      ), posted as (
        insert into entry (posting, step, account_id, currency, source, destination, amount, at)
        select 'hold_' || id, step, ${accountId}, 'CNY', source, destination, amount, at
        from made, lateral (values ('hold', 'available', 'held', held),
          ('charge', 'held', 'revenue', charged), ('return', 'held', 'available',
          held - charged)) as one (step, source, destination, amount)
        order by n
      )
      insert into call (request_id, hold_id, account_id, key_id, endpoint, model, status, basis,
        currency, held, charged, returned, price_version, lines, attempts, created_at, finished_at)
      select 'req_' || id, 'hold_' || id, ${accountId}, ${keyId}, 'chat.completions',
        'model-' || n % 30, 'succeeded', 'usage', 'CNY', held, charged, held - charged, 1,
        jsonb_build_array(
          jsonb_build_object('per', 1000000, 'unit', 'input_token', 'amount', '0.00000018',
            'quantity', tokens, 'unit_price', '0.15'),
          jsonb_build_object('per', 1000000, 'unit', 'output_token', 'amount', '0.00000152',
            'quantity', tokens % 811, 'unit_price', '0.6')),
        jsonb_build_array(jsonb_build_object('channel', 'main', 'outcome', 'answered', 'status',
          200, 'milliseconds', tokens, 'upstream_model', 'model')),
        at, at + interval '2 s' from made`
  }
  await sql`
    update balance set available = available - (select sum(charged)::bigint from call)
    where account_id = ${accountId}`
}
