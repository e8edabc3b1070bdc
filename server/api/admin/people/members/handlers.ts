/** Members of accounts, people who may sign in, and invitations, over HTTP. */
import type { Sql } from 'postgres'
import { toPage } from '../../../../base/http/page.ts'
import { accountExists } from '../../../../money/accounts/key-store.ts'
import {
  deleteInvitation,
  type LinkRow,
  selectInvitations,
} from '../../../sign-in/people/link-store.ts'
import {
  type CreatedInvitation,
  type CreatedLink,
  invite,
  offerReset,
} from '../../../sign-in/people/links.ts'
import { changeMember, findManaged, setDisabled } from '../../../sign-in/people/people.ts'
import { type PersonRow, selectMembers, selectPeople } from '../../../sign-in/person-store.ts'
import type { HandlersOf } from '../../handler.ts'
import { noSuch } from '../../refusal.ts'
import type { membersContract } from './contract.ts'

export const membersHandlers: HandlersOf<typeof membersContract> = {
  async 'GET /accounts/:account_id/members'({ params }, { sql }) {
    await requireAccount(sql, params.account_id)
    const rows = await selectMembers(sql, params.account_id)
    return { data: rows.map(({ person_id: id, ...row }) => ({ ...row, id })) }
  },
  async 'PATCH /accounts/:account_id/members/:user_id'({ params, body, note }, { sql }) {
    note({ role: body.role })
    await changeMember(sql, params.account_id, params.user_id, body.role)
  },
  'DELETE /accounts/:account_id/members/:user_id': ({ params }, { sql }) =>
    changeMember(sql, params.account_id, params.user_id, 'none'),
  async 'GET /accounts/:account_id/invitations'({ params }, { sql }) {
    await requireAccount(sql, params.account_id)
    const rows = await selectInvitations(sql, { accountId: params.account_id })
    return { data: rows.map(showInvitation) }
  },
  async 'POST /accounts/:account_id/invitations'({ params, body, session, note }, services) {
    const { sql, signIn } = services
    await requireAccount(sql, params.account_id)
    const { email, role } = body
    note({ email, role })
    const to = { accountId: params.account_id, role }
    const { id: createdBy, language } = session.user
    return showInvited(await invite(signIn.parts, { email, to, createdBy, language }))
  },
  async 'DELETE /accounts/:account_id/invitations/:invitation_id'({ params }, { sql }) {
    const { account_id: accountId, invitation_id: id } = params
    if (!(await deleteInvitation(sql, accountId, id))) throw noSuch('invitation')
  },
  async 'GET /operator/users'({ query: { limit, cursor, search } }, { sql }) {
    const rows = await selectPeople(sql, { limit: limit + 1, beforeId: cursor, search })
    return toPage(rows.map(showUser), limit, 'id')
  },
  async 'PATCH /operator/users/:user_id'({ params, body, note }, { sql }) {
    note({ disabled: body.disabled })
    const person = await findManaged(sql, params.user_id)
    await setDisabled(sql, person.id, body.disabled)
  },
  async 'POST /operator/users/:user_id/reset'({ params, session }, { sql, signIn }) {
    const person = await findManaged(sql, params.user_id)
    return showLink(await offerReset(signIn.parts, person.id, session.user.id))
  },
  async 'GET /operator/invitations'(_input, { sql }) {
    const rows = await selectInvitations(sql, { accountId: null })
    return { data: rows.map(showInvitation) }
  },
  async 'POST /operator/invitations'({ body, session, note }, { signIn }) {
    note({ email: body.email, role: 'operator' })
    const { id: createdBy, language } = session.user
    const invitation = { email: body.email, to: 'operators', createdBy, language } as const
    return showInvited(await invite(signIn.parts, invitation))
  },
  async 'DELETE /operator/invitations/:invitation_id'({ params }, { sql }) {
    if (!(await deleteInvitation(sql, null, params.invitation_id))) throw noSuch('invitation')
  },
}

/** Throws 404 if the account does not exist: operators may name any. */
async function requireAccount(sql: Sql, id: string): Promise<void> {
  if (!(await accountExists(sql, id))) throw noSuch('account')
}

function showLink({ link, expiresAt }: CreatedLink) {
  return { link, expires_at: expiresAt }
}

function showInvited(created: CreatedInvitation) {
  return { ...showLink(created), mailed: created.isMailed }
}

function showInvitation(row: LinkRow) {
  return { ...row, email: row.email ?? '', operator: row.is_operator }
}

function showUser(row: PersonRow) {
  return {
    ...row,
    operator: row.is_operator,
    disabled: row.disabled_at !== null,
    second_factor: row.totp_secret !== null || row.passkeys > 0,
  }
}
