/** `tributary account prices`: what an account pays, and its own prices. */
import type { Command } from 'commander'
import { OperatorError, refuseUnknownAccount } from '../../../server/base/lib/operator-error.ts'
import { showAccount } from '../../../server/money/accounts/manage-accounts.ts'
import { selectPayer } from '../../../server/money/accounts/price-list-store.ts'
import { clearOwnPrices, setOwnPrices } from '../../../server/money/catalog/apply/edit-lists.ts'
import { CatalogError } from '../../../server/money/catalog/apply/file.ts'
import { type ShownPrice, showPrices } from '../../../server/money/catalog/lists/show-prices.ts'
import { describePrice } from '../../lib/price-words.ts'
import { printJson, printTable } from '../../lib/print.ts'
import { readText } from '../../lib/read-configuration.ts'
import { type CommandSession, recordAct, withSession } from '../../lib/session.ts'

interface JsonOption {
  readonly json?: boolean
}

const ofAccount = (id: string) => ({ target: id, accountId: id })

interface PricesOptions extends JsonOption {
  readonly model?: string
  readonly set?: string
  readonly clear?: boolean
}

export function addPrices(account: Command): void {
  account
    .command('prices <account>')
    .description('show what an account pays for each model, and why; or set its own prices')
    .option('--model <model>', 'one model')
    .option('--set <file>', 'replace its own prices by "default", "prices" and "planned_prices"')
    .option('--clear', 'remove its own prices')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
An account's own prices override its price list, which applies to the models
that they do not name.

Examples:
  tributary account prices acct_… --model gpt-5.4
  echo '{"prices": {"gpt-5.4": {"of": "parent", "factor": "0.8"}}}' > acme.json
  tributary account prices acct_… --set acme.json`,
    )
    .action((id: string, options: PricesOptions) =>
      withSession(async (session) => {
        await change(session, id, options)
        await print(session, id, options)
      }),
    )
}

async function change({ sql }: CommandSession, id: string, options: PricesOptions): Promise<void> {
  const { set, clear } = options
  if (set !== undefined && clear) throw new OperatorError('either --set or --clear')
  const path = '/operator/accounts/:account_id/prices'
  if (clear) {
    await showAccount(sql, id)
    if (await clearOwnPrices(sql, id)) await recordAct(sql, `DELETE ${path}`, ofAccount(id))
  }
  if (set === undefined) return
  const { currency } = await showAccount(sql, id)
  const definition = readDefinition(set)
  const { warnings } = await setOwnPrices({ sql }, { id, currency }, definition).catch((error) => {
    throw error instanceof CatalogError ? inFile(set, error) : error
  })
  for (const warning of warnings) console.error(`warning: ${warning}`)
  await recordAct(sql, `PUT ${path}`, ofAccount(id), definition)
}

/** The mistakes with paths in this file, which contains the members of a single list. */
function inFile(file: string, { mistakes }: CatalogError): CatalogError {
  return new CatalogError(
    mistakes.map((one) => ({ ...one, file, path: one.path.replace(/^price_lists\[0\]\.?/, '') })),
  )
}

function readDefinition(path: string): Readonly<Record<string, unknown>> {
  const text = readText(path)
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(`${path}: ${reason}`)
  }
  throw new OperatorError(`${path}: must be an object with "default", "prices" or both`)
}

async function print({ sql }: CommandSession, id: string, options: PricesOptions): Promise<void> {
  const payer = await selectPayer(sql, id)
  if (!payer) refuseUnknownAccount(id)
  const rows = await showPrices(sql, payer, options.model)
  if (options.model !== undefined && rows.length === 0) {
    throw new OperatorError(`no model ${options.model} is sold to ${id}`)
  }
  if (options.json) return printJson(rows.map(describeRow))
  printTable(
    rows.flatMap(toLines),
    [
      { title: 'model', cell: ({ row }) => row?.model ?? '' },
      { title: 'list', cell: ({ row }) => (row ? (row.list ?? 'free') : '') },
      { title: 'version', cell: ({ row }) => row?.version ?? '', right: true },
      { title: 'because', cell: ({ row }) => (row ? describeOrigin(row.origin) : '') },
      { title: 'price', cell: ({ price }) => price },
      { title: 'when', cell: ({ when }) => when },
      { title: '', cell: ({ row }) => (row?.is_below_cost ? 'below cost' : '') },
    ],
    'No model is sold to this account.',
  )
}

interface Line {
  /** The model, beside its first price. */
  readonly row?: ShownPrice
  readonly price: string
  readonly when: string
}

function toLines(row: ShownPrice): Line[] {
  const prices = row.prices.map((one) => ({
    price: describePrice(one, row.currency),
    when: one.when ? JSON.stringify(one.when) : 'always',
  }))
  const [first = { price: '', when: '' }, ...others] = prices
  return [{ row, ...first }, ...others]
}

/** The members that scripts depend on. */
function describeRow(row: ShownPrice) {
  const { model, currency, list, version, origin, prices, base_prices, cost } = row
  return { model, currency, list, version, origin, prices, base_prices, cost }
}

function describeOrigin(origin: ShownPrice['origin']): string {
  if (!origin) return 'base price'
  if ('of' in origin) return `${origin.of} × ${origin.factor}`
  return 'own price'
}
