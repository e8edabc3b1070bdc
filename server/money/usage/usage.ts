/** Reads usage records for endpoints and the console. */
import type { Sql } from 'postgres'
import {
  findUsage,
  isUsageArchived,
  listEntries,
  selectUsage,
  type UsageEntry,
  type UsageFilter,
  type UsageRow,
  type UsageSummary,
} from './store.ts'

export interface UsageReader {
  list(filter: UsageFilter): Promise<UsageSummary[]>
  find(accountId: string, requestId: string): Promise<UsageRow | undefined>
  /** Returns whether the month of a call is archived, or is being archived. */
  isArchived(requestId: string): Promise<boolean>
  entries(accountId: string, holdId: string): Promise<UsageEntry[]>
}

export function createUsageReader(sql: Sql): UsageReader {
  return {
    list: (filter) => selectUsage(sql, filter),
    find: (accountId, requestId) => findUsage(sql, accountId, requestId),
    isArchived: (requestId) => isUsageArchived(sql, requestId),
    entries: (accountId, holdId) => listEntries(sql, accountId, holdId),
  }
}
