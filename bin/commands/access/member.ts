/** `tributary member …`: the people of an account, and their roles. */
import type { Command } from 'commander'
import { changeMember, requireMember } from '../../../server/api/sign-in/people/people.ts'
import { type MemberRow, selectMembers } from '../../../server/api/sign-in/person-store.ts'
import { GatewayError } from '../../../server/base/lib/errors.ts'
import type { MemberRole } from '../../../server/base/lib/member-roles.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { showAccount } from '../../../server/money/accounts/manage-accounts.ts'
import { parseRoleOption } from '../../lib/parse.ts'
import { printJson, printTable, printTime } from '../../lib/print.ts'
import { recordAct, withSession } from '../../lib/session.ts'

const MEMBER_PATH = '/accounts/:account_id/members/:user_id'

interface MemberOptions {
  readonly account: string
  readonly json?: boolean
}

export function addMemberCommands(program: Command): void {
  const member = program
    .command('member')
    .description('list the members of an account, set their role, remove them')
  member
    .command('list')
    .description('list the members of an account')
    .requiredOption('--account <account>', 'account of the members')
    .option('--json', 'as JSON')
    .action(({ account, json }: MemberOptions) =>
      withSession(async ({ sql }) => {
        await showAccount(sql, account)
        list(await selectMembers(sql, account), json)
      }),
    )
  addChange(member, 'set', 'set the role of a member').requiredOption(
    '--role <role>',
    'owner, billing (reads and pays), developer (makes calls, own keys) or viewer (reads)',
    parseRoleOption,
  )
  addChange(
    member,
    'remove',
    'remove a member: their keys, sessions and invitations end',
  ).addHelpText(
    'after',
    '\nExample:\n  tributary member remove --account acct_… --email kim@example.com',
  )
}

function addChange(member: Command, name: 'set' | 'remove', description: string): Command {
  return member
    .command(name)
    .description(description)
    .requiredOption('--account <account>', 'account of the member')
    .requiredOption('--email <address>', 'address of the member')
    .option('--json', 'as JSON')
    .action((options: MemberOptions & { readonly email: string; readonly role?: MemberRole }) =>
      withSession(async ({ sql }) => {
        const { account: accountId, email, role = 'none' } = options
        await showAccount(sql, accountId)
        const userId = await requireMember(sql, accountId, email)
        await changeMember(sql, accountId, userId, role).catch(asOperatorError)
        const action = `${name === 'set' ? 'PATCH' : 'DELETE'} ${MEMBER_PATH}`
        const subject = { target: `${accountId} ${userId}`, accountId }
        await recordAct(sql, action, subject, name === 'set' ? { role } : {})
        if (options.json) printJson({ account: accountId, user: userId, email, role })
        else if (role === 'none') console.log(`${email} is no longer a member.`)
        else console.log(`${email} has the role ${role}.`)
      }),
    )
}

function asOperatorError(error: unknown): never {
  throw error instanceof GatewayError ? new OperatorError(error.message) : error
}

function list(rows: readonly MemberRow[], json = false) {
  if (json) return printJson(rows.map(({ person_id: id, ...row }) => ({ id, ...row })))
  printTable(
    rows,
    [
      { title: 'id', cell: ({ person_id: id }) => id },
      { title: 'e-mail', cell: ({ email }) => email },
      { title: 'name', cell: ({ name }) => name },
      { title: 'role', cell: ({ role }) => role },
      { title: 'state', cell: ({ disabled }) => (disabled ? 'disabled' : 'active') },
      { title: 'since', cell: (row) => printTime(row.created_at) },
    ],
    'This account has no members yet: tributary user invite --account …',
  )
}
