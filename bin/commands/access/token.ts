/** `tributary token …`: access tokens, with which scripts use the admin API as a person. */
import type { Command } from 'commander'
import type { Sql } from 'postgres'
import { writeAudit } from '../../../server/api/sign-in/audit-log/audit-log.ts'
import { requirePerson } from '../../../server/api/sign-in/people/people.ts'
import {
  revokeToken,
  selectTokens,
  type TokenRow,
  type TokenScope,
} from '../../../server/api/sign-in/tokens/access-token-store.ts'
import { createAccessToken, showToken } from '../../../server/api/sign-in/tokens/access-tokens.ts'
import { type None, noneToNull, orNone, parseExpiryOption, tokenScope } from '../../lib/parse.ts'
import { printFields, printJson, printTable, printTime } from '../../lib/print.ts'
import { actor, withSession } from '../../lib/session.ts'

interface JsonOption {
  readonly json?: boolean
}

const LIST_MAX = 10_000

export function addTokenCommands(program: Command): void {
  const token = program
    .command('token')
    .description('manage access tokens, with which scripts use the admin API')
  addCreate(token)
  addList(token)
  addRevoke(token)
}

interface CreateOptions extends JsonOption {
  readonly person: string
  readonly name: string
  readonly scope: TokenScope
  readonly sensitive?: boolean
  readonly expires?: Date | None
}

function addCreate(token: Command): void {
  token
    .command('create')
    .description('create an access token; it is shown only once')
    .requiredOption('--person <user>', 'person whose roles it has, by e-mail address or id')
    .requiredOption('--name <name>', 'name of the script, for the list and the audit log')
    .option('--scope <scope>', 'read or write', tokenScope, 'read')
    .option('--sensitive', 'also allow reading secrets, setting prices and crediting accounts')
    .option(
      '--expires <when>',
      'a day such as 2030-12-31, or 30d, or none (default: 90d)',
      orNone(parseExpiryOption),
    )
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
It never has more rights than its person, and none that are reserved for people:
sign-ins, passwords, second factors, other people, tokens. With --sensitive its
holder needs no second factor for secrets, prices and credits: give it to few
scripts, and let it expire.

Examples:
  tributary token create --person kim@example.com --name dashboards
  tributary token create --person kim@example.com --name billing \\
    --scope write --sensitive \\
    --expires 30d`,
    )
    .action((options: CreateOptions) => withSession(({ sql }) => create(sql, options)))
}

async function create(sql: Sql, options: CreateOptions): Promise<void> {
  const { name, scope, sensitive: isSensitive = false, expires } = options
  const person = await requirePerson(sql, options.person)
  const created = await createAccessToken(sql, {
    personId: person.id,
    name,
    scope,
    isSensitive,
    createdBy: actor(),
    expiresAt: expires === undefined ? undefined : noneToNull(expires),
  })
  const details = { token: created.id, name, scope, sensitive: isSensitive }
  await writeAudit(sql, { actor: actor(), action: 'token created', target: person.id, details })
  show(created, options)
}

function addList(token: Command): void {
  token
    .command('list')
    .description('list access tokens, newest first')
    .option('--person <user>', 'only one person’s: e-mail address or id')
    .option('--json', 'as JSON')
    .action((options: JsonOption & { readonly person?: string }) =>
      withSession(async ({ sql }) => {
        const { person } = options
        const of = person === undefined ? {} : { personId: (await requirePerson(sql, person)).id }
        list(await selectTokens(sql, { ...of, limit: LIST_MAX }), options)
      }),
    )
}

function addRevoke(token: Command): void {
  token
    .command('revoke <token>')
    .description('revoke a token at once, everywhere; <token> is its id')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  tributary token revoke tok_…')
    .action((id: string, options: JsonOption) =>
      withSession(async ({ sql }) => {
        await showToken(sql, id)
        await revokeToken(sql, id)
        await writeAudit(sql, { actor: actor(), action: 'token revoked', target: id })
        show(await showToken(sql, id), options)
      }),
    )
}

function list(rows: readonly TokenRow[], options: JsonOption) {
  if (options.json) return printJson(rows)
  printTable(
    rows,
    [
      { title: 'id', cell: ({ id }) => id },
      { title: 'person', cell: ({ email }) => email },
      { title: 'name', cell: ({ name }) => name },
      { title: 'token', cell: ({ display }) => display },
      { title: 'scope', cell: describeScope },
      { title: 'state', cell: ({ state }) => state },
      { title: 'last used', cell: (row) => printTime(row.used_at) || 'never' },
      { title: 'expires', cell: (row) => printTime(row.expires_at) || 'never' },
    ],
    'There are no access tokens yet: tributary token create --person … --name …',
  )
}

function describeScope({ scope, is_sensitive }: TokenRow): string {
  return is_sensitive ? `${scope}, sensitive` : scope
}

function show(row: TokenRow & { readonly token?: string }, options: JsonOption) {
  if (options.json) return printJson(row)
  printFields({
    id: row.id,
    token: row.token ?? row.display,
    person: row.email,
    name: row.name,
    scope: describeScope(row),
    state: row.state,
    expires: row.expires_at ? `${printTime(row.expires_at)} UTC` : 'never',
  })
  if (row.token) console.log('\nSave the token now: it cannot be shown again.')
}
