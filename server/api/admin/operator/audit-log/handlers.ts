/** The audit log, page by page. */
import { toPage } from '../../../../base/http/page.ts'
import { invalidField } from '../../../../base/lib/errors.ts'
import type { HandlersOf } from '../../handler.ts'
import type { operatorAuditLogContract } from './contract.ts'
import { type AuditLogRow, type NamedRow, selectAuditLog, selectNames } from './store.ts'

/** Ids of things that have a name: see lib/ids.ts. */
const NAMED_ID = /^(?:acct|key|user|tok|code)_[0-9A-Za-z]{22}$/

/** Returns the ids in an entry that are shown by name. */
function mentionedIds({ account_id: accountId, target, details }: AuditLogRow): readonly string[] {
  const texts = [accountId, ...target.split(' '), ...Object.values(details)]
  return texts.filter((one) => typeof one === 'string').filter((one) => NAMED_ID.test(one))
}

/** Returns the names for one entry, and the currency: its own, else that of its account. */
function describeMentioned(row: AuditLogRow, named: ReadonlyMap<string, NamedRow>) {
  const own = mentionedIds(row).flatMap((id) => named.get(id) ?? [])
  const { currency } = row.details
  return {
    names: Object.fromEntries(own.map(({ id, name }) => [id, name])),
    currency:
      typeof currency === 'string'
        ? currency
        : (own.find((one) => one.currency !== null)?.currency ?? null),
  }
}

export const operatorAuditLogHandlers: HandlersOf<typeof operatorAuditLogContract> = {
  async 'GET /operator/audit-log'({ query }, { sql }) {
    const { limit, cursor } = query
    if (cursor !== undefined && !/^\d{1,18}$/.test(cursor)) {
      throw invalidField('cursor', 'not a cursor of this list')
    }
    const rows = await selectAuditLog(sql, query)
    const mentioned = await selectNames(sql, [...new Set(rows.flatMap(mentionedIds))])
    const named = new Map(mentioned.map((one) => [one.id, one]))
    const entries = rows.map((row) => ({ ...row, ...describeMentioned(row, named) }))
    return toPage(entries, limit, 'id')
  },
}
