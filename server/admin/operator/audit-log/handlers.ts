/** The audit log, page by page. */
import { invalidField } from '../../../lib/errors.ts'
import type { HandlersOf } from '../../handler.ts'
import { toPage } from '../../page.ts'
import type { operatorAuditLogContract } from './contract.ts'
import { selectAuditLog } from './store.ts'

export const operatorAuditLogHandlers: HandlersOf<typeof operatorAuditLogContract> = {
  async 'GET /operator/audit-log'({ query }, { sql }) {
    const { limit, cursor, ...rest } = query
    if (cursor !== undefined && !/^\d{1,18}$/.test(cursor)) {
      throw invalidField('cursor', 'not a cursor of this list')
    }
    const rows = await selectAuditLog(sql, { ...rest, after: cursor, limit: limit + 1 })
    return toPage(
      rows,
      limit,
      ({ id }) => id.toString(),
      ({ id, at, actor, ip, ...shown }) => ({
        ...shown,
        id: id.toString(),
        at: at.toISOString(),
        user_id: actor,
        ip: ip === '' ? null : ip,
        details: { ...shown.details },
      }),
    )
  },
}
