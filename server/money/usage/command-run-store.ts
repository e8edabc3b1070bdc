/** SQL of the table that knows when scheduled commands have last succeeded. */
import type { Sql } from 'postgres'

export interface CommandRun {
  readonly command: 'archive' | 'audit' | 'backup'
  /** The destination of the result; empty for the audit, which has none. */
  readonly place: string
  readonly hasSucceeded: boolean
  readonly version: string
}

/** Places kept per command: a backup may name a new folder each time. */
const PLACES_MAX = 20
const PLACE_LENGTH_MAX = 500

/** Replaces the row of this command and place; a failure keeps the time of the last success. */
export async function upsertCommandRun(sql: Sql, run: CommandRun): Promise<void> {
  const { command, hasSucceeded, version } = run
  const place = run.place.slice(-PLACE_LENGTH_MAX)
  const outcome = hasSucceeded ? 'succeeded' : 'failed'
  await sql`
    insert into command_run (command, place, finished_at, outcome, version, succeeded_at)
    values (${command}, ${place}, now(), ${outcome}, ${version},
      case when ${hasSucceeded} then now() end)
    on conflict (command, place) do update set finished_at = excluded.finished_at,
      outcome = excluded.outcome, version = excluded.version,
      succeeded_at = coalesce(excluded.succeeded_at, command_run.succeeded_at)`
  await sql`
    delete from command_run where command = ${command} and place in (
      select place from command_run where command = ${command}
      order by succeeded_at desc nulls last, finished_at desc offset ${PLACES_MAX})`
}

export interface CommandSuccessRow {
  readonly command: string
  /** Seconds since 1970. */
  readonly succeeded_at: number
}

/** Returns the newest success of each command that has ever succeeded. */
export function readCommandSuccesses(sql: Sql): Promise<CommandSuccessRow[]> {
  return sql<CommandSuccessRow[]>`
    select command, extract(epoch from max(succeeded_at))::float8 as succeeded_at
    from command_run where succeeded_at is not null group by command`
}
