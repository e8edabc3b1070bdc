/** SQL of the tools that were taken out of requests, by model. */
import type { Sql } from 'postgres'

/** Answers without one kind of tool since they were last written. */
export interface TakenOutSum {
  readonly model: string
  /** A kind from a fixed list, for example `web_search`. */
  readonly tool: string
  /** The unit whose price would make the tool sellable; null if there is none. */
  readonly unit: string | null
  readonly answers: number
}

export interface TakenOutRow {
  readonly model_id: string
  readonly tool: string
  readonly unit: string | null
  readonly answers: bigint
  readonly first_at: Date
  readonly last_at: Date
}

/** Adds sums. All gateways lock the rows in the same order. */
export async function addTakenOut(sql: Sql, sums: readonly TakenOutSum[]): Promise<void> {
  await sql`
    insert into tool_taken_out (model_id, tool, unit, answers, first_at, last_at)
    select one.model, one.tool, one.unit, one.answers, now(), now()
    from unnest(
      ${sums.map(({ model }) => model)}::text[], ${sums.map(({ tool }) => tool)}::text[],
      ${sums.map(({ unit }) => unit)}::text[], ${sums.map(({ answers }) => answers)}::bigint[]
    ) as one (model, tool, unit, answers)
    order by one.model, one.tool
    on conflict (model_id, tool) do update set unit = excluded.unit,
      answers = tool_taken_out.answers + excluded.answers, last_at = excluded.last_at`
}

/** Lists the sums of all models, the latest first, or those of one. */
export function listTakenOut(sql: Sql, model: string | null = null): Promise<TakenOutRow[]> {
  return sql<TakenOutRow[]>`
    select model_id, tool, unit, answers, first_at, last_at from tool_taken_out
    where ${model}::text is null or model_id = ${model}
    order by last_at desc, model_id, tool`
}
