/** Invariants of tasks: each ends once, consistent with its hold and its record. */
import type { Invariant, Violation } from './audit-store.ts'
import { callsIn, holdsIn } from './scope-store.ts'

const LIST_LIMIT = 20

const tasksEndOnce: Invariant = {
  id: 'I7',
  title: 'each task ends exactly once, together with its hold, and none is forgotten',
  isOfCalls: true,
  find: (sql, scope) => sql<Violation[]>`
    select t.id as subject, format('%s, hold %s', t.state, coalesce(h.state, 'missing')) as found,
      case when t.finished_at is null then 'an open hold' else 'a closed hold' end as expected
    from task t left join (select * from hold where ${holdsIn(sql, scope, 'id')}) h
      on h.id = t.hold_id and h.task_id = t.id
    where ${holdsIn(sql, scope, 't.hold_id')}
      and ((h.id is null and (t.finished_at is null or not is_archived(t.hold_id)))
        or (t.finished_at is null) <> (h.state = 'open'))
    union all
    select h.id, 'the hold of a task that is not there', h.task_id from hold h
    where h.task_id is not null and ${holdsIn(sql, scope, 'h.id')}
      and not exists (select 1 from task t where t.id = h.task_id)
    union all
    select t.id, format('open since %s', t.created_at), format('an end by %s', t.expires_at)
    from task t where ${holdsIn(sql, scope, 't.hold_id')}
      and t.finished_at is null and t.expires_at < now() - interval '1 hour'
    union all
    select t.id, format('%s endings in its timeline', count(e.id)), 'one'
    from task t join task_event e on e.task_id = t.id and e.kind in ('succeeded', 'failed')
    where ${holdsIn(sql, scope, 't.hold_id')}
    group by t.id having count(e.id) > 1
    limit ${LIST_LIMIT}`,
}

const failuresCostNothing: Invariant = {
  id: 'I8',
  title: 'a failed task costs nothing, except a response whose tokens were used',
  isOfCalls: true,
  find: (sql, scope) => sql<Violation[]>`
    select t.id as subject, format('charged %s', c.charged) as found, 'charged 0' as expected
    from task t join (
      select * from call where ${callsIn(sql, scope, 'request_id')}) c on c.hold_id = t.hold_id
    where ${holdsIn(sql, scope, 't.hold_id')}
      and t.state = 'failed' and c.charged <> 0 and t.kind <> 'response'
    limit ${LIST_LIMIT}`,
}

const successesAreCharged: Invariant = {
  id: 'I9',
  title: 'a succeeded task has exactly one charge, at the price version of its hold',
  isOfCalls: true,
  find: (sql, scope) => sql<Violation[]>`
    select t.id as subject,
      format('hold %s, record %s, price version %s', h.state, coalesce(c.request_id, 'missing'),
        c.price_version) as found,
      format('settled, record %s, price version %s', t.request_id, h.price_version) as expected
    from task t join hold h on h.id = t.hold_id left join (
      select * from call where ${callsIn(sql, scope, 'request_id')}) c on c.hold_id = t.hold_id
    where ${holdsIn(sql, scope, 't.hold_id')} and ${holdsIn(sql, scope, 'h.id')}
      and t.state = 'succeeded'
      and (h.state <> 'settled' or c.request_id is distinct from t.request_id
        or c.task_id is distinct from t.id
        or c.price_version is distinct from h.price_version)
    limit ${LIST_LIMIT}`,
}

const upstreamCostsAreExplained: Invariant = {
  id: 'I12',
  title: 'each upstream cost belongs to one task or is recorded as an uncharged cost',
  find: (sql) => sql<Violation[]>`
    select a.id as subject, format('upstream task %s', a.upstream_id) as found,
      'its task, or an uncharged cost' as expected
    from task_attempt a
    where a.upstream_id is not null
      and not exists (select 1 from task t where t.attempt_id = a.id)
      and not exists (select 1 from uncharged_cost o where o.attempt_id = a.id)
    union all
    select a.id, format('%s though its task has ended', a.state), 'a known outcome'
    from task_attempt a join task t on t.id = a.task_id
    where t.finished_at is not null and a.state in ('sending', 'unknown')
    union all
    select c.id, 'under way though its task has ended', 'a known outcome'
    from task_call c join task t on t.id = c.task_id
    where t.finished_at is not null and c.state = 'sending'
    union all
    select o.attempt_id, 'an uncharged cost', 'its attempt' from uncharged_cost o
    where not exists (select 1 from task_attempt a where a.id = o.attempt_id)
    limit ${LIST_LIMIT}`,
}

export const TASK_INVARIANTS: readonly Invariant[] = [
  tasksEndOnce,
  failuresCostNothing,
  successesAreCharged,
  upstreamCostsAreExplained,
]
