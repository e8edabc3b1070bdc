/** The invariant of budgets: their counters agree with the holds and records. */
import type { Invariant, Violation } from './audit-store.ts'
import { callsIn, holdsIn } from './scope-store.ts'

export const budgetsAreCounted: Invariant = {
  id: 'I23',
  title:
    'each counter of a budget is the sum of its open holds and of its calls, archived ones too',
  find: (sql, scope) => sql<Violation[]>`
    with part as (
      select h.counters[n] as use_id, h.counters[n + 1] as asked, h.state, c.charged, c.lines
      from hold h left join (
        select * from call where ${callsIn(sql, scope, 'request_id')}) c on c.hold_id = h.id
      cross join lateral generate_series(1, cardinality(h.counters), 2) n
      where h.counters is not null and ${holdsIn(sql, scope, 'h.id')}
    ), summed as (
      select p.use_id, coalesce(sum(p.asked) filter (where p.state = 'open'), 0) as held,
        coalesce(sum(budget_used(b.unit, case when p.state = 'settled' then p.charged end,
          p.asked, p.lines)) filter (where p.state <> 'open'), 0) as spent
      from part p join budget_use u on u.id = p.use_id join budget b on b.id = u.budget_id
      group by 1
    ), history as (
      select use_id, sum(spent) as spent from (
        select use_id, spent from archived_budget
        union all
        select use_id, spent from verified_budget where week = any (${scope.weeks}::date[])) s
      group by 1)
    select format('%s from %s %s', u.budget_id, u.window_start, u.subject) as subject,
      format('held %s, spent %s', u.held, u.spent) as found,
      format('held %s, spent %s', coalesce(s.held, 0),
        coalesce(s.spent, 0) + coalesce(a.spent, 0)) as expected
    from budget_use u join budget b on b.id = u.budget_id
    left join summed s on s.use_id = u.id
    left join history a on a.use_id = u.id
    where u.held <> coalesce(s.held, 0) or u.spent <> coalesce(s.spent, 0) + coalesce(a.spent, 0)
    union all
    select b.account_id, format('%s budgets', b.budgets), format('%s budgets', count(n.id))
    from balance b left join budget n on n.account_id = b.account_id
    group by b.account_id, b.budgets having b.budgets <> count(n.id)
    limit 20`,
}
