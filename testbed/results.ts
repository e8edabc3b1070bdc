/** Reports of proofs and benchmarks: text for people, JSON beside it, and the conditions. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '..', 'benchmarks', 'results')

/** The conditions that the figures depend on. */
export interface Conditions {
  readonly command: string
  readonly date: string
  readonly machine: string
  readonly node: string
  /** The kind of a PostgreSQL that is not the embedded one. */
  readonly postgres?: 'debian' | 'other'
}

/** `postgres` is the option of this name. */
export function readConditions(command: string, postgres = 'embedded'): Conditions {
  const gigabytes = Math.round(totalmem() / 1024 ** 3)
  const kind = postgres === 'debian' ? postgres : 'other'
  const isOwn = postgres === 'embedded'
  const more = `${/ -- /.test(command) ? '' : ' --'} --postgres ${kind === 'debian' ? kind : 'URL'}`
  return {
    command: isOwn ? command : command + more,
    date: new Date().toISOString(),
    machine: `${availableParallelism()} cores, ${gigabytes} GB of memory`,
    node: process.version,
    ...(isOwn ? {} : { postgres: kind }),
  }
}

/**
 * Writes results/NAME.json and results/NAME.txt and prints the text. The names say where the
 * PostgreSQL is not the embedded one.
 */
export function report(
  name: string,
  conditions: Conditions,
  result: object,
  lines: readonly string[],
): void {
  const head = [
    `$ ${conditions.command}`,
    `${conditions.date}, ${conditions.machine}, Node ${conditions.node}`,
    '',
  ]
  const text = `${[...head, ...lines].join('\n')}\n`
  const file = conditions.postgres ? `${name}-on-${conditions.postgres}` : name
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(
    join(FOLDER, `${file}.json`),
    `${JSON.stringify({ ...conditions, ...result }, null, 2)}\n`,
  )
  writeFileSync(join(FOLDER, `${file}.txt`), text)
  console.log(`\n${text}`)
}

/** Aligns columns to their widest cell: the first to the left, the others to the right. */
export function table(rows: readonly (readonly (string | number)[])[]): string[] {
  const cells = rows.map((row) => row.map(String))
  const widths: number[] = []
  for (const row of cells) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, cell.length)
    }
  }
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
  return cells.map((row) => row.map(pad).join('  ').trimEnd())
}

/** Returns the value below which the share `q` of the values lies; 0 without values. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** Rounds to three significant digits, the precision of the measurements. */
export function round(value: number): number {
  return value === 0 ? 0 : Number(value.toPrecision(3))
}
