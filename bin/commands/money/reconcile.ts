/** `tributary reconcile`: compares a vendor's export with the records and explains differences. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { formatAmount, parseAmount } from '../../../server/base/lib/money.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { readTimeZone } from '../../../server/base/lib/text/time-zone.ts'
import { UNITS } from '../../../server/base/lib/units.ts'
import { withReadOnlySnapshot } from '../../../server/money/ledger/audit/audit-store.ts'
import {
  channelExists,
  findArchivedPeriods,
  sumCosts,
  sumUnits,
} from '../../../server/money/usage/reconcile-store.ts'
import { readDay } from '../../lib/invoices/invoice.ts'
import { openInvoice } from '../../lib/invoices/open-invoice.ts'
import { printJson, printTable } from '../../lib/print.ts'
import {
  addUpBill,
  type BillComparison,
  compare,
  countInputTokens,
  countOutput,
  type Tolerance,
} from '../../lib/reconcile/compare.ts'
import {
  type ExplainedDifference,
  explainDifference,
  KIND_TEXTS,
} from '../../lib/reconcile/explain.ts'
import { withSession } from '../../lib/session.ts'

interface Flags {
  readonly channel: string
  readonly invoice: string
  readonly map?: Readonly<Record<string, string>>
  readonly modelMap?: Readonly<Record<string, string>>
  readonly timeZone?: string
  readonly from?: string
  readonly to?: string
  readonly tolerance: Tolerance
  readonly json?: boolean
}

type Row = BillComparison & Partial<ExplainedDifference>

/** Further differences are listed without an explanation. */
const EXPLAINED_MAX = 50
const COLUMNS = new Set<string>([
  'date',
  'model',
  'amount',
  'currency',
  'requests',
  'input',
  'cached',
  'cache_write',
  'output',
  ...UNITS,
])

export function addReconcileCommand(program: Command): void {
  program
    .command('reconcile')
    .description("compare a vendor's bill or usage export with the records of a channel")
    .requiredOption('--channel <id>', 'channel whose calls the vendor billed')
    .requiredOption('--invoice <file>', 'vendor’s export: JSON or CSV')
    .option('--map <columns>', 'CSV columns: date=…,model=…,amount=…,currency=…,input=…', columns)
    .option('--model-map <names>', "the vendor's names of our models: theirs=ours,…", pairs)
    .option('--time-zone <zone>', 'time zone of a CSV’s days, such as Asia/Shanghai', zone)
    .option('--from <day>', 'first day to compare', dayOption)
    .option('--to <day>', 'day after the last one', dayOption)
    .addOption(
      new Option('--tolerance <amount>', 'per row: an amount, or a share such as 0.5%')
        .argParser(tolerance)
        .default({ nanos: 10_000_000n, share: 0 }, '0.01'),
    )
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Reads OpenAI's organization costs and completions usage, Anthropic's cost and
messages usage reports (pages of JSON, days of UTC), Volcengine's bill by day
(CSV, days of Asia/Shanghai), and any CSV in UTF-8 whose columns are named with
--map, with commas, semicolons or tabs between fields. The tolerance is 0.01
unless given; for an export of tokens alone only a share counts. Exit code 1
when a row differs by more.

Examples:
  tributary reconcile --channel openai --invoice costs.json
  tributary reconcile --channel ark --invoice bill.csv \\
    --model-map "Doubao-pro=doubao-pro-32k"
  tributary reconcile --channel other --invoice usage.csv \\
    --time-zone Europe/Berlin \\
    --map "date=Day,model=Model,amount=Cost,currency=Currency" --tolerance 0.5%`,
    )
    .action(run)
}

async function run(flags: Flags): Promise<void> {
  const { channel, from, to, modelMap: models = {} } = flags
  const invoice = await openInvoice(flags.invoice, flags.map)
  const timeZone = flags.timeZone ?? invoice.timeZone
  if (invoice.format === 'pages of buckets' && timeZone !== invoice.timeZone) {
    throw new OperatorError('the buckets of this export are UTC days: omit --time-zone')
  }
  const vendors = await addUpBill(invoice.rows, { from, to })
  const filter = { channel, timeZone, from: vendors.from, to: vendors.to }
  const rows = await withSession(({ sql }) =>
    withReadOnlySnapshot(sql, async (view) => {
      if (!(await channelExists(view, channel))) {
        throw new OperatorError(`there is no channel ${channel}`)
      }
      const archived = await findArchivedPeriods(view, filter)
      if (archived.length > 0) throw new OperatorError(refuseArchived(archived))
      const records = { days: await sumCosts(view, filter), units: await sumUnits(view, filter) }
      const compared = compare(vendors, records, { models, tolerance: flags.tolerance })
      const explained: Row[] = []
      let remaining = EXPLAINED_MAX
      for (const row of compared) {
        const isExplained = !row.within && remaining-- > 0
        const more = isExplained
          ? await explainDifference(view, filter, row, vendors.hasAmounts)
          : {}
        explained.push({ ...row, ...more })
      }
      return explained
    }),
  )
  const isWithin = rows.every(({ within }) => within)
  if (!isWithin) process.exitCode = 1
  const { currency = null, hasAmounts } = vendors
  if (flags.json) return printJson(toJson(rows, { ...filter, currency, isWithin, hasAmounts }))
  printRows(rows, hasAmounts, currency)
}

function refuseArchived(archived: Awaited<ReturnType<typeof findArchivedPeriods>>): string {
  const names = archived.map(({ name }) => name)
  return (
    `the calls of ${names.join(', ')} are archived: choose other days with --from and --to, or ` +
    `read them with \`tributary archive read --${archived[0]?.kind} ${names[0]}\``
  )
}

function toJson(
  rows: readonly Row[],
  about: {
    readonly channel: string
    readonly timeZone: string
    readonly from: string
    readonly to: string
    readonly currency: string | null
    readonly isWithin: boolean
    readonly hasAmounts: boolean
  },
) {
  const { isWithin: ok, timeZone: time_zone, hasAmounts, ...rest } = about
  return {
    ...rest,
    time_zone,
    ok,
    compared: hasAmounts ? 'amounts' : 'tokens',
    rows: rows.map(({ ourModels, difference, ...row }) => ({
      ...row,
      our_models: ourModels,
      difference: hasAmounts ? difference : Number(difference),
    })),
  }
}

function printRows(rows: readonly Row[], hasAmounts: boolean, currency: string | null): void {
  const show = (nanos: bigint) => (hasAmounts ? formatAmount(nanos) : String(nanos))
  const side = ({ vendor, ours }: Row, name: 'vendor' | 'ours') => {
    const one = name === 'vendor' ? vendor : ours
    return hasAmounts ? formatAmount(one.amount) : `${countInputTokens(one)} + ${countOutput(one)}`
  }
  printTable(
    rows,
    [
      { title: 'day', cell: ({ day }) => day },
      { title: 'model', cell: ({ model }) => model },
      { title: 'calls', cell: ({ ours }) => ours.requests, right: true },
      { title: 'vendor', cell: (row) => side(row, 'vendor'), right: true },
      { title: 'ours', cell: (row) => side(row, 'ours'), right: true },
      { title: 'difference', cell: ({ difference }) => show(difference), right: true },
      {
        title: hasAmounts ? (currency ?? '') : 'tokens',
        cell: ({ within }) => (within ? 'ok' : 'DIFFERS'),
      },
    ],
    'Neither the export nor the records contain anything in this period.',
  )
  for (const row of rows) {
    if (row.within) continue
    console.log(
      `\n${row.day} ${row.model}: the vendor has ${show(row.difference)} more than the records.`,
    )
    for (const { kind, count, calls } of row.explanations ?? []) {
      const first = calls
        .slice(0, 5)
        .map(({ id, cost }) => `${id} (${cost === null ? 'unknown' : formatAmount(cost)})`)
      console.log(`  ${KIND_TEXTS[kind]} (${count}): ${first.join(', ')}${count > 5 ? ', …' : ''}`)
    }
    if (row.matching?.length) console.log(`  These add up to it: ${row.matching.join(', ')}`)
    else if (row.explanations?.length === 0) console.log('  No recorded call explains it.')
  }
}

/** Parses `a=b,c=d`; the text after the last `=` is the gateway's name. */
function pairs(text: string): Record<string, string> {
  const items = text.split(',').map((item) => {
    const at = item.lastIndexOf('=')
    if (at < 1 || at === item.length - 1) throw new InvalidArgumentError('Write a=b,c=d.')
    return [item.slice(0, at).trim(), item.slice(at + 1).trim()] as const
  })
  return Object.fromEntries(items)
}

function columns(text: string): Record<string, string> {
  const map = pairs(text)
  const wrong = Object.keys(map).find((name) => !COLUMNS.has(name))
  if (wrong !== undefined) {
    throw new InvalidArgumentError(`${wrong} is not one of ${[...COLUMNS].join(', ')}.`)
  }
  return map
}

function zone(text: string): string {
  const name = readTimeZone(text)
  if (name !== undefined) return name
  throw new InvalidArgumentError('Write a time zone such as UTC or Asia/Shanghai.')
}

function dayOption(text: string): string {
  try {
    return readDay(text, 'the day')
  } catch {
    throw new InvalidArgumentError('Write a day such as 2030-01-31.')
  }
}

function tolerance(text: string): Tolerance {
  const [, percent] = /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(text) ?? []
  if (percent !== undefined) return { nanos: 0n, share: Number(percent) / 100 }
  const nanos = parseAmount(text)
  if (nanos === undefined || nanos < 0n) throw new InvalidArgumentError('Write 0.01 or 0.5%.')
  return { nanos, share: 0 }
}
