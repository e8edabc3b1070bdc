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

type Member = keyof z.input<typeof describedCall>

/** Every member of a call is a column of an export; this is their default order. */
const ORDER: Readonly<Record<Member, true>> = {
  request_id: true,
  created_at: true,
  finished_at: true,
  endpoint: true,
  model: true,
  key_id: true,
  key_name: true,
  member: true,
  status: true,
  held: true,
  charged: true,
  returned: true,
  debt: true,
  currency: true,
  basis: true,
  review: true,
  task_id: true,
  error: true,
  input_tokens: true,
  cached_input_tokens: true,
  output_tokens: true,
  quantities: true,
  duration_ms: true,
  first_response_ms: true,
  output_tokens_per_second: true,
  tags: true,
  end_user: true,
  price_list: true,
  price_version: true,
  list_amount: true,
}
const COLUMNS = Object.keys(ORDER) as Member[]

/** Throws 400 for a name that is not a column. */
export function readColumns(text: string | undefined): readonly Member[] {
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
  readonly columns: readonly Member[]
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
  columns: readonly Member[],
): string {
  if (format === 'csv') return encodeRow(columns.map((name) => toCell(call[name])))
  const members = columns.map((name) => [name, call[name] ?? null])
  return `${JSON.stringify(Object.fromEntries(members))}\n`
}

function toCell(value: z.input<typeof describedCall>[Member]): Cell {
  if (value === undefined) return null
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}
