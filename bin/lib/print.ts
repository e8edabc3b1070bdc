/** Output: aligned tables for people, JSON for scripts. Only results go to standard output. */
import { formatAmount } from '../../server/base/lib/money.ts'
import { oneLine } from '../../server/base/lib/text/one-line.ts'

/** Control characters that JSON leaves as they are, though a terminal may act on them. */
const UNESCAPED = /[\u007f-\u009f]/g

/** The names of 64-bit numbers that are no amounts. */
const NUMBER = /(^|_)version$/

/** Prints JSON; amounts (bigint, nano-units) become decimal strings. */
export function printJson(value: unknown): void {
  const plain = (name: string, member: unknown) => {
    if (typeof member !== 'bigint') return member
    return NUMBER.test(name) ? String(member) : formatAmount(member)
  }
  const text = JSON.stringify(value, plain, 2)
  const escaped = (one: string) => `\\u00${one.charCodeAt(0).toString(16)}`
  console.log(text.replace(UNESCAPED, escaped))
}

export interface TextColumn<Row> {
  readonly title: string
  readonly cell: (row: Row) => string | number
  readonly right?: boolean
}

/** Prints rows in aligned columns, or a message if there are none. */
export function printTable<Row>(
  rows: readonly Row[],
  columns: readonly TextColumn<Row>[],
  empty: string,
): void {
  if (rows.length === 0) {
    console.log(empty)
    return
  }
  const cells = rows.map((row) => columns.map(({ cell }) => oneLine(String(cell(row)))))
  const lines = [columns.map(({ title }) => title.toUpperCase()), ...cells]
  const widths = columns.map((_, index) =>
    Math.max(...lines.map((line) => displayWidth(line[index] ?? ''))),
  )
  for (const line of lines) {
    const padded = line.map((text, index) => pad(text, widths[index] ?? 0, columns[index]?.right))
    console.log(padded.join('  ').trimEnd())
  }
}

/** Prints one object as aligned `name  value` lines; absent values are omitted. */
export function printFields(fields: Readonly<Record<string, string | number | null>>): void {
  const present = Object.entries(fields).filter(([, value]) => value !== null)
  const width = Math.max(...present.map(([name]) => displayWidth(name)))
  for (const [name, value] of present) console.log(`${pad(name, width)}  ${oneLine(String(value))}`)
}

export function printTime(time: Date | null): string {
  return time === null ? '' : time.toISOString().replace('T', ' ').slice(0, 19)
}

function pad(text: string, width: number, right = false): string {
  const blanks = ' '.repeat(Math.max(0, width - displayWidth(text)))
  return right ? blanks + text : text + blanks
}

/** East Asian characters take two columns on a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/

function displayWidth(text: string): number {
  let width = 0
  for (const character of text) width += WIDE.test(character) ? 2 : 1
  return width
}
