/** A line of an archive: a hold with its call and its entries. */

import { OperatorError } from '../../base/lib/operator-error.ts'
import type { EntryFields } from '../../money/ledger/books/canonical.ts'

export interface ArchivedRecord {
  readonly hold: {
    readonly id: string
    readonly request_id: string
    readonly account_id: string
    /** Nano-units. */
    readonly amount: string
    readonly state: string
  }
  readonly call: {
    readonly request_id: string
    readonly account_id: string
    readonly status: string
    readonly held: string
    readonly charged: string
    readonly returned: string
    readonly lost_charge: string | null
    readonly error: string | null
  }
  readonly entries: readonly (Omit<EntryFields, 'id' | 'amount'> & {
    readonly id: string
    readonly amount: string
  })[]
}

/** Throws OperatorError if the line is not a record. */
export function readRecord(line: string): ArchivedRecord {
  try {
    const value: ArchivedRecord = JSON.parse(line)
    if (value.hold && value.call && Array.isArray(value.entries)) return value
  } catch {
    // Reported below.
  }
  throw new OperatorError(`a line of the archive is not a record: ${line.slice(0, 80)}`)
}

/** Returns the entries of a record in the form that the sealed books digest. */
export function entriesOf(record: ArchivedRecord): EntryFields[] {
  return record.entries.map((entry) => ({
    ...entry,
    id: BigInt(entry.id),
    amount: BigInt(entry.amount),
    at: entry.at.replace('T', ' ').replace(/\+00:00$/, '+00'),
  }))
}

/** Returns the difference between a call's charge and its entries, or undefined if they agree. */
export function judgeRecord(record: ArchivedRecord): string | undefined {
  const { hold, call, entries } = record
  let left = 0n
  let revenue = 0n
  for (const { source, destination, amount, posting } of entries) {
    if (posting !== hold.id) return `${hold.id}: it has an entry of ${posting}`
    if (source === 'held') left += BigInt(amount)
    if (destination === 'revenue') revenue += BigInt(amount)
    if (source === 'revenue') revenue -= BigInt(amount)
  }
  if (hold.state === 'open') return `${hold.id}: it is open`
  if (left !== BigInt(hold.amount)) return `${hold.id}: ${left} of ${hold.amount} left the hold`
  if (revenue !== BigInt(call.charged)) {
    return `${hold.id}: charged ${call.charged}, and ${revenue} went to revenue`
  }
  return undefined
}
