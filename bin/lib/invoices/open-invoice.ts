/** Detects the format of an export by its content. */
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import type { Invoice, InvoiceRow } from './invoice.ts'
import { readPages } from './read-pages.ts'
import { type ColumnMap, isBill, readHeaders, readTable } from './read-table.ts'

/** Throws OperatorError if the file has no known format. */
export async function openInvoice(path: string, map: ColumnMap | undefined): Promise<Invoice> {
  if (!existsSync(path)) throw new OperatorError(`there is no file ${path}`)
  if (map === undefined && /^[\s\ufeff]*[[{]/.test(readBeginning(path))) {
    return { format: 'pages of buckets', timeZone: 'UTC', rows: each(readPages(path)) }
  }
  const headers = await readHeaders(path)
  if (map) return { format: 'mapped CSV', timeZone: 'UTC', rows: readTable(path, map) }
  if (isBill(headers)) {
    return { format: 'bill', timeZone: 'Asia/Shanghai', rows: readTable(path, undefined) }
  }
  throw new OperatorError(
    `the format is not known: name the columns with --map date=…,model=…,amount=…; it has ` +
      headers.join(', '),
  )
}

function readBeginning(path: string): string {
  const file = openSync(path, 'r')
  const bytes = Buffer.alloc(256)
  try {
    return bytes.toString('utf8', 0, readSync(file, bytes))
  } finally {
    closeSync(file)
  }
}

async function* each(rows: Iterable<InvoiceRow>): AsyncGenerator<InvoiceRow> {
  yield* rows
}
