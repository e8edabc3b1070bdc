/** `tributary subject …`: the people and programs that call with tokens of an issuer. */
import type { Command } from 'commander'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import {
  type SubjectRow,
  selectSubjects,
  updateSubjects,
} from '../../../server/money/accounts/tokens/subject-store.ts'
import { printJson, printTable, printTime } from '../../lib/print.ts'
import { recordAct, withSession } from '../../lib/session.ts'

interface SubjectOptions {
  readonly issuer: string
  readonly subject?: string
  readonly json?: boolean
}

const LIST_MAX = 10_000

export function addSubjectCommands(program: Command): void {
  const subject = program
    .command('subject')
    .description('list, disable and enable the callers of a token issuer')
  addCommand(subject, 'list', 'list the subjects that have called')
    .addHelpText('after', '\nExample:\n  tributary subject list --issuer okta')
    .action(({ json, ...filter }: SubjectOptions) =>
      withSession(async ({ sql }) => show(await selectSubjects(sql, filter, LIST_MAX), json)),
    )
  addSwitch(subject, 'disable', 'refuse the tokens of a subject within 4 seconds, everywhere')
  addSwitch(subject, 'enable', 'accept the tokens of a disabled subject again')
}

function addCommand(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .requiredOption('--issuer <issuer>', 'id of the issuer in the catalog')
    .option('--subject <subject>', 'its "sub"; without it, all subjects that have called')
    .option('--json', 'as JSON')
}

function addSwitch(parent: Command, name: 'disable' | 'enable', description: string): void {
  addCommand(parent, name, description)
    .addHelpText(
      'after',
      `
Subjects that have not called yet are not affected: to stop a whole issuer,
remove it from the catalog file and apply the file.

Example:
  tributary subject ${name} --issuer okta --subject 00u1a2b3`,
    )
    .action(({ json, ...filter }: SubjectOptions) =>
      withSession(async ({ sql }) => {
        for (const id of await updateSubjects(sql, filter, name === 'disable')) {
          await recordAct(sql, `POST /operator/subjects/:key_id/${name}`, { target: id }, filter)
        }
        const rows = await selectSubjects(sql, filter, LIST_MAX)
        if (rows.length === 0) {
          const { issuer, subject } = filter
          throw new OperatorError(
            `no subject${subject === undefined ? '' : ` "${subject}"`} of ${issuer} has called: \
tributary subject list --issuer ${issuer}`,
          )
        }
        show(rows, json)
      }),
    )
}

function show(rows: readonly SubjectRow[], json = false) {
  if (json) return printJson(rows)
  printTable(
    rows,
    [
      { title: 'subject', cell: ({ subject }) => subject },
      { title: 'member', cell: ({ member }) => member ?? '' },
      { title: 'account', cell: ({ account_id: account }) => account },
      { title: 'state', cell: ({ state }) => state },
      { title: 'calls', cell: ({ calls }) => String(calls), right: true },
      { title: 'last used', cell: (row) => printTime(row.last_used_at) },
      { title: 'key', cell: ({ id }) => id },
    ],
    'No subject of this issuer has called yet.',
  )
}
