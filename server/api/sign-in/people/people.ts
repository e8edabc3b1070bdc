/** Management of people and memberships by owners and operators. */
import type { Sql, TransactionSql } from 'postgres'
import { withTransaction } from '../../../base/database/transaction.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { newId } from '../../../base/lib/ids.ts'
import { type MemberRole, mayHaveKeys } from '../../../base/lib/member-roles.ts'
import { OperatorError } from '../../../base/lib/operator-error.ts'
import { deleteTotp, replaceRecoveryCodes } from '../factors/factor-store.ts'
import type { SignInParts } from '../parts.ts'
import { deletePasskeys } from '../passkeys/passkey-store.ts'
import { checkPassword } from '../passwords/password-rules.ts'
import {
  deleteMembership,
  endKeysOf,
  findByEmail,
  findPerson,
  insertPerson,
  lockMembers,
  type MemberRow,
  type NewMembership,
  type PersonLanguage,
  type PersonRow,
  putMembership,
  selectMembers,
  updatePersonDisabled,
} from '../person-store.ts'
import { deleteSessions } from '../sessions/session-store.ts'
import { revokeTokensOf } from '../tokens/access-token-store.ts'
import { deleteInvitationsOf, deleteInvitationsTo } from './link-store.ts'

/**
 * Changes the role of a member, or removes them. In the same transaction, a person who is no longer
 * an owner loses the invitations that they wrote; one who may no longer have keys loses their keys
 * and playground key; and one who leaves also loses their sessions and any invitation to return.
 * Throws 404 for a person who is not a member, 409 if no owner would be left who can sign in.
 */
export async function changeMember(
  sql: Sql,
  accountId: string,
  personId: string,
  role: MemberRole | 'none',
): Promise<void> {
  await withTransaction(sql, async (transaction) => {
    await lockMembers(transaction, accountId)
    const members = await selectMembers(transaction, accountId)
    const member = members.find((member) => member.person_id === personId)
    if (!member) throw new GatewayError('not_found', { message: 'no such member' })
    const hasOther = members.some(
      (other) => other !== member && other.role === 'owner' && !other.disabled,
    )
    if (role !== 'owner' && member.role === 'owner' && !hasOther) {
      throw new GatewayError('conflict', {
        message: 'an account needs an owner: name another first',
      })
    }
    if (role === 'none') await endMembership(transaction, accountId, member)
    else await setRole(transaction, { personId, accountId, role })
  })
}

/** Gives a person a role in an account, and ends everything that the role does not allow. */
export async function setRole(
  transaction: TransactionSql,
  membership: NewMembership,
): Promise<void> {
  const { personId, accountId, role } = membership
  await putMembership(transaction, membership)
  if (role !== 'owner') await deleteInvitationsOf(transaction, personId, accountId)
  if (!mayHaveKeys(role)) await endKeysOf(transaction, personId, accountId)
}

/** Removes a person, and ends all that they had by being a member. */
export async function endMembership(
  transaction: TransactionSql,
  accountId: string,
  { person_id: personId, email }: Pick<MemberRow, 'person_id' | 'email'>,
): Promise<void> {
  await deleteMembership(transaction, accountId, personId)
  await deleteInvitationsOf(transaction, personId, accountId)
  await deleteInvitationsTo(transaction, email, accountId)
  await endKeysOf(transaction, personId, accountId)
  await deleteSessions(transaction, personId)
}

/** Returns the id of a member by address. Throws OperatorError. */
export async function requireMember(sql: Sql, accountId: string, email: string): Promise<string> {
  const members = await selectMembers(sql, accountId)
  const found = members.find((member) => member.email.toLowerCase() === email.toLowerCase())
  if (!found) throw new OperatorError(`the account ${accountId} has no member ${email}`)
  return found.person_id
}

/**
 * Disables a person and ends everything that acts for them (sessions, access tokens, invitations,
 * password links, their keys), or enables them again, which restores none of it.
 */
export async function setDisabled(sql: Sql, personId: string, isDisabled: boolean): Promise<void> {
  await withTransaction(sql, async (transaction) => {
    await updatePersonDisabled(transaction, personId, isDisabled)
    if (!isDisabled) return
    await deleteSessions(transaction, personId)
    await revokeTokensOf(transaction, personId)
    await deleteInvitationsOf(transaction, personId)
    await endKeysOf(transaction, personId)
  })
}

/**
 * Removes all second factors of a person who has lost them, and ends their sessions. Only on the
 * operator's machine.
 */
export async function dropFactors(sql: Sql, personId: string): Promise<void> {
  await withTransaction(sql, async (transaction) => {
    await deleteTotp(transaction, personId)
    await deletePasskeys(transaction, personId)
    await replaceRecoveryCodes(transaction, personId, [])
    await deleteSessions(transaction, personId)
  })
}

/** Returns a person whom an operator may manage. Throws 404, and 403 for another operator. */
export async function findManaged(sql: Sql, personId: string): Promise<PersonRow> {
  const person = await findPerson(sql, personId)
  if (!person) throw new GatewayError('not_found', { message: 'no such user' })
  if (person.is_operator) {
    throw new GatewayError('forbidden', {
      message: 'operators are managed on the command line: tributary user',
    })
  }
  return person
}

export interface NewPerson {
  readonly email: string
  readonly name: string
  readonly language?: PersonLanguage
  readonly isOperator?: boolean
  /** Null if the person chooses one through a link. */
  readonly password: string | null
}

/** Creates a person on the operator's machine. Throws OperatorError. */
export async function createPerson(
  { sql, passwords }: Pick<SignInParts, 'sql' | 'passwords'>,
  person: NewPerson,
): Promise<PersonRow> {
  const { email, name, language = 'en', isOperator = false, password } = person
  if (!/^[^\s@]+@[^\s@]+$/.test(email) || email.length > 254) {
    throw new OperatorError(`${email} is not an e-mail address`)
  }
  if (password !== null) checkPassword(password, email)
  const id = newId('user')
  const inserted = await insertPerson(sql, {
    id,
    email,
    name,
    language,
    is_operator: isOperator,
    password_hash: password === null ? null : await passwords.hash(password),
  })
  if (!inserted) throw new OperatorError(`${email} has a user already`)
  return await requirePerson(sql, email)
}

/** Finds a person by id or e-mail address. Throws OperatorError. */
export async function requirePerson(sql: Sql, idOrEmail: string): Promise<PersonRow> {
  const byEmail = idOrEmail.includes('@')
  const person = byEmail ? await findByEmail(sql, idOrEmail) : await findPerson(sql, idOrEmail)
  if (!person) throw new OperatorError(`there is no user ${idOrEmail}: tributary user list`)
  return person
}
