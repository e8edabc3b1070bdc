/** Reads CSV exports: Volcengine's bill by its headers, any other by a mapping of columns. */
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { cutCsv, readSeparator } from './cut-csv.ts'
import { createDecimalReader, type DecimalReader } from './decimal-commas.ts'
import {
  type InvoiceRow,
  readDay,
  readInvoiceCount,
  readInvoiceCurrency,
  readMoney,
} from './invoice.ts'

/** Maps kinds of columns, these or any price unit, to headers. */
export type ColumnMap = Readonly<Record<string, string>>

const KNOWN = ['date', 'model', 'amount', 'currency', 'requests'] as const
/** Short names for the units that every vendor has. */
const UNIT_WORDS: Readonly<Record<string, string>> = {
  input: 'input_token',
  cached: 'cached_input_token',
  cache_write: 'cache_write_token',
  output: 'output_token',
}

/** Headers of the vendor's bill, the most exact first. */
const BILL_HEADERS: Readonly<Record<string, readonly string[]>> = {
  date: ['消费日期', '账单日期', '消费时间', '消费开始时间'],
  model: ['配置名称', '计费项', '计费单元', '实例名称', '产品'],
  amount: ['应付金额', '应付金额(税前)', '应付金额（税前）'],
  currency: ['币种'],
}
const CSV_COLUMN_HINT = 'name the columns with --map date=…,model=…,amount=…'

/** Returns true if these are the headers of the vendor's bill. */
export function isBill(headers: readonly string[]): boolean {
  return headers.includes('应付金额') || (headers.includes('账期') && headers.includes('产品'))
}

export async function readHeaders(path: string): Promise<readonly string[]> {
  for await (const { fields } of cutCsv(path)) return clean(fields)
  throw new OperatorError('the export is empty')
}

/** Throws OperatorError that names the line and the column. */
export async function* readTable(
  path: string,
  map: ColumnMap | undefined,
): AsyncGenerator<InvoiceRow> {
  let columns: ReadonlyMap<string, number> | undefined
  let width = 0
  const toPoint = createDecimalReader(readSeparator(path))
  for await (const { line, fields } of cutCsv(path)) {
    if (!columns) {
      const headers = clean(fields)
      columns = map ? mapColumns(headers, map) : findBillColumns(headers)
      width = headers.length
      continue
    }
    if (fields.length !== width) {
      throw new OperatorError(`line ${line}: ${fields.length} fields, the header has ${width}`)
    }
    yield readRow(fields, columns, { where: `line ${line}`, toPoint, isBill: map === undefined })
  }
  if (!columns) throw new OperatorError('the export is empty')
}

function clean(fields: readonly string[]): string[] {
  return fields.map((field) => field.replace(/^\ufeff/, '').trim())
}

function mapColumns(headers: readonly string[], map: ColumnMap): Map<string, number> {
  const columns = new Map<string, number>()
  for (const [word, header] of Object.entries(map)) {
    const place = headers.indexOf(header)
    if (place !== headers.lastIndexOf(header)) {
      throw new OperatorError(`there are several columns ${header}`)
    }
    if (place < 0) {
      throw new OperatorError(`there is no column ${header}: the file has ${headers.join(', ')}`)
    }
    columns.set(UNIT_WORDS[word] ?? word, place)
  }
  if (!columns.has('date')) throw new OperatorError(CSV_COLUMN_HINT)
  return columns
}

function findBillColumns(headers: readonly string[]): Map<string, number> {
  const columns = new Map<string, number>()
  for (const [word, names] of Object.entries(BILL_HEADERS)) {
    const header = names.find((name) => headers.includes(name))
    if (header !== undefined) columns.set(word, headers.indexOf(header))
  }
  if (columns.has('date') && columns.has('amount')) return columns
  throw new OperatorError(
    `the bill has no column for days or amounts: export it by day, or ${CSV_COLUMN_HINT}; ` +
      `it has ${headers.join(', ')}`,
  )
}

interface Reading {
  readonly where: string
  readonly toPoint: DecimalReader
  /** True for the vendor's own bill. */
  readonly isBill: boolean
}

function readRow(
  fields: readonly string[],
  columns: ReadonlyMap<string, number>,
  { where, toPoint, isBill: isVendorsBill }: Reading,
): InvoiceRow {
  const at = (word: string) => fields[columns.get(word) ?? -1]?.trim()
  const [model, amount, currency, requests] = KNOWN.slice(1).map(at)
  const units: Record<string, number> = {}
  for (const [word, place] of columns) {
    const value = fields[place]?.trim() ?? ''
    if ((KNOWN as readonly string[]).includes(word) || value === '') continue
    units[word] = readInvoiceCount(toPoint(value, where), `${where}, ${word}`)
  }
  return {
    day: readDay(at('date') ?? '', where),
    model: model ? (isVendorsBill ? shorten(model) : model) : null,
    amount: amount === undefined ? undefined : readMoney(toPoint(amount || '0', where), where),
    currency: currency ? readInvoiceCurrency(currency, where) : isVendorsBill ? 'CNY' : undefined,
    requests: requests
      ? readInvoiceCount(toPoint(requests, where), `${where}, requests`)
      : undefined,
    units,
  }
}

/** `Doubao-pro_推理服务_输入`: the model, then the item. */
function shorten(item: string): string {
  return item.replace(/[-_ ]*(?:推理|输入|输出|缓存|命中|后付费|按量).*$/, '').trim() || item
}
