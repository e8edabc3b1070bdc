/** The invariant of price lists: what was charged follows from a list that the customer had. */
import type { Invariant, Violation } from './audit-store.ts'
import { callsIn, holdsIn } from './scope-store.ts'

const LIST_LIMIT = 20
/**
 * The longest time between the identification of a call and its hold, while it is read and waits.
 */
const IDENTIFIED_BEFORE = '15 minutes'
/** A hold has room for one rounding of each line into which a quantity may be split. */
const ROUNDINGS_MAX = 10
/** A gateway judges by its estimate of the database's clock. */
const CLOCKS_APART = '5 seconds'

export const pricesAreOfTheList: Invariant = {
  id: 'I24',
  title:
    'a price of a list is of one that the account had, and the lines follow from it and the base',
  isOfCalls: true,
  find: (sql, scope) => sql<Violation[]>`
    with recursive chain as (
      select id, id as asked from price_list where account_id is null
      union all
      select c.id, l.parent from chain c join price_list l on l.id = c.asked
        where l.parent is not null
    ), listed as (
      -- Another model that stood in was charged at its own price, which the attempt names.
      select h.account_id, h.created_at, h.labels, c.request_id, c.review, c.lines,
        c.attempts->-1 ? 'price_version' as stands_in, v.version, v.list_id,
        v.prices, v.effective_from, v.model_id
      from hold h join (
        select * from call where ${callsIn(sql, scope, 'request_id')}) c on c.hold_id = h.id
      join price v on v.list_id is not null and v.version = case
        when c.attempts->-1 ? 'price_version'
        then (c.attempts->-1->>'price_version')::bigint else h.price_version end
      where ${holdsIn(sql, scope, 'h.id')}
    ), had as (
      select account_id, list_id, effective_from as from_at, lead(effective_from)
        over (partition by account_id order by version) as to_at
      from account_price_list
    ), wrong_list as (
      select l.request_id, format('%s on %s', l.version, l.list_id) as found,
        'a list that the account had' as expected
      from listed l join price_list p on p.id = l.list_id
      where p.account_id is distinct from l.account_id and not exists (
        select 1 from had a join chain c on c.id = a.list_id
        where a.account_id = l.account_id and c.asked = l.list_id
          and a.from_at <= l.created_at + ${CLOCKS_APART}::interval
          and (a.to_at is null or a.to_at >= l.created_at - ${IDENTIFIED_BEFORE}::interval))
    ), wrong_version as (
      select l.request_id, format('version %s from %s', l.version, l.effective_from) as found,
        format('one in force at %s', l.created_at) as expected
      from listed l
      where l.effective_from > l.created_at + ${CLOCKS_APART}::interval or exists (
        select 1 from price n
        where n.model_id = l.model_id and n.version > l.version
          and n.effective_from > l.effective_from
          and n.effective_from < l.created_at - ${IDENTIFIED_BEFORE}::interval
          and not exists (select 1 from price_withdrawal w where w.version = n.version))
    ), line as (
      select l.request_id, l.review, l.prices, b.prices as base, x.unit, x.quantity,
        x.unit_price, x.per, x.amount, x.list_amount,
        -- Units that one list alone prices are counted among others there.
        (select array_agg(e->>'unit' order by n)
          from jsonb_array_elements(l.prices) with ordinality as t(e, n))
        = (select array_agg(e->>'unit' order by n)
          from jsonb_array_elements(b.prices) with ordinality as t(e, n)) as is_alike
      from listed l
      -- The hold names the base prices of the requested model alone.
      left join price b on l.stands_in is not true
        and b.version = (l.labels->>'base_version')::bigint
      cross join lateral jsonb_to_recordset(l.lines) as x(unit text, quantity numeric,
        unit_price numeric, per numeric, amount numeric, list_amount numeric)
    ), wrong_line as (
      select request_id, format('%s %s at %s for %s: %s, at base prices %s', quantity, unit,
        unit_price, per, amount, list_amount) as found, 'the price of its version' as expected
      from line
      where amount * 1e9 - ceil(quantity * unit_price / per * 1e9)
          not between 0 and case when review then ${ROUNDINGS_MAX}::int else 0 end
        or (unit_price <> 0 and not exists (
          select 1 from jsonb_to_recordset(prices) as e(per numeric, amount numeric)
          where e.per = line.per and e.amount = line.unit_price))
        or (is_alike and list_amount <> 0 and not exists (
          select 1 from jsonb_to_recordset(base) as e(per numeric, amount numeric)
          where ceil(line.quantity * e.amount / e.per * 1e9) / 1e9 = line.list_amount))
    )
    select request_id as subject, found, expected from wrong_list
    union all select request_id, found, expected from wrong_version
    union all select request_id, found, expected from wrong_line
    limit ${LIST_LIMIT}`,
}
