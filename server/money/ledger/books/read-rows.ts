/** Parses blocks and entries from COPY text, from a database or from the files of a backup. */
import { readCopyLine } from '../../../base/database/backup/copy-text.ts'
import { DatabaseProblem } from '../../../base/database/problem.ts'
import type { BlockFields, EntryFields } from './canonical.ts'
import type { ArchivedObject } from './chain-source.ts'

export const ENTRY_COLUMNS = [
  'id',
  'posting',
  'step',
  'account_id',
  'currency',
  'source',
  'destination',
  'amount',
  'at',
] as const
export const BLOCK_COLUMNS = [
  'number',
  'previous',
  'after_id',
  'upto_id',
  'entries',
  'entries_total',
  'root',
  'marks',
  'totals',
  'sealed_at',
  'hash',
] as const

type Take = (name: string) => string

/** `columns` are the columns of the lines, in order; additional ones are ignored. */
export async function* readEntries(
  lines: AsyncIterable<string>,
  columns: readonly string[],
): AsyncGenerator<EntryFields> {
  for await (const take of readFields(lines, columns)) {
    yield {
      id: whole(take, 'id'),
      posting: take('posting'),
      step: take('step'),
      account_id: take('account_id'),
      currency: take('currency'),
      source: take('source'),
      destination: take('destination'),
      amount: whole(take, 'amount'),
      at: take('at'),
    }
  }
}

export async function* readBlocks(
  lines: AsyncIterable<string>,
  columns: readonly string[],
): AsyncGenerator<BlockFields> {
  for await (const take of readFields(lines, columns)) {
    yield {
      number: whole(take, 'number'),
      previous: bytes(take('previous')),
      after_id: whole(take, 'after_id'),
      upto_id: whole(take, 'upto_id'),
      entries: Number(take('entries')),
      entries_total: whole(take, 'entries_total'),
      root: bytes(take('root')),
      marks: bytes(take('marks')),
      totals: take('totals'),
      sealed_at: take('sealed_at'),
      hash: bytes(take('hash')),
    }
  }
}

export async function* readArchivedObjects(
  lines: AsyncIterable<string>,
  columns: readonly string[],
): AsyncGenerator<ArchivedObject> {
  for await (const take of readFields(lines, columns)) {
    yield {
      storage_key: take('storage_key'),
      sha256: bytes(take('sha256')),
      content_sha256: bytes(take('content_sha256')),
    }
  }
}

async function* readFields(
  lines: AsyncIterable<string>,
  columns: readonly string[],
): AsyncGenerator<Take> {
  const places = new Map(columns.map((name, place) => [name, place]))
  let row: (string | null)[] = []
  let number = 0
  const take: Take = (name) => {
    const value = row[places.get(name) ?? -1]
    if (typeof value === 'string') return value
    throw new DatabaseProblem(`row ${number} has no ${name}: the backup is damaged`)
  }
  for await (const line of lines) {
    number += 1
    row = readCopyLine(line)
    yield take
  }
}

function whole(take: Take, name: string): bigint {
  const text = take(name)
  if (/^-?\d{1,19}$/.test(text)) return BigInt(text)
  throw new DatabaseProblem(`${name} is not a number in one row: the backup is damaged`)
}

/** PostgreSQL writes bytea as `\x…`. */
function bytes(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex')
}
