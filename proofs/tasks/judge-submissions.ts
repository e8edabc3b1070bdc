/** The books of the submissions proof, call by call: each call has its own account. */
import type { Sql } from 'postgres'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { CASE_KINDS, type Call, type CaseKind, isFindable } from './case-kinds.ts'
import type { AcceptedTask } from './submission-vendor.ts'

/** The response to a caller: a status, and the task's id if there is one. */
export interface CallerResponse {
  readonly status: number | undefined
  readonly id?: string | undefined
}

export interface SentCall extends Call {
  readonly accountId: string
  readonly response: CallerResponse
}

export type Tally = Record<
  'calls' | 'unanswered' | 'accepted' | 'delivered' | 'adopted' | 'writtenOff' | 'returned',
  number
>

interface Row {
  readonly id: string
  readonly account_id: string
  readonly state: string
  readonly finished_at: Date | null
  readonly upstream_id: string | null
  readonly charged: bigint | null
  readonly uncharged: string | null
  readonly adopted: string | null
  /** The task's timeline, for the report of a break. */
  readonly story: string
}

export interface Judgement {
  readonly breaks: readonly string[]
  readonly tallies: Readonly<Record<CaseKind, Tally>>
  readonly adoptedBy: Readonly<Record<string, number>>
}

export async function judgeSubmissions(
  sql: Sql,
  sentCalls: readonly SentCall[],
  vendorTasks: readonly AcceptedTask[],
): Promise<Judgement> {
  const rows = Map.groupBy(await readRows(sql), (row) => row.account_id)
  const tasksByText = Map.groupBy(vendorTasks, ({ text }) => text)
  const adoptedBy: Record<string, number> = {}
  const breaks: string[] = []
  const tallies = Object.fromEntries(CASE_KINDS.map((kind) => [kind, emptyTally()])) as Record<
    CaseKind,
    Tally
  >
  for (const call of sentCalls) {
    const [row, ...moreRows] = rows.get(call.accountId) ?? []
    const [task, ...moreTasks] = tasksByText.get(call.text) ?? []
    if (moreRows.length > 0) breaks.push(`${call.text}: more than one task`)
    if (moreTasks.length > 0) breaks.push(`${call.text}: billed upstream more than once`)
    breaks.push(...judge(call, row, task).map((problem) => `${call.text}: ${problem}`))
    count(tallies[call.kind], call, row, task)
    if (row?.adopted) adoptedBy[row.adopted] = (adoptedBy[row.adopted] ?? 0) + 1
  }
  return { breaks: [...breaks, ...(await judgeLedger(sql))], tallies, adoptedBy }
}

async function readRows(sql: Sql): Promise<Row[]> {
  return await sql<Row[]>`
    select t.id, t.account_id, t.state, t.finished_at, a.upstream_id, c.charged,
      o.reason as uncharged,
      (select e.detail->>'by' from task_event e
        where e.task_id = t.id and e.kind = 'adopted') as adopted,
      (select string_agg(e.kind || ' ' || e.detail::text, '; ' order by e.id) from task_event e
        where e.task_id = t.id) as story
    from task t join task_attempt a on a.id = t.attempt_id
    left join call c on c.hold_id = t.hold_id
    left join uncharged_cost o on o.task_id = t.id`
}

function judge(call: SentCall, row: Row | undefined, task: AcceptedTask | undefined): string[] {
  const { response } = call
  if (!row) {
    if (task) return ['the vendor has a task and the gateway does not']
    return response.status === 200 ? ['its task is lost'] : []
  }
  if (row.finished_at === null) return [`is still ${row.state}`]
  if (row.charged === null) return ['ended without a record']
  if (response.id !== undefined && response.id !== row.id) return ['got the id of another task']
  const isCharged = row.charged > 0n
  if (row.state === 'succeeded') {
    if (row.upstream_id !== task?.id) return ['succeeded with the task of another call']
    if (task?.fails) return ['succeeded though the vendor’s failed']
    return isCharged ? [] : ['succeeded and was not charged']
  }
  if (isCharged) return ['failed and was charged']
  if (row.uncharged !== null && isFindable(call, task)) {
    return [`could have been found and was written off: ${row.story}`]
  }
  const isBilled = task !== undefined && !task.fails && row.upstream_id !== task.id
  return isBilled && row.uncharged === null ? ['billed upstream, neither charged nor noted'] : []
}

async function judgeLedger(sql: Sql): Promise<string[]> {
  const { checks } = await audit(sql)
  return checks.flatMap(({ id, ok, details }) =>
    ok ? [] : [`audit ${id}: ${JSON.stringify(details.slice(0, 3))}`],
  )
}

function emptyTally(): Tally {
  return {
    calls: 0,
    unanswered: 0,
    accepted: 0,
    delivered: 0,
    adopted: 0,
    writtenOff: 0,
    returned: 0,
  }
}

function count(
  tally: Tally,
  call: SentCall,
  row: Row | undefined,
  task: AcceptedTask | undefined,
): void {
  tally.calls += 1
  if (call.response.status !== 200) tally.unanswered += 1
  if (task) tally.accepted += 1
  if (row?.state === 'succeeded') tally.delivered += 1
  if (row?.adopted) tally.adopted += 1
  if (row?.uncharged) tally.writtenOff += 1
  if (row && row.charged === 0n) tally.returned += 1
}
