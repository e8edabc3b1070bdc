/** Ledger entries, credits, redeem codes and payments. */
import type { Sql } from 'postgres'
import { z } from 'zod'
import { toPage } from '../../../../base/http/page.ts'
import { type GatewayError, invalidField } from '../../../../base/lib/errors.ts'
import { newId } from '../../../../base/lib/ids.ts'
import { tryParseJson } from '../../../../base/lib/json.ts'
import { postCredit } from '../../../../money/ledger/store.ts'
import { catchUp } from '../../../endpoints/account/usage.ts'
import { encode } from '../../../endpoints/codecs.ts'
import type { HandlersOf } from '../../handler.ts'
import { selectCredits } from '../../operator/accounts/store.ts'
import { withOperatorErrors } from '../../operator-failure.ts'
import { found, noSuch } from '../../refusal.ts'
import { selectAccountCurrency } from '../account-store.ts'
import { encodeRow, sendExport } from '../usage/csv.ts'
import { type billingContract, movement } from './contract.ts'
import { redeemRateLimited } from './redeem-rate-limited.ts'
import { readStatement } from './statement.ts'
import { type LedgerCursor, listMovements, type MovementRow } from './store.ts'
import { readPayment } from './top-up.ts'

const BATCH = 1000
const COLUMNS = [
  ...(['at', 'kind', 'amount', 'balance_after', 'model', 'endpoint', 'task_id'] as const),
  ...(['reason', 'id'] as const),
]

/** Each batch continues after the one before it, as of the time of the first. */
async function* exportMovements(sql: Sql, accountId: string): AsyncGenerator<string> {
  yield encodeRow([...COLUMNS, 'currency'])
  let cursor: string | undefined
  do {
    const after = cursor === undefined ? undefined : decodeLedgerCursor(cursor)
    const rows = await listMovements(sql, { accountId, limit: BATCH, after })
    const lines = rows.map((row) => {
      const shown = encode(movement, row)
      return encodeRow([...COLUMNS.map((name) => shown[name]), row.currency])
    })
    yield lines.join('')
    const last = rows.at(-1)
    cursor = rows.length === BATCH && last ? encodeLedgerCursor(last) : undefined
  } while (cursor !== undefined)
}

export const billingHandlers: HandlersOf<typeof billingContract> = {
  async 'GET /accounts/:account_id/ledger'({ params, query }, services) {
    await catchUp(services, params.account_id)
    const accountId = params.account_id
    const { limit, cursor } = query
    const after = cursor === undefined ? undefined : decodeLedgerCursor(cursor)
    const rows = await listMovements(services.sql, { accountId, limit: limit + 1, after }).catch(
      (error) => {
        throw after && isDataException(error) ? noCursor() : error
      },
    )
    const currency = rows[0]?.currency ?? (await selectAccountCurrency(services.sql, accountId))
    return { ...toPage(rows, limit, encodeLedgerCursor), currency: found(currency, 'account') }
  },
  async 'GET /accounts/:account_id/statement'({ params, query }, services) {
    await catchUp(services, params.account_id)
    const { from, to = new Date(), time_zone: timeZone } = query
    return readStatement(services.sql, params.account_id, { from, to, timeZone })
  },
  async 'GET /accounts/:account_id/ledger/export'({ context, params }, services) {
    await catchUp(services, params.account_id)
    const { account_id: accountId } = params
    const batches = exportMovements(services.sql, accountId)
    await sendExport(context, { name: `ledger-${accountId}`, format: 'csv', batches })
  },
  async 'GET /accounts/:account_id/credits'({ params, query }, { sql }) {
    const { limit, cursor: after } = query
    const filter = { accountId: params.account_id, limit: limit + 1, after }
    return toPage(await selectCredits(sql, filter), limit, 'id')
  },
  async 'POST /accounts/:account_id/redeem'(input, services) {
    const { params, body, note } = input
    const use = { accountId: params.account_id, code: body.code }
    const { creditId, kind, amountNanos } = await withOperatorErrors(
      redeemRateLimited(services, input, use),
    )
    note({ credit_id: creditId })
    const balance = await services.ledger.balance(params.account_id)
    const { currency, available } = found(balance, 'account')
    return {
      credit_id: creditId,
      kind,
      currency,
      amount: amountNanos,
      available,
    }
  },
  async 'POST /top-ups'({ context }, { sql, system }) {
    const { topUpSecret } = system
    if (topUpSecret === undefined) throw noSuch('path')
    const { eventId, accountId, amountNanos, currency, reason } = await readPayment(
      context,
      topUpSecret,
    )
    const accountCurrency = found(await selectAccountCurrency(sql, accountId), 'account')
    if (accountCurrency !== currency)
      throw invalidField('currency', `this account is in ${accountCurrency}`)
    const credit = { kind: 'top_up', amountNanos, reason, actor: 'payment', eventId } as const
    const posted = await withOperatorErrors(
      postCredit(sql, { id: newId('cred'), accountId, ...credit }),
    )
    return { posted }
  },
}

const TIME = /^\d{4,6}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d)?$/

const parts = z.tuple([
  z.string().regex(TIME),
  z.string().regex(/^[\w-]{1,64}$/),
  z.string().regex(/^-?\d{1,19}$/),
  z.string().regex(TIME),
])

function encodeLedgerCursor(row: MovementRow): string {
  const { position, id, balance_after: after, amount, read_at: readAt } = row
  const text = JSON.stringify([position, id, (after - amount).toString(), readAt])
  return Buffer.from(text).toString('base64url')
}

/** Throws 400 for a text that is not a ledger cursor. */
function decodeLedgerCursor(text: string): LedgerCursor {
  const read = parts.safeParse(tryParseJson(Buffer.from(text, 'base64url')))
  if (!read.success) throw noCursor()
  const [position, id, balance, readAt] = read.data
  return { position, id, balance: BigInt(balance), readAt }
}

function noCursor(): GatewayError {
  return invalidField('cursor', 'not a cursor of this list')
}

/** PostgreSQL's class 22: an invented cursor may contain a time or a sum that is out of range. */
function isDataException(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('22')
}
