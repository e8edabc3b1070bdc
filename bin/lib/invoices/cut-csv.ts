/** Reads CSV (RFC 4180) in chunks, for files of any size. */
import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'

export interface CsvRow {
  /** The line of the file at which the row begins, from 1. */
  readonly line: number
  readonly fields: readonly string[]
}

const ROW_BYTES_MAX = 1_000_000
/** One of the others separates the fields of exports with decimal commas. */
const SEPARATORS = [',', ';', '\t'] as const

export type Separator = (typeof SEPARATORS)[number]

/**
 * Returns what the fields of the first row are separated by: what is there most often. Tabs beside
 * another separator and at the end of the row are blanks.
 */
export function readSeparator(path: string): Separator {
  const file = openSync(path, 'r')
  const bytes = Buffer.alloc(ROW_BYTES_MAX)
  const text = bytes.toString('utf8', 0, readSync(file, bytes))
  closeSync(file)
  const [row = ''] = text
    .replaceAll(/"[^"]*"/g, '""')
    .trimStart()
    .split(/[\r\n]/, 1)
  const fields = row.replaceAll(/[^,;]+/g, (field) => field.trim())
  const count = (separator: Separator) => fields.split(separator).length
  return SEPARATORS.reduce((most, one) => (count(one) > count(most) ? one : most))
}

/** Throws OperatorError that names the line. */
export async function* cutCsv(path: string): AsyncGenerator<CsvRow> {
  const parser = parse({
    delimiter: readSeparator(path),
    max_record_size: ROW_BYTES_MAX,
    record_delimiter: ['\r\n', '\n', '\r'],
    // The reader of the table checks the width.
    relax_column_count: true,
  })
  const rows: AsyncIterable<string[]> = Readable.from(readText(path)).compose(parser)
  let line = 1
  try {
    for await (const fields of rows) {
      if (fields.some((field) => field.trim() !== '')) yield { line, fields }
      line += fields.reduce((sum, field) => sum + countBreaks(field), 1)
    }
  } catch (error) {
    throw error instanceof CsvError ? explain(error, line) : error
  }
}

function countBreaks(field: string): number {
  return field.match(/\r\n|\n|\r/g)?.length ?? 0
}

async function* readText(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const chunk of createReadStream(path)) {
    yield decode(() => decoder.decode(chunk, { stream: true }))
  }
  yield decode(() => decoder.decode())
}

function decode(read: () => string): string {
  try {
    return read()
  } catch (cause) {
    throw new OperatorError('the file is not UTF-8: save it as UTF-8 first', { cause })
  }
}

const REASONS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quotation mark is not closed',
  CSV_MAX_RECORD_SIZE: 'a quotation mark is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'a quotation mark is followed by other text',
  INVALID_OPENING_QUOTE: 'a quotation mark stands within a field',
}

/**
 * `line` is where the row begins, since an unclosed quotation mark swallows the rest of the file.
 */
function explain(error: CsvError, line: number): OperatorError {
  return new OperatorError(`line ${line}: ${REASONS[error.code] ?? error.message}`, {
    cause: error,
  })
}
