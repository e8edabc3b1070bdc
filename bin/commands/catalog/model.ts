/** `tributary model …`: models, their prices and routes. */
import { type Command, Option } from 'commander'
import { MODEL_TYPES } from '../../../server/money/catalog/catalog.ts'
import {
  describeStoredModel,
  listModelSummaries,
  type ModelSummary,
} from '../../../server/money/catalog/describe.ts'
import { listTakenOut, type TakenOutRow } from '../../../server/money/usage/taken-out-store.ts'
import { describePrice } from '../../lib/price-words.ts'
import { printFields, printJson, printTable, printTime } from '../../lib/print.ts'
import { withSession } from '../../lib/session.ts'
import { tryModels } from './try-model.ts'

interface ListOptions {
  readonly type?: string
  readonly all?: boolean
  readonly json?: boolean
}

export function addModelCommands(program: Command): void {
  const model = program.command('model').description('list, show and try models')
  model
    .command('list')
    .description('list models with their prices')
    .addOption(new Option('--type <type>', 'only models of this type').choices(MODEL_TYPES))
    .option('--all', 'include retired ones')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  tributary model list --type chat')
    .action((options: ListOptions) =>
      withSession(async ({ sql }) => {
        const rows = (await listModelSummaries(sql, options.all ?? false)).filter(
          ({ type }) => options.type === undefined || type === options.type,
        )
        if (options.json) return printJson(rows)
        printModels(rows)
      }),
    )
  model
    .command('show <model>')
    .description('show one model: prices, routes, limits, tools taken out')
    .option('--json', 'as JSON')
    .action((id: string, options: { readonly json?: boolean }) =>
      withSession(async ({ sql }) => {
        const found = await describeStoredModel(sql, id)
        const takenOut = await listTakenOut(sql, id)
        const shown = takenOut.map((row) => ({ ...row, answers: Number(row.answers) }))
        if (options.json) return printJson({ ...found, tools_taken_out: shown })
        printModel(found)
        printTakenOut(takenOut)
      }),
    )
  model
    .command('try <file>')
    .description('show the requests that the video models of a catalog file would send')
    .option('--model <id>', 'only this model')
    .option('--body <json>', 'fields of the request, such as \'{"duration": 8}\'')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Nothing is sent, and keys of the environment are not needed. For each route: the
request, the first poll of the task, what would be held, and the facts by which
prices are chosen.

Examples:
  tributary model try catalog/fal.json --model fal-ai/veo3/fast
  tributary model try my-models.json \\
    --body '{"duration": 8, "resolution": "1080p"}'`,
    )
    .action(tryModels)
}

function printModels(rows: readonly ModelSummary[]): void {
  printTable(
    rows,
    [
      { title: 'id', cell: ({ id }) => id },
      { title: 'type', cell: ({ type }) => type },
      { title: 'status', cell: ({ status }) => status },
      { title: 'routes', cell: ({ routes }) => routes.map(({ channel }) => channel).join(', ') },
      { title: 'prices', cell: describePrices },
      { title: 'source', cell: ({ source }) => source },
    ],
    'There are no models yet: tributary apply catalog/….json',
  )
}

function describePrices({ free, prices, currency }: ModelSummary): string {
  if (free) return 'free'
  const own = prices.filter(({ when }) => !when)
  const texts = own.map((price) => describePrice(price, currency ?? ''))
  const conditional = prices.length - texts.length
  const more = conditional > 0 ? [`${conditional} with conditions`] : []
  return [...texts, ...more].join(', ')
}

function describeLimits(limits: ModelSummary['limits']): string {
  const texts = Object.entries(limits).map(([name, limit]) => `${name} ${limit}`)
  return texts.join(', ') || 'none'
}

/** Prints the tools that requests offered and that had no price. */
function printTakenOut(rows: readonly TakenOutRow[]): void {
  if (rows.length === 0) return
  console.log()
  printTable(
    rows,
    [
      { title: 'tool without a price', cell: ({ tool }) => tool },
      { title: 'taken out', cell: ({ answers }) => answers.toLocaleString('en'), right: true },
      { title: 'since', cell: (row) => printTime(row.first_at) },
      { title: 'last', cell: (row) => printTime(row.last_at) },
      { title: 'sold by a price for', cell: ({ unit }) => unit ?? 'no unit' },
    ],
    '',
  )
}

function printModel(model: ModelSummary): void {
  printFields({
    id: model.id,
    type: model.type,
    status: model.status,
    source: model.source,
    updated: printTime(model.updated_at),
    'price version': model.price_version,
    limits: describeLimits(model.limits),
    ...Object.fromEntries(
      Object.entries(model.details).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    ),
  })
  console.log()
  printTable(
    model.prices,
    [
      { title: 'price', cell: (price) => describePrice(price, model.currency ?? '') },
      { title: 'when', cell: ({ when }) => (when ? JSON.stringify(when) : 'always') },
    ],
    'It is free.',
  )
  for (const { effective_from, currency, prices } of model.planned) {
    console.log()
    printTable(
      prices,
      [
        {
          title: `price from ${printTime(effective_from)} UTC`,
          cell: (price) => describePrice(price, currency),
        },
        { title: 'when', cell: ({ when }) => (when ? JSON.stringify(when) : 'always') },
      ],
      '',
    )
  }
  console.log()
  printTable(
    model.routes,
    [
      { title: 'route to', cell: ({ channel }) => channel },
      { title: 'as', cell: (route) => route.upstream_model },
      { title: 'priority', cell: ({ priority }) => priority, right: true },
      { title: 'weight', cell: ({ weight }) => weight, right: true },
    ],
    'It has no routes.',
  )
}
