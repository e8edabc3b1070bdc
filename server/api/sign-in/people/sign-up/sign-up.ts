/**
 * Signing up: whoever confirms an address, by a link in a mail or by a provider, gets an account of
 * their own. Before that nothing depends on whether the address is known, so that neither an answer
 * nor a delay reveals it.
 */
import { hash } from 'node:crypto'
import type { TransactionSql } from 'postgres'
import { withTransaction } from '../../../../base/database/transaction.ts'
import { GatewayError, invalidField } from '../../../../base/lib/errors.ts'
import { newId } from '../../../../base/lib/ids.ts'
import type { Nanos } from '../../../../base/lib/money.ts'
import { writeAudit } from '../../audit-log/audit-log.ts'
import type { Exchange, SignInParts, SignUpParts } from '../../parts.ts'
import { checkPassword } from '../../passwords/password-rules.ts'
import { SIGNED_IN, type SignInOutcome } from '../../passwords/password-sign-in.ts'
import {
  findByEmail,
  insertPerson,
  type PersonLanguage,
  putMembership,
} from '../../person-store.ts'
import { noLink } from '../../refusals.ts'
import { openSession } from '../../sessions/sessions.ts'
import { consumeLink, deleteExpiredSignUps, selectInvitationsOf } from '../link-store.ts'
import { createLink, grantInvitation, type PersonDetails, readLink } from '../links.ts'
import { domainOf, mailboxOf } from './mailbox.ts'
import { insertSignUp, lockGrants } from './sign-up-store.ts'

const LINK_SECONDS = 3600

/** Returns the settings of signing up. Throws 404 where it is off. */
function requireSignUp({ signUp }: Pick<SignInParts, 'signUp'>): SignUpParts {
  if (!signUp?.isOpen) {
    throw new GatewayError('not_found', { message: 'signing up is off: ask for an invitation' })
  }
  return signUp
}

/** Returns true if the domain of an address may sign up. */
export function mayJoin({ domains }: SignUpParts, email: string): boolean {
  return domains.length === 0 || domains.includes(domainOf(email))
}

/** Mails a link that confirms the address, known or not. Throws 400, 404 and 429. */
export async function requestSignUp(
  parts: SignInParts,
  { email, language }: { readonly email: string; readonly language: PersonLanguage },
  { request }: Exchange,
): Promise<void> {
  const signUp = requireSignUp(parts)
  const { mailLink } = parts
  if (!mailLink) throw new GatewayError('not_found', { message: 'this gateway sends no mail' })
  if (!mayJoin(signUp, email)) {
    throw invalidField('email', `must be of ${signUp.domains.join(' or ')}`)
  }
  await parts.throttle.take('signUp', parts.addresses.networkOf(request))
  await parts.throttle.take('signUpMailbox', mailboxOf(email))
  await withTransaction(parts.sql, async (transaction) => {
    await deleteExpiredSignUps(transaction)
    const link = { kind: 'sign_up', seconds: LINK_SECONDS, email, createdBy: 'sign-up' } as const
    const created = await createLink(parts, link, transaction)
    await mailLink(transaction, { kind: 'sign_up', address: email, language, ...created })
  })
}

/** Returns what the link confirms; `isKnown` if somebody signs in with the address. Throws 404. */
export async function viewSignUp(parts: SignInParts, token: string, exchange: Exchange) {
  requireSignUp(parts)
  const { email, expires_at } = await readLink(parts, 'sign_up', token, exchange)
  const known = await findByEmail(parts.sql, email ?? '')
  return { email: email ?? '', isKnown: known !== undefined, expires_at }
}

export interface SignUpForm extends PersonDetails {
  readonly token: string
  readonly acceptsTerms: boolean
}

/** Creates the person whose address the link confirms, and signs them in. Throws 400, 404, 409. */
export async function finishSignUp(
  parts: SignInParts,
  form: SignUpForm,
  exchange: Exchange,
): Promise<SignInOutcome> {
  const signUp = requireSignUp(parts)
  const link = await readLink(parts, 'sign_up', form.token, exchange)
  const { email } = link
  if (!email || !mayJoin(signUp, email)) throw noLink()
  if (signUp.terms !== undefined && !form.acceptsTerms) {
    throw invalidField('accept_terms', 'must be true: the terms have to be accepted')
  }
  const { name, language, password } = form
  checkPassword(password, email)
  const passwordHash = await parts.passwords.hash(password)
  const id = newId('user')
  const network = parts.addresses.networkOf(exchange.request)
  await withTransaction(parts.sql, async (transaction) => {
    if (!(await consumeLink(transaction, link.id))) throw noLink()
    const person = { id, email, name, language, is_operator: false, password_hash: passwordHash }
    if (!(await insertPerson(transaction, person))) throw isKnown()
    const invitations = await selectInvitationsOf(transaction, email)
    const accepted = invitations.filter((invitation) => !invitation.is_operator)
    for (const invitation of accepted) await grantInvitation(transaction, invitation, id)
    if (accepted.length > 0) return
    await openOwnAccount(transaction, signUp, { personId: id, email, network, providerId: null })
  })
  await openSession(parts, id, exchange, 'sign-up')
  return SIGNED_IN
}

function isKnown(): GatewayError {
  return new GatewayError('conflict', { message: 'you already have an account: sign in' })
}

interface Joining {
  readonly personId: string
  /** Confirmed. */
  readonly email: string
  readonly network: string
  readonly providerId: string | null
}

/** Opens an account that the person owns, with the grant if there is one for them. */
export async function openOwnAccount(
  transaction: TransactionSql,
  signUp: SignUpParts,
  { personId, email, network, providerId }: Joining,
): Promise<void> {
  const mailbox = mailboxOf(email)
  const amountNanos = await decideGrant(transaction, signUp, { mailbox, network })
  const { currency } = signUp.grant
  const accountId = await signUp.openAccount(transaction, {
    name: email,
    currency,
    grantNanos: amountNanos,
    eventId: `sign-up:${hash('sha256', mailbox)}`,
  })
  await putMembership(transaction, { personId, accountId, role: 'owner' })
  const id = newId('sup')
  const { terms = null } = signUp
  const row = { id, person_id: personId, account_id: accountId, email, mailbox, network, terms }
  const granted = { granted: amountNanos, currency }
  await insertSignUp(transaction, { ...row, ...granted, provider_id: providerId })
  await writeAudit(transaction, {
    actor: personId,
    accountId,
    action: 'signed up',
    target: id,
    details: { provider: providerId ?? undefined },
  })
}

async function decideGrant(
  transaction: TransactionSql,
  { grant }: SignUpParts,
  of: { readonly mailbox: string; readonly network: string },
): Promise<Nanos> {
  if (grant.amountNanos === 0n) return 0n
  const before = await lockGrants(transaction, of)
  const isLeft = before.of_network < grant.perNetwork && before.of_day < grant.perDay
  return isLeft && !before.is_given && !before.is_stopped ? grant.amountNanos : 0n
}
