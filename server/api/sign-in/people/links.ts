/** One-use links: first set-up, invitations, password resets. */
import type { TransactionSql } from 'postgres'
import { withTransaction } from '../../../base/database/transaction.ts'
import { GatewayError, invalidField } from '../../../base/lib/errors.ts'
import { newId } from '../../../base/lib/ids.ts'
import type { MemberRole } from '../../../base/lib/member-roles.ts'
import { writeAudit } from '../audit-log/audit-log.ts'
import type { Exchange, SignInParts } from '../parts.ts'
import { checkPassword } from '../passwords/password-rules.ts'
import { SIGNED_IN, type SignInOutcome } from '../passwords/password-sign-in.ts'
import {
  anyoneExists,
  findByEmail,
  findPerson,
  insertPerson,
  isOwner,
  makeOperator,
  type PersonLanguage,
  updatePassword,
} from '../person-store.ts'
import { noLink } from '../refusals.ts'
import { deleteSessions } from '../sessions/session-store.ts'
import { identifySession, openSession, renewSession } from '../sessions/sessions.ts'
import { createToken, hashToken } from '../sessions/token.ts'
import {
  consumeLink,
  deleteInvitationsTo,
  deleteUnused,
  findLink,
  type Inviter,
  insertLink,
  type LinkRow,
  readInviter,
} from './link-store.ts'
import { setRole } from './people.ts'

/** A link to pass on, and its expiry. */
export interface CreatedLink {
  readonly link: string
  readonly expiresAt: Date
}

export interface CreatedInvitation extends CreatedLink {
  /** False without a mail server, and if the address or the inviting account had too much mail. */
  readonly isMailed: boolean
}

const HOUR_SECONDS = 3600
const SETUP_SECONDS = 24 * HOUR_SECONDS
const RESET_SECONDS = HOUR_SECONDS / 2
/** Links may be passed on by hand: half an hour would be too short. */
const INVITATION_SECONDS = 72 * HOUR_SECONDS

/** The console's page for each kind. */
const PAGES: Readonly<Record<LinkRow['kind'], string>> = {
  setup: 'setup',
  invitation: 'invite',
  reset: 'reset',
  sign_up: 'sign-up',
}

interface NewLink {
  readonly kind: LinkRow['kind']
  readonly seconds: number
  readonly createdBy: string
  readonly email?: string
  readonly accountId?: string | undefined
  readonly role?: MemberRole | undefined
  readonly isOperator?: boolean
  readonly personId?: string
}

/** Creates a link to a page of the console. */
export async function createLink(
  parts: Pick<SignInParts, 'sql' | 'consoleAddress'>,
  newLink: NewLink,
  sql: TransactionSql | SignInParts['sql'] = parts.sql,
): Promise<CreatedLink> {
  const { token, tokenHash } = createToken()
  const { kind, seconds } = newLink
  await insertLink(sql, {
    id: newId('link'),
    kind,
    tokenHash,
    seconds,
    email: newLink.email ?? null,
    account_id: newLink.accountId ?? null,
    role: newLink.role ?? null,
    is_operator: newLink.isOperator ?? false,
    person_id: newLink.personId ?? null,
    created_by: newLink.createdBy,
  })
  const expiresAt = new Date(Date.now() + seconds * 1000)
  return { link: parts.consoleAddress.link(PAGES[kind], token), expiresAt }
}

/**
 * Returns a new link for the first set-up at each start, which invalidates earlier ones. Resolves
 * to undefined once a person exists.
 */
export async function openSetUp(
  parts: Pick<SignInParts, 'sql' | 'consoleAddress'>,
): Promise<CreatedLink | undefined> {
  if (await anyoneExists(parts.sql)) return undefined
  await deleteUnused(parts.sql, { kind: 'setup' })
  return await createLink(parts, { kind: 'setup', seconds: SETUP_SECONDS, createdBy: 'start' })
}

/**
 * Creates an invitation to an account, or to be an operator, and mails it where mail is set.
 * Earlier invitations of the same address to the same account are void from then on. Throws 429 for
 * a person who invites too many. The mail of an account that signed up and was never topped up has
 * the confirmed address in place of the name: strangers could make the gateway mail their text.
 */
export async function invite(
  parts: Pick<SignInParts, 'sql' | 'consoleAddress' | 'mailLink' | 'throttle'>,
  invitation: {
    readonly email: string
    readonly to: { readonly accountId: string; readonly role: MemberRole } | 'operators'
    readonly createdBy: string
    /** The language of the mail, for an address without a user. */
    readonly language?: PersonLanguage
  },
): Promise<CreatedInvitation> {
  const { email, to, createdBy, language = 'en' } = invitation
  const target = to === 'operators' ? { isOperator: true } : to
  const newLink = { kind: 'invitation', seconds: INVITATION_SECONDS, email, createdBy } as const
  if (parts.mailLink) await parts.throttle.take('invitation', createdBy)
  const inviter = to === 'operators' ? undefined : await readInviter(parts.sql, to.accountId)
  const mayMail = to === 'operators' || (await takeMail(parts, to.accountId, inviter))
  const work = async (transaction: TransactionSql) => {
    await deleteInvitationsTo(transaction, email, to === 'operators' ? null : to.accountId)
    const created = await createLink(parts, { ...newLink, ...target }, transaction)
    if (!parts.mailLink || !mayMail) return { ...created, isMailed: false }
    const person = await findByEmail(transaction, email)
    const about =
      to === 'operators' ? {} : { account: inviter?.signed_up ?? inviter?.name, role: to.role }
    const mail = { kind: 'invitation', address: email, ...about, ...created } as const
    const isMailed = await parts.mailLink(transaction, {
      ...mail,
      language: person?.language ?? language,
    })
    return { ...created, isMailed }
  }
  return await withTransaction(parts.sql, work)
}

/** Returns false if the account may mail no further invitation for now. */
async function takeMail(
  { mailLink, throttle }: Pick<SignInParts, 'mailLink' | 'throttle'>,
  accountId: string,
  inviter: Inviter | undefined,
): Promise<boolean> {
  if (!mailLink || !inviter?.signed_up) return true
  try {
    await throttle.take('signedUpInvitation', accountId)
    return true
  } catch (error) {
    if (error instanceof GatewayError && error.row === 'rate_limited') return false
    throw error
  }
}

/** Creates a link for a new password, which invalidates earlier ones. */
export async function offerReset(
  parts: Pick<SignInParts, 'sql' | 'consoleAddress'>,
  personId: string,
  createdBy: string,
): Promise<CreatedLink> {
  return await withTransaction(parts.sql, async (transaction) => {
    await deleteUnused(transaction, { kind: 'reset', personId })
    const newLink = { kind: 'reset', seconds: RESET_SECONDS, personId, createdBy } as const
    return await createLink(parts, newLink, transaction)
  })
}

export interface PersonDetails {
  readonly name: string
  readonly language: PersonLanguage
  readonly password: string
}

/** Creates the first operator and signs them in. Throws 400 and 404. */
export async function setUp(
  parts: SignInParts,
  operator: PersonDetails & { readonly token: string; readonly email: string },
  exchange: Exchange,
): Promise<SignInOutcome> {
  const link = await readLink(parts, 'setup', operator.token, exchange)
  checkPassword(operator.password, operator.email)
  const passwordHash = await parts.passwords.hash(operator.password)
  const id = newId('user')
  const { email, name, language } = operator
  const person = { id, email, name, language, is_operator: true, password_hash: passwordHash }
  // Serializable: of two concurrent set-ups, one succeeds.
  const mode = 'isolation level serializable'
  const work = async (transaction: TransactionSql) => {
    if ((await anyoneExists(transaction)) || !(await consumeLink(transaction, link.id)))
      throw noLink()
    await insertPerson(transaction, person)
  }
  await withTransaction(parts.sql, work, { mode })
  await openSession(parts, id, exchange, 'set-up')
  return SIGNED_IN
}

/** Returns the invitation; `isKnown` if its address is an existing person's. Throws 404. */
export async function viewInvitation(
  parts: SignInParts,
  token: string,
  exchange: Exchange,
): Promise<LinkRow & { readonly isKnown: boolean }> {
  const link = await readLink(parts, 'invitation', token, exchange)
  return { ...link, isKnown: (await findByEmail(parts.sql, link.email ?? '')) !== undefined }
}

/**
 * Accepts an invitation. An existing person must be signed in: possession of the link alone must
 * not grant access to their identity. Throws 400, 404 and 409.
 */
export async function acceptInvitation(
  parts: SignInParts,
  acceptance: Partial<PersonDetails> & {
    readonly token: string
    readonly language: PersonLanguage
  },
  exchange: Exchange,
): Promise<SignInOutcome> {
  const link = await readLink(parts, 'invitation', acceptance.token, exchange)
  const existing = await findByEmail(parts.sql, link.email ?? '')
  if (existing) {
    const session = await identifySession(parts, exchange.request)
    if (!session || session.user.id !== existing.id) {
      throw new GatewayError('conflict', {
        message: `sign in as ${link.email}, then open the invitation again`,
      })
    }
    await withTransaction(parts.sql, (transaction) =>
      grantInvitation(transaction, link, existing.id),
    )
    if (link.is_operator) await renewSession(parts, session, exchange)
    return SIGNED_IN
  }
  const id = await createInvited(parts, link, acceptance)
  await openSession(parts, id, exchange, 'invitation')
  return SIGNED_IN
}

async function createInvited(
  parts: SignInParts,
  link: LinkRow,
  { name, password, language }: Partial<PersonDetails> & { readonly language: PersonLanguage },
): Promise<string> {
  const { email } = link
  if (!email) throw noLink()
  if (name === undefined) throw invalidField('name', 'is needed')
  if (password === undefined) throw invalidField('password', 'is needed')
  checkPassword(password, email)
  const passwordHash = await parts.passwords.hash(password)
  const id = newId('user')
  await withTransaction(parts.sql, async (transaction) => {
    const person = { id, email, name, language, is_operator: false, password_hash: passwordHash }
    if (!(await insertPerson(transaction, person))) throw noLink()
    await grantInvitation(transaction, link, id)
  })
  return id
}

export async function grantInvitation(
  transaction: TransactionSql,
  link: LinkRow,
  personId: string,
): Promise<void> {
  if (!(await consumeLink(transaction, link.id))) throw noLink()
  if (link.is_operator) await makeOperator(transaction, personId)
  if (link.account_id && link.role) {
    const { account_id: accountId, role } = link
    // An invitation never takes away the rights of an owner.
    if (!(await isOwner(transaction, accountId, personId))) {
      await setRole(transaction, { personId, accountId, role })
    }
  }
  await writeAudit(transaction, {
    actor: personId,
    accountId: link.account_id ?? undefined,
    action: 'invitation accepted',
    target: link.id,
    details: { role: link.is_operator ? 'operator' : link.role, invited_by: link.created_by },
  })
}

/**
 * Sets a new password and ends every session, without opening one: a second factor is still
 * required. Throws 400 and 404.
 */
export async function resetPassword(
  parts: SignInParts,
  reset: { readonly token: string; readonly password: string },
  exchange: Exchange,
): Promise<void> {
  const link = await readLink(parts, 'reset', reset.token, exchange)
  const person = link.person_id ? await findPerson(parts.sql, link.person_id) : undefined
  if (!person) throw noLink()
  checkPassword(reset.password, person.email)
  const hash = await parts.passwords.hash(reset.password)
  const ip = parts.addresses.of(exchange.request)
  await withTransaction(parts.sql, async (transaction) => {
    if (!(await consumeLink(transaction, link.id))) throw noLink()
    await updatePassword(transaction, person.id, hash)
    await deleteSessions(transaction, person.id)
    const details = { link_by: link.created_by }
    const action = 'password reset'
    await writeAudit(transaction, { actor: person.id, ip, action, target: link.id, details })
  })
}

export async function readLink(
  parts: SignInParts,
  kind: LinkRow['kind'],
  token: string,
  { request }: Exchange,
): Promise<LinkRow> {
  await parts.throttle.take('anonymous', parts.addresses.networkOf(request))
  const tokenHash = hashToken(token)
  const link = tokenHash && (await findLink(parts.sql, kind, tokenHash))
  if (!link) throw noLink()
  return link
}
