/** Parses CSV (RFC 4180): fields separated by commas, in quotes if they contain one. */
import { createReadStream } from 'node:fs'
import { OperatorError } from '../../../server/lib/operator-error.ts'

export interface CsvRow {
  /** The line of the file at which the row begins, from 1. */
  readonly line: number
  readonly fields: readonly string[]
}

const ROW_CHARACTERS_MAX = 1_000_000

/** Reads in chunks, for files of any size. Throws OperatorError that names the line. */
export async function* cutCsv(path: string): AsyncGenerator<CsvRow> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const cutter = createCutter()
  for await (const chunk of createReadStream(path)) {
    yield* cutter.push(decode(() => decoder.decode(chunk, { stream: true })))
  }
  yield* cutter.push(decode(() => decoder.decode()))
  yield* cutter.end()
}

function decode(read: () => string): string {
  try {
    return read()
  } catch (cause) {
    throw new OperatorError('the file is not UTF-8: save it as UTF-8 first', { cause })
  }
}

function createCutter() {
  let fields: string[] = []
  let field = ''
  let isQuoted = false
  let wasQuote = false
  let line = 1
  let start = 1

  function endRow(): CsvRow | undefined {
    const row = { line: start, fields: [...fields, field.replace(/\r$/, '')] }
    fields = []
    field = ''
    start = line
    return row.fields.some((one) => one.trim() !== '') ? row : undefined
  }

  function takeQuoted(character: string): boolean {
    if (!isQuoted) return false
    if (character === '"') {
      isQuoted = false
      wasQuote = true
    } else field += character
    return true
  }

  function take(character: string): CsvRow | undefined {
    if (character === '\n') line += 1
    if (takeQuoted(character)) return undefined
    const isDoubled = wasQuote && character === '"'
    wasQuote = false
    if (isDoubled) field += '"'
    if (character === '"') isQuoted = isDoubled || field === '' || isQuoted
    else if (character === ',') {
      fields.push(field)
      field = ''
    } else if (character === '\n') return endRow()
    else field += character
    return undefined
  }

  return {
    *push(text: string): Generator<CsvRow> {
      for (const character of text) {
        const row = take(character)
        if (row) yield row
        if (field.length > ROW_CHARACTERS_MAX) throw openQuote(start)
      }
    },
    *end(): Generator<CsvRow> {
      if (isQuoted) throw openQuote(start)
      const row = field === '' && fields.length === 0 ? undefined : endRow()
      if (row) yield row
    },
  }
}

function openQuote(line: number): OperatorError {
  return new OperatorError(`line ${line}: a quotation mark is not closed`)
}
