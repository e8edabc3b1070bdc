// Writes the tables of settings, metrics and model types into the guides. `--check` only compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listVariables } from '../server/api/config/config.ts'
import { listMetrics } from '../server/api/metrics/metrics.ts'
import { INPUT_UNITS, OUTPUT_UNITS, type Unit } from '../server/base/lib/units.ts'
import { MODEL_TYPE_ROWS } from '../server/money/catalog/model-types.ts'

const CELL = '| --- '

const rowOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`

function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return [rowOf(titles), `${CELL.repeat(titles.length)}|`, ...rows.map(rowOf)].join('\n')
}

const quote = (text: string) => (text === '' ? '' : `\`${text}\``)

const SIDES = [
  ['every unit of input', INPUT_UNITS],
  ['every unit of output', OUTPUT_UNITS],
] as const

function describeUnits(units: readonly Unit[]): string {
  const whole = SIDES.filter(([, side]) => side.every((unit) => units.includes(unit)))
  const covered = new Set(whole.flatMap(([, side]) => side))
  const others = units.filter((unit) => !covered.has(unit)).map(quote)
  return [...whole.map(([name]) => name), ...others].join(', ')
}

/** Returns the tables of each guide by the first cells of their heads. */
function buildTables(): Readonly<Record<string, ReadonlyMap<string, string>>> {
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
  const types = Object.entries(MODEL_TYPE_ROWS).map(([name, { units }]) => [
    quote(name),
    describeUnits(units),
  ])
  return {
    'operate.md': new Map([
      ['| Variable |', tableOf(['Variable', 'Default', 'Meaning'], settings)],
      ['| Metric |', tableOf(['Metric', 'Type', 'Labels', 'Meaning'], metrics)],
    ]),
    'catalog.md': new Map([['| Type |', tableOf(['Type', 'Sold by'], types)]]),
  }
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

for (const [name, tables] of Object.entries(buildTables())) {
  const guide = join(import.meta.dirname, '..', 'docs', 'guides', name)
  const page = readFileSync(guide, 'utf8')
  const built = replaceTables(page, tables)
  if (built === page) continue
  if (!process.argv.includes('--check')) writeFileSync(guide, built)
  else {
    console.error(`docs/guides/${name} is out of date: node scripts/build-reference.ts`)
    process.exitCode = 1
  }
}
