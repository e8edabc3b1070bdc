/** The export of usage records: the chosen columns of every record, as CSV or JSON lines. */
import type { z } from 'zod'
import { invalidField } from '../../../../base/lib/errors.ts'
import type { UsageFilter } from '../../../../money/usage/store.ts'
import { encode } from '../../../endpoints/codecs.ts'
import type { AdminServices } from '../../services.ts'
import { readKeyNames } from '../account-store.ts'
import { type Cell, encodeRow } from './csv.ts'
import { describeCall, describedCall } from './described-call.ts'

const BATCH = 1000

/** The columns of an export, in their default order. */
const COLUMNS = [
  ...(['request_id', 'created_at', 'finished_at', 'endpoint', 'model', 'key_id'] as const),
  ...(['key_name', 'member', 'status', 'held', 'charged', 'returned', 'debt', 'currency'] as const),
  ...(['basis', 'review', 'task_id', 'error', 'input_tokens', 'cached_input_tokens'] as const),
  ...(['output_tokens', 'quantities', 'duration_ms', 'first_response_ms'] as const),
  ...(['output_tokens_per_second', 'tags', 'end_user'] as const),
]
type Column = (typeof COLUMNS)[number]

/** Throws 400 for a name that is not a column. */
export function readColumns(text: string | undefined): readonly Column[] {
  if (!text) return COLUMNS
  return text.split(',').map((name) => {
    const column = COLUMNS.find((one) => one === name.trim())
    if (!column) throw invalidField('columns', `no such column: ${name.trim()}`)
    return column
  })
}

interface ExportOptions {
  readonly filter: Omit<UsageFilter, 'limit'>
  readonly format: 'csv' | 'jsonl'
  readonly columns: readonly Column[]
}

export async function* readExport(
  { usage, sql }: AdminServices,
  { filter, format, columns }: ExportOptions,
): AsyncGenerator<string> {
  if (format === 'csv') yield encodeRow(columns)
  let after: string | undefined
  do {
    const rows = await usage.list({ ...filter, limit: BATCH, after })
    const keys = await readKeyNames(sql, filter.accountId, [
      ...new Set(rows.map(({ key_id: id }) => id)),
    ])
    const calls = rows.map((row) => encode(describedCall, describeCall(row, keys)))
    yield calls.map((call) => printCall(call, format, columns)).join('')
    after = rows.length === BATCH ? rows.at(-1)?.request_id : undefined
  } while (after !== undefined)
}

function printCall(
  call: z.input<typeof describedCall>,
  format: ExportOptions['format'],
  columns: readonly Column[],
): string {
  if (format === 'csv') return encodeRow(columns.map((name) => toCell(call[name])))
  const members = columns.map((name) => [name, call[name] ?? null])
  return `${JSON.stringify(Object.fromEntries(members))}\n`
}

function toCell(value: z.input<typeof describedCall>[Column]): Cell {
  if (value === undefined) return null
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}
