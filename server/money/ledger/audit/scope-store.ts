/**
 * The part of history that a check reads, by the time in ids. Calls, holds and entries of one call
 * have the same time in their ids, so a check of single calls sees all of a call or nothing.
 */
import type { PendingQuery, Row, TransactionSql } from 'postgres'

/** Ids of holds from the first and below the second; without one, there is no such limit. */
export interface IdRange {
  readonly from?: string
  readonly to?: string
}

export interface Scope {
  readonly ranges: readonly IdRange[]
  /** Verified weeks, whose sums are used in place of their rows. */
  readonly weeks: readonly string[]
  /** The last verified block: those after it are read. */
  readonly block: bigint
}

export const EVERYTHING: Scope = { ranges: [{}], weeks: [], block: 0n }

/** Returns the ids outside of the ranges, which are in order and do not overlap. */
export function outside(ranges: readonly Required<IdRange>[]): IdRange[] {
  const starts = [{}, ...ranges.map(({ to }) => ({ from: to }))]
  const ends = [...ranges.map(({ from }) => ({ to: from })), {}]
  return starts
    .map((start, index): IdRange => ({ ...start, ...ends[index] }))
    .filter(({ from, to }) => from === undefined || from !== to)
}

type Condition = PendingQuery<Row[]>

/** Returns the condition that a column with ids of holds is in the scope. */
export function holdsIn(sql: TransactionSql, { ranges }: Scope, column: string): Condition {
  return inRanges(sql, ranges, column)
}

/** Returns the condition that a column with ids of requests is in the scope. */
export function callsIn(sql: TransactionSql, { ranges }: Scope, column: string): Condition {
  const requestId = (holdId: string) => `req_${holdId.slice('hold_'.length)}`
  const ofRequests = ranges.map(({ from, to }) => ({
    ...(from === undefined ? {} : { from: requestId(from) }),
    ...(to === undefined ? {} : { to: requestId(to) }),
  }))
  return inRanges(sql, ofRequests, column)
}

function inRanges(sql: TransactionSql, ranges: readonly IdRange[], column: string): Condition {
  const parts = ranges.map(({ from, to }, index) => {
    const first = from === undefined ? sql`true` : sql`${sql(column)} >= ${from}`
    const last = to === undefined ? sql`true` : sql`${sql(column)} < ${to}`
    return sql`${index > 0 ? sql`or` : sql``} (${first} and ${last})`
  })
  return sql`(${parts})`
}
