/**
 * The cursor of the ledger page. It carries the running balance, so that a page does not read those
 * before it.
 */
import { z } from 'zod'
import { invalidField } from '../../../../base/lib/errors.ts'
import { tryParseJson } from '../../../../base/lib/json.ts'
import type { LedgerCursor, MovementRow } from './store.ts'

const TIME = /^\d{4,6}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-]\d\d(:\d\d)?$/

const parts = z.tuple([
  z.string().regex(TIME),
  z.string().regex(/^[\w-]{1,64}$/),
  z.string().regex(/^-?\d{1,19}$/),
  z.string().regex(TIME),
])

export function encodeLedgerCursor(row: MovementRow): string {
  const { position, id, balance_after: after, amount, read_at: readAt } = row
  const text = JSON.stringify([position, id, (after - amount).toString(), readAt])
  return Buffer.from(text).toString('base64url')
}

/** Throws 400 for a text that is not a ledger cursor. */
export function decodeLedgerCursor(text: string): LedgerCursor {
  const read = parts.safeParse(tryParseJson(Buffer.from(text, 'base64url')))
  if (!read.success) throw invalidField('cursor', 'not a cursor of this list')
  const [position, id, balance, readAt] = read.data
  return { position, id, balance: BigInt(balance), readAt }
}
