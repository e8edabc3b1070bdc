/** Reads the settlements of a journal: lines of JSON, the last of which may be cut off. */
import { isObject, tryParseJson } from '../../../base/lib/json.ts'
import type { SettleRow } from '../store.ts'

const AMOUNT = /^\d{1,19}$/

/** Returns the settlements that are whole; unused space is filled with NUL characters. */
export function parseRows(text: string): SettleRow[] {
  return text
    .split('\n')
    .map((line) => tryParseJson(Buffer.from(line.replaceAll('\0', ''))))
    .filter(isSettleRow)
}

function isSettleRow(value: unknown): value is SettleRow {
  if (!isObject(value)) return false
  const { hold_id, account_id, charge, status, basis } = value
  const texts = [hold_id, account_id, status, basis]
  return (
    texts.every((text) => typeof text === 'string') &&
    (charge === null || (typeof charge === 'string' && AMOUNT.test(charge)))
  )
}
