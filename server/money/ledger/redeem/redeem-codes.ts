/**
 * Redeem codes, each valid once. 20 characters of 5 bits cannot be guessed, and only the SHA-256 of
 * a code is stored, so reading the table does not allow redeeming one.
 */

import { hash } from 'node:crypto'
import type { Sql } from 'postgres'
import { withTransaction } from '../../../base/database/transaction.ts'
import { CURRENCY_PROBLEM, isCurrency } from '../../../base/lib/currencies.ts'
import { newId, randomText } from '../../../base/lib/ids.ts'
import type { Nanos } from '../../../base/lib/money.ts'
import { OperatorError } from '../../../base/lib/operator-error.ts'
import { postCredit, readBalance } from '../store.ts'
import {
  insertCodes,
  lockCode,
  type RedeemCodeRow,
  selectCodes,
  useCode,
  voidCode,
} from './redeem-store.ts'

/** Excludes letters that look like digits. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 20
const GROUP = 5
const LOT_MAX = 1000

export interface CreatedCode {
  readonly id: string
  /** Shown only once. */
  readonly code: string
}

/** Creates a batch of codes. Throws OperatorError for invalid values. */
export async function createRedeemCodes(
  sql: Sql,
  lot: {
    readonly count: number
    readonly amountNanos: Nanos
    readonly kind: RedeemCodeRow['kind']
    readonly currency: string
    readonly note: string
    readonly expiresAt: Date | null
    readonly actor: string
  },
): Promise<CreatedCode[]> {
  const { count, amountNanos, expiresAt, currency } = lot
  if (count < 1 || count > LOT_MAX)
    throw new OperatorError(`a batch must contain 1 to ${LOT_MAX} codes`)
  if (amountNanos <= 0n) throw new OperatorError('the amount of a code must be positive')
  if (!isCurrency(currency)) throw new OperatorError(`the currency ${CURRENCY_PROBLEM}`)
  if (expiresAt && expiresAt.getTime() <= Date.now()) {
    throw new OperatorError('the expiry must be in the future')
  }
  const codes = Array.from({ length: count }, () => ({ id: newId('code'), code: drawCode() }))
  const rows = codes.map(({ id, code }) => ({ id, hash: hashCode(code), display: display(code) }))
  await insertCodes(sql, rows, { ...lot, amount: amountNanos, createdBy: lot.actor })
  return codes
}

export interface Redeemed {
  readonly creditId: string
  readonly amountNanos: Nanos
  readonly kind: RedeemCodeRow['kind']
}

/** The code does not exist: it was mistyped or guessed. */
export class UnknownCode extends OperatorError {}

/**
 * Credits a code's amount to an account, exactly once even under concurrent use. Throws
 * UnknownCode, or OperatorError if the code is used, voided, expired or in another currency.
 */
export async function redeemCode(
  sql: Sql,
  use: { readonly code: string; readonly accountId: string; readonly actor: string },
): Promise<Redeemed> {
  const { code, accountId, actor } = use
  return await withTransaction(sql, async (transaction) => {
    const row = await lockCode(transaction, hashCode(code))
    if (!row) throw new UnknownCode('unknown code: check each character')
    // After an answer that was lost, the second try says where the money is.
    if (row.account_id === accountId) throw new OperatorError(REFUSALS.own)
    if (row.state !== 'open') throw new OperatorError(REFUSALS[row.state])
    const balance = await readBalance(transaction, accountId)
    if (balance?.currency !== row.currency) {
      throw new OperatorError(`this code is for accounts in ${row.currency}`)
    }
    const creditId = newId('cred')
    await useCode(transaction, { id: row.id, accountId, usedBy: actor })
    const posted = await postCredit(transaction, {
      id: creditId,
      accountId,
      kind: row.kind,
      amountNanos: row.amount,
      actor,
      reason: `code ${row.display}`,
      eventId: `redeem:${row.id}`,
    })
    if (!posted) throw new OperatorError(REFUSALS.used)
    return { creditId, amountNanos: row.amount, kind: row.kind }
  })
}

const REFUSALS: Readonly<Record<Exclude<RedeemCodeRow['state'], 'open'> | 'own', string>> = {
  own: 'this account has already redeemed this code',
  used: 'this code has already been used',
  voided: 'this code is no longer valid',
  expired: 'this code has expired',
}

/** Lists codes, newest first. */
export function listRedeemCodes(
  sql: Sql,
  filter: Parameters<typeof selectCodes>[1],
): Promise<RedeemCodeRow[]> {
  return selectCodes(sql, filter)
}

/** Voids a code. Throws OperatorError if it is unknown, used or already voided. */
export async function voidRedeemCode(sql: Sql, id: string): Promise<void> {
  if (await voidCode(sql, id)) return
  throw new OperatorError(`${id} cannot be voided: the code is unknown, used or already voided`)
}

function drawCode(): string {
  // Rejection sampling of base-62 characters, so that all letters are equally likely.
  let text = ''
  while (text.length < LENGTH) {
    text += [...randomText(LENGTH)].filter((letter) => ALPHABET.includes(letter)).join('')
  }
  const starts = Array.from({ length: LENGTH / GROUP }, (_, index) => index * GROUP)
  return starts.map((start) => text.slice(start, start + GROUP)).join('-')
}

function display(code: string): string {
  return `…${code.slice(-GROUP)}`
}

/** Hashes a code as typed: in any case, with any separators, O for 0, and I or L for 1. */
function hashCode(code: string): Buffer {
  const plain = code.toUpperCase().replace(/O/g, '0').replace(/[IL]/g, '1')
  return hash('sha256', plain.replace(/[^0-9A-Z]/g, ''), 'buffer')
}
