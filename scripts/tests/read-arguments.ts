/** The arguments of `npm test`. */
import { parseArgs } from 'node:util'

export const HELP = `Usage: npm test -- [options] [file, folder or glob ...]

Runs the named tests, or all of them, on one PostgreSQL of their own.

  npm test                                all tests
  npm test -- tests/ledger                a folder
  npm test -- 'tests/**/price*.test.ts'   a glob
  npm run test:unit                       what needs no database, no gateway process, no browser

Options:
  --unit              only tests that need no database, no other process and no browser
  --postgres <which>  embedded (the default), debian (its package as installed), a folder
                      of another version's programs, or the URL of a running server
  --rows              each statement sees the rows of the accounts that it names alone
  --name <pattern>    only tests whose name matches; may be repeated
  --concurrency <n>   processes at a time
  --slowest <n>       name the n slowest files at the end
  --help              this text
`

export interface TestArguments {
  readonly places: readonly string[]
  readonly isHelp: boolean
  readonly isUnit: boolean
  readonly isByRows: boolean
  readonly postgres: string | undefined
  readonly names: readonly string[]
  readonly concurrency: number | undefined
  readonly slowest: number
}

/** Throws with a text for people where an argument is not known. */
export function readArguments(args: readonly string[]): TestArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      unit: { type: 'boolean', default: false },
      rows: { type: 'boolean', default: false },
      postgres: { type: 'string' },
      name: { type: 'string', multiple: true, default: [] },
      concurrency: { type: 'string' },
      slowest: { type: 'string', default: '0' },
    },
  })
  return {
    places: positionals,
    isHelp: values.help,
    isUnit: values.unit,
    isByRows: values.rows,
    postgres: values.postgres,
    names: values.name,
    concurrency: values.concurrency === undefined ? undefined : readCount(values.concurrency),
    slowest: readCount(values.slowest),
  }
}

function readCount(text: string): number {
  if (!/^\d{1,3}$/.test(text)) throw new Error(`not a count: ${text}`)
  return Number(text)
}
