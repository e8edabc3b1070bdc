/**
 * Writes comma-separated values (RFC 4180) at the speed of the reader. Spreadsheets run some cells
 * as formulas: a cell that begins like one gets an apostrophe in front.
 */
import { once } from 'node:events'
import type { Context } from '../../../../base/http/context.ts'
import { commonHeaders } from '../../../../base/http/reply.ts'

export type Cell = string | number | boolean | null

/** Includes full-width and typographic forms of the signs, which some programs take for them. */
const SIGN = '[=+\\-@\\uff1d\\uff0b\\uff0d\\uff20\\u2212\\ufe62\\ufe63\\ufe66\\ufe6b]'
/** Includes a leading tab or line break, after which some programs still look for a formula. */
const FORMULA = new RegExp(`^(?:[\\t\\r\\n]|${SIGN})`)
/**
 * A formula within a cell: programs of countries with decimal commas divide lines at semicolons, so
 * that for them a cell also begins behind a semicolon, a tab or a line break.
 */
const INNER_FORMULA = new RegExp(`([;\\t\\r\\n]"*)(?=${SIGN})`, 'g')
const QUOTED = /[",\r\n]/

export function encodeRow(cells: readonly Cell[]): string {
  return `${cells.map(encodeCell).join(',')}\r\n`
}

function encodeCell(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell !== 'string') return String(cell)
  const inside = cell.replace(INNER_FORMULA, "$1'")
  const safe = FORMULA.test(cell) && !isNumber(cell) ? `'${inside}` : inside
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function isNumber(text: string): boolean {
  return /^-?\d+(?:\.\d+)?$/.test(text)
}

interface Export {
  readonly name: string
  readonly format: 'csv' | 'jsonl'
  /** Each item is the text of one or more whole lines. */
  readonly batches: AsyncIterable<string>
}

const TYPES = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' }

/** Sends one batch of lines after the other. A failure after the first aborts the response. */
export async function sendExport(
  context: Context,
  { name, format, batches }: Export,
): Promise<void> {
  const { response, request } = context
  const iterator = batches[Symbol.asyncIterator]()
  // The first batch is read before the response head, so that its failure still gets a status.
  let batch = await iterator.next()
  try {
    response.writeHead(200, {
      ...commonHeaders(context),
      'content-type': TYPES[format],
      // The name may contain an id from the path: only characters that are safe in a header are
      // kept.
      'content-disposition': `attachment; filename="${name.replace(/[^\w.-]/g, '_')}.${format}"`,
      'cache-control': 'no-store',
    })
    while (!batch.done && !response.destroyed && request.method !== 'HEAD') {
      if (!response.write(batch.value)) await drained(response)
      batch = await iterator.next()
    }
    response.end()
  } catch (error) {
    response.destroy()
    throw error
  } finally {
    await iterator.return?.()
  }
}

/** Also resolves if the reader disconnects, since its response never drains. */
async function drained(response: Context['response']): Promise<void> {
  const settled = new AbortController()
  const { signal } = settled
  const ends = ['drain', 'close'].map((name) => once(response, name, { signal }))
  try {
    await Promise.race(ends)
  } finally {
    settled.abort()
    await Promise.allSettled(ends)
  }
}
