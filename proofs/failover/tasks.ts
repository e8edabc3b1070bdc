/** Callers that create a video every few seconds, and the outcome of each. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import type { BookEntry } from '../../simulators/index.ts'
import { priceOf } from '../../testbed/prices.ts'

const MODEL = 'doubao-seedance-2-0-260128'
const EVERY_MS = 4_000

export interface CreatedTask {
  readonly marker: string
  readonly status: number
  /** The vendor's id or ours, whichever the caller got. */
  readonly id: string | undefined
}

export function startTasks(urls: readonly string[], key: string) {
  const created: Promise<CreatedTask>[] = []
  let isOver = false

  async function create(index: number): Promise<CreatedTask> {
    const marker = `failover-video-${index}`
    const answer = await fetch(`${urls[index % urls.length]}/v1/videos/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: MODEL,
        content: [{ type: 'text', text: `a river [[call:${marker}]] [[run-time:3000]]` }],
      }),
    }).catch(() => undefined)
    const body: unknown = await answer?.json().catch(() => undefined)
    const id =
      typeof body === 'object' && body !== null && 'id' in body ? String(body.id) : undefined
    return { marker, status: answer?.status ?? 0, id }
  }

  const running = (async () => {
    while (!isOver) {
      created.push(create(created.length))
      await sleep(EVERY_MS)
    }
  })()
  return {
    async end(): Promise<readonly CreatedTask[]> {
      isOver = true
      await running
      return await Promise.all(created)
    },
  }
}

interface TaskRow {
  readonly id: string
  readonly upstream_id: string | null
  readonly status: string | null
  readonly charged: bigint | null
}

/** Returns true once every task has ended. */
export async function haveTasksEnded(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ open: number }[]>`
    select count(*)::int as open from task where finished_at is null`
  return row?.open === 0
}

/** Compares each created task with the vendor's bill of its marker. Returns breaks in words. */
export async function judgeTasks(
  tasks: readonly CreatedTask[],
  entries: readonly BookEntry[],
  sql: Sql,
): Promise<readonly string[]> {
  const rows = await sql<TaskRow[]>`
    select t.id, a.upstream_id, c.status, c.charged
    from task t join task_attempt a on a.id = t.attempt_id
    left join call c on c.request_id = t.request_id`
  if (rows.length > tasks.length) return [`${tasks.length} tasks created, ${rows.length} known`]
  return tasks.flatMap(({ marker, status, id }) => {
    const own = rows.filter((row) => id !== undefined && [row.id, row.upstream_id].includes(id))
    const billed = entries.filter((entry) => entry.marker === marker && entry.billed)
    const bookedNanos = billed.reduce((sum, one) => sum + priceOf(MODEL, one.units), 0n)
    const chargedNanos = own.reduce((sum, { charged }) => sum + (charged ?? 0n), 0n)
    const breaks: string[] = []
    if (own.length > 1) breaks.push(`${own.length} tasks`)
    if (billed.length > 1) breaks.push(`made ${billed.length} times`)
    if (status === 200 && own.length === 0) breaks.push('answered, and not in the database')
    if (own.some((row) => row.status === null)) breaks.push('no record')
    if (chargedNanos !== bookedNanos) breaks.push(`charged ${chargedNanos}, billed ${bookedNanos}`)
    return breaks.map((text) => `${marker}: ${text}`)
  })
}
