// Writes the tables of settings and metrics into the operator's guide. `--check` only compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listVariables } from '../server/config/config.ts'
import { listMetrics } from '../server/metrics/metrics.ts'

const GUIDE = join(import.meta.dirname, '..', 'docs', 'guides', 'operate.md')
const CELL = '| --- '

const rowOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return [rowOf(titles), `${CELL.repeat(titles.length)}|`, ...rows.map(rowOf)].join('\n')
}

const quote = (text: string) => (text === '' ? '' : `\`${text}\``)

/** Returns the tables by the first cells of their heads. */
function buildTables(): ReadonlyMap<string, string> {
  const settings = listVariables().map(({ name, default: initial, description }) => [
    quote(name),
    quote(initial),
    description,
  ])
  const metrics = listMetrics().map(({ name, type, labels, help }) => [
    quote(name),
    type,
    labels.map(quote).join(', '),
    help,
  ])
  return new Map([
    ['| Variable |', tableOf(['Variable', 'Default', 'Meaning'], settings)],
    ['| Metric |', tableOf(['Metric', 'Type', 'Labels', 'Meaning'], metrics)],
  ])
}

/** Replaces each table of the page whose head begins as one of the tables. */
function replaceTables(page: string, tables: ReadonlyMap<string, string>): string {
  let text = page
  for (const [head, table] of tables) {
    const start = text.indexOf(head)
    if (start < 0) throw new Error(`the guide has no table that begins with ${head}`)
    const end = text.indexOf('\n\n', start)
    text = text.slice(0, start) + table + text.slice(end < 0 ? text.length : end)
  }
  return text
}

const page = readFileSync(GUIDE, 'utf8')
const built = replaceTables(page, buildTables())
if (process.argv.includes('--check')) {
  if (built !== page) {
    console.error('docs/guides/operate.md is out of date: node scripts/build-reference.ts')
    process.exitCode = 1
  }
} else {
  writeFileSync(GUIDE, built)
}
