/**
 * `tributary user …`: people who may sign in to the console, for when the console cannot be used.
 */
import type { Command } from 'commander'
import type { Sql } from 'postgres'
import { openSignIn } from '../../../server/api/app/open-sign-in.ts'
import { loadConfig } from '../../../server/api/config/config.ts'
import { openSecretBox } from '../../../server/api/config/secret-key-file.ts'
import { writeAudit } from '../../../server/api/sign-in/audit-log/audit-log.ts'
import { type CreatedLink, invite, offerReset } from '../../../server/api/sign-in/people/links.ts'
import {
  createPerson,
  dropFactors,
  requirePerson,
  setDisabled,
} from '../../../server/api/sign-in/people/people.ts'
import {
  type PersonLanguage,
  type PersonRow,
  putMembership,
  selectPeople,
} from '../../../server/api/sign-in/person-store.ts'
import type { SignIn } from '../../../server/api/sign-in/sign-in.ts'
import type { MemberRole } from '../../../server/base/lib/member-roles.ts'
import { showAccount } from '../../../server/money/accounts/manage-accounts.ts'
import { parseLanguageOption, parseRoleOption } from '../../lib/parse.ts'
import { printFields, printJson, printTable, printTime } from '../../lib/print.ts'
import { actor, withSession } from '../../lib/session.ts'

interface JsonOption {
  readonly json?: boolean
}

const LIST_MAX = 10_000
const ROLES = 'owner, billing, developer or viewer'

export function addUserCommands(program: Command): void {
  const user = program.command('user').description('manage console users')
  addCreate(user)
  user
    .command('list')
    .description('list console users, newest first')
    .option('--json', 'as JSON')
    .action((options: JsonOption) =>
      withSignIn(async ({ sql }) => list(await selectPeople(sql, { limit: LIST_MAX }), options)),
    )
  addDisable(user, 'disable', true, 'lock a user and end their keys, tokens and sessions')
  addDisable(user, 'enable', false, 'unlock a user')
  addReset(user)
  addInvite(user)
}

interface CreateOptions extends JsonOption {
  readonly email: string
  readonly name: string
  readonly language: PersonLanguage
  readonly operator?: boolean
  readonly account?: string
  readonly role: MemberRole
}

function addCreate(user: Command): void {
  user
    .command('create')
    .description('create a user and print a link for choosing a password')
    .requiredOption('--email <address>', 'sign-in address')
    .requiredOption('--name <name>', 'display name')
    .option('--language <code>', 'en or zh', parseLanguageOption, 'en')
    .option('--operator', 'grant all permissions')
    .option('--account <account>', 'account to join')
    .option('--role <role>', ROLES, parseRoleOption, 'owner')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  tributary user create --email kim@example.com --name Kim --operator',
    )
    .action((options: CreateOptions) =>
      withSignIn(async ({ sql, signIn }) => {
        const { account: accountId, operator: isOperator = false, role, ...rest } = options
        if (accountId) await showAccount(sql, accountId)
        const person = await createPerson(signIn.parts, { ...rest, isOperator, password: null })
        if (accountId) await putMembership(sql, { personId: person.id, accountId, role })
        const created = await offerReset(signIn.parts, person.id, actor())
        await note(sql, 'user created', person.id, { operator: isOperator, account: accountId })
        showLink({ user: person.id, email: person.email }, created, options)
      }),
    )
}

function addDisable(user: Command, name: string, isDisabled: boolean, description: string): void {
  user
    .command(`${name} <user>`)
    .description(description)
    .action((idOrEmail: string) =>
      withSignIn(async ({ sql }) => {
        const person = await requirePerson(sql, idOrEmail)
        await setDisabled(sql, person.id, isDisabled)
        await note(sql, `user ${name}d`, person.id)
        console.log(`${person.email} ${isDisabled ? 'is locked out' : 'may sign in again'}.`)
      }),
    )
}

function addReset(user: Command): void {
  user
    .command('reset-password <user>')
    .description('print a password reset link, valid for half an hour')
    .option('--factors', 'also remove their authenticator app, passkeys and recovery codes')
    .option('--json', 'as JSON')
    .action((idOrEmail: string, options: JsonOption & { readonly factors?: boolean }) =>
      withSignIn(async ({ sql, signIn }) => {
        const { id, email } = await requirePerson(sql, idOrEmail)
        if (options.factors) await dropFactors(sql, id)
        const created = await offerReset(signIn.parts, id, actor())
        await note(sql, 'password reset offered', id, { factors_removed: !!options.factors })
        showLink({ user: id, email }, created, options)
      }),
    )
}

interface InviteOptions extends JsonOption {
  readonly email: string
  readonly account: string
  readonly role: MemberRole
}

function addInvite(user: Command): void {
  user
    .command('invite')
    .description('print an invitation to an account, valid for three days')
    .requiredOption('--email <address>', 'whom')
    .requiredOption('--account <account>', 'account to join')
    .option('--role <role>', ROLES, parseRoleOption, 'developer')
    .option('--json', 'as JSON')
    .action(({ email, account: accountId, role, ...options }: InviteOptions) =>
      withSignIn(async ({ sql, signIn }) => {
        await showAccount(sql, accountId)
        const to = { accountId, role }
        const created = await invite(signIn.parts, { email, to, createdBy: actor() })
        await note(sql, 'invited', accountId, { email, role })
        showLink({ email, account: accountId, mailed: created.isMailed }, created, options)
      }),
    )
}

function withSignIn<T>(work: (session: { sql: Sql; signIn: SignIn }) => Promise<T>): Promise<T> {
  return withSession(({ sql, config }) => {
    const secrets = openSecretBox(config)
    const { signIn } = openSignIn({ config, sql, secrets, port: () => config.port })
    return work({ sql, signIn })
  })
}

function note(
  sql: Sql,
  action: string,
  target: string,
  details: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  return writeAudit(sql, { actor: actor(), action, target, details })
}

function list(rows: readonly PersonRow[], options: JsonOption) {
  const shown = rows.map(({ id, email, name, created_at, ...row }) => ({
    id,
    email,
    name,
    created_at,
    operator: row.is_operator,
    second_factor: row.totp_secret !== null || row.passkeys > 0,
    disabled: row.disabled_at !== null,
  }))
  if (options.json) return printJson(shown)
  printTable(
    shown,
    [
      { title: 'id', cell: ({ id }) => id },
      { title: 'e-mail', cell: ({ email }) => email },
      { title: 'name', cell: ({ name }) => name },
      { title: 'operator', cell: ({ operator }) => (operator ? 'yes' : '') },
      { title: 'second factor', cell: (row) => (row.second_factor ? 'yes' : '') },
      { title: 'state', cell: ({ disabled }) => (disabled ? 'disabled' : 'active') },
      { title: 'created', cell: (row) => printTime(row.created_at) },
    ],
    'There are no users yet: start the gateway, it prints a link',
  )
}

function showLink(
  about: Readonly<Record<string, string | boolean>>,
  { link, expiresAt }: CreatedLink,
  options: JsonOption,
) {
  if (options.json) return printJson({ ...about, link, expires_at: expiresAt })
  const { isPublicUrlSet } = loadConfig()
  printFields({ ...about, link, expires: `${printTime(expiresAt)} UTC` })
  console.log('\nPass the link on: it works once.')
  if (isPublicUrlSet) return
  const origin = new URL(link).origin
  console.log(`If browsers reach the gateway elsewhere than at ${origin}, set PUBLIC_URL here too.`)
}
