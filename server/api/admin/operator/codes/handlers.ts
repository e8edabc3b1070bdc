/** Creates, lists and revokes redeem codes. */

import { toPage } from '../../../../base/http/page.ts'
import { invalidField } from '../../../../base/lib/errors.ts'
import { AMOUNT_PROBLEM, parseAmount } from '../../../../base/lib/money.ts'
import {
  createRedeemCodes,
  listRedeemCodes,
  voidRedeemCode,
} from '../../../../money/ledger/redeem/redeem-codes.ts'
import type { HandlersOf } from '../../handler.ts'
import { conflict, refuseAs, withOperatorErrors } from '../../operator-failure.ts'
import type { operatorCodesContract } from './contract.ts'

export const operatorCodesHandlers: HandlersOf<typeof operatorCodesContract> = {
  async 'GET /operator/redeem-codes'({ query }, { sql }) {
    const { limit, cursor, ...filter } = query
    const rows = await listRedeemCodes(sql, { ...filter, limit: limit + 1, after: cursor })
    return toPage(rows, limit, 'id')
  },

  async 'POST /operator/redeem-codes'({ body, session, note }, { sql }) {
    const { amount, expires_at: expiresAt = null, ...lot } = body
    const amountNanos = parseAmount(amount)
    if (amountNanos === undefined) throw invalidField('amount', AMOUNT_PROBLEM)
    note({ count: body.count, amount, currency: body.currency, kind: body.kind })
    const actor = session.user.email
    const data = await withOperatorErrors(
      createRedeemCodes(sql, { ...lot, amountNanos, expiresAt, actor }),
    )
    return { data }
  },

  async 'DELETE /operator/redeem-codes/:code_id'({ params }, { sql }) {
    await refuseAs(voidRedeemCode(sql, params.code_id), conflict)
  },
}
