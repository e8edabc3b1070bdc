/** Completes a sign-in, a link or a step-up with the proof of a provider. */
import type { TransactionSql } from 'postgres'
import { withTransaction } from '../../../../base/database/transaction.ts'
import { newId } from '../../../../base/lib/ids.ts'
import { asString } from '../../../../base/lib/json.ts'
import { foldsIntoAscii } from '../../../../base/lib/text/folds-into-ascii.ts'
import { writeAudit } from '../../audit-log/audit-log.ts'
import { type Grant, judgeClaims, type StatedClaims } from '../../claim-rules.ts'
import { listFactors } from '../../factors/factors.ts'
import type { Exchange, SignInParts, SignUpParts } from '../../parts.ts'
import { findByEmail, findPerson, insertPerson, type PersonRow } from '../../person-store.ts'
import type { Provider } from '../../provider.ts'
import { RefusedAtProvider } from '../../provider-refusal.ts'
import type { Session } from '../../sessions/session.ts'
import { markSteppedUp, openSession } from '../../sessions/sessions.ts'
import { beginStep } from '../../sessions/steps.ts'
import { findOpenInvitation, type LinkRow, selectInvitationsOf } from '../link-store.ts'
import { grantInvitation } from '../links.ts'
import { mayJoin, openOwnAccount } from '../sign-up/sign-up.ts'
import { applyGrant } from './grants.ts'
import { type Intent, insertIdentity, readIdentity } from './provider-store.ts'

export interface Proof {
  readonly provider: Provider
  readonly claims: StatedClaims
  readonly idToken: string
}

const EMAIL = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]{1,189}$/u
const NAME_MAX = 200
/** Methods that are a second factor, by RFC 8176 and by common use. */
const FACTORS: ReadonlySet<unknown> = new Set('mfa otp hwk swk sc sms fpt face iris'.split(' '))
const FRESH_SECONDS = 600

interface Returning {
  readonly intent: Intent
  readonly link_id: string | null
  readonly return_to: string
  readonly terms: string | null
  readonly proof: Proof
}

/** Opens a session, or asks for the person's second factor. Returns the path to continue at. */
export async function completeSignIn(
  parts: SignInParts,
  returning: Returning,
  exchange: Exchange,
): Promise<string> {
  const { proof, return_to: returnTo } = returning
  const { provider, claims, idToken } = proof
  const network = parts.addresses.networkOf(exchange.request)
  const personId = await withTransaction(parts.sql, (transaction) =>
    settlePerson(transaction, parts, { ...returning, network }),
  )
  const person = await findPerson(parts.sql, personId)
  if (!person || person.disabled_at) throw new RefusedAtProvider('locked')
  const hasFactor = statesFactor(claims)
  const methods = await listFactors(parts, person)
  if (methods.length > 0 && !hasFactor) {
    await beginStep(parts, exchange, { personId, challenge: null })
    return `/sign-in#factors=${methods.join(',')}`
  }
  const isFresh = !isOld(claims)
  const by = { providerId: provider.id, idToken, hasFactor, isFresh }
  await openSession(parts, personId, exchange, 'provider', by)
  return returnTo
}

/**
 * Returns the person of an identity, with the roles that the rules give now. A new identity becomes
 * a new person, but only if they are invited, match a rule, or may sign up. It is never matched to
 * an existing person: addresses change hands, and anybody may have typed one first.
 */
async function settlePerson(
  transaction: TransactionSql,
  parts: SignInParts,
  { intent, link_id: linkId, terms, network, proof }: Returning & { readonly network: string },
): Promise<string> {
  const { provider, claims } = proof
  const { issuer, subject } = identityOf(proof)
  const address = verifiedAddress(proof)
  const grant = judgeClaims(provider.rules, { ...claims, email: address })
  const link = intent === 'invitation' ? await openInvitation(transaction, linkId) : undefined
  const known = await readIdentity(transaction, issuer, subject)
  if (known === undefined) {
    const invitations = link ? [link] : await invitationsOf(transaction, address)
    const email = link?.email ?? address
    if (email === undefined) throw new RefusedAtProvider('no_email')
    if (await findByEmail(transaction, email)) throw new RefusedAtProvider('known_address')
    const isExpected = invitations.length > 0 || isGranted(grant)
    const signUp = isExpected ? undefined : admit(parts, email, terms)
    const personId = await createPerson(transaction, proof, { email, grant, invitations })
    const joining = { personId, email, network, providerId: provider.id }
    if (signUp) await openOwnAccount(transaction, signUp, joining)
    return personId
  }
  const person = await findPerson(transaction, known)
  if (!person || person.disabled_at) throw new RefusedAtProvider('locked')
  if (link) await acceptAs(transaction, person, link)
  await applyGrant(
    transaction,
    { personId: known, email: person.email, providerId: provider.id },
    grant,
  )
  return known
}

/**
 * Returns the settings of signing up, for somebody without an invitation or a rule who may sign up.
 */
function admit({ signUp }: SignInParts, email: string, terms: string | null): SignUpParts {
  if (!signUp?.isOpen || !mayJoin(signUp, email)) throw new RefusedAtProvider('not_invited')
  if (signUp.terms !== undefined && terms !== signUp.terms)
    throw new RefusedAtProvider('accept_terms')
  return signUp
}

interface NewPerson {
  readonly email: string
  readonly grant: Grant
  readonly invitations: readonly LinkRow[]
}

async function createPerson(
  transaction: TransactionSql,
  proof: Proof,
  { email, grant, invitations }: NewPerson,
): Promise<string> {
  const { provider, claims } = proof
  const id = newId('user')
  const person = {
    id,
    email,
    name: nameOf(claims, email),
    language: /^zh\b/i.test(asString(claims.locale) ?? '') ? 'zh' : 'en',
    is_operator: false,
    password_hash: null,
  } as const
  if (!(await insertPerson(transaction, person))) throw new RefusedAtProvider('known_address')
  await addIdentity(transaction, proof, id)
  for (const link of invitations) await grantInvitation(transaction, link, id)
  await applyGrant(transaction, { personId: id, email, providerId: provider.id }, grant)
  const details = { provider: provider.id, invitations: invitations.length }
  await writeAudit(transaction, {
    actor: id,
    action: 'person created at provider',
    target: id,
    details,
  })
  return id
}

async function acceptAs(
  transaction: TransactionSql,
  person: PersonRow,
  link: LinkRow,
): Promise<void> {
  const isOwn = link.email?.toLowerCase() === person.email.toLowerCase()
  if (!isOwn) throw new RefusedAtProvider('other_person')
  await grantInvitation(transaction, link, person.id)
}

async function openInvitation(
  transaction: TransactionSql,
  linkId: string | null,
): Promise<LinkRow> {
  const link = linkId === null ? undefined : await findOpenInvitation(transaction, linkId)
  if (!link) throw new RefusedAtProvider('bad_invitation')
  return link
}

/** Invitations to be an operator are accepted by their link alone. */
async function invitationsOf(
  transaction: TransactionSql,
  address: string | undefined,
): Promise<readonly LinkRow[]> {
  if (address === undefined) return []
  const open = await selectInvitationsOf(transaction, address)
  return open.filter((link) => !link.is_operator)
}

function isGranted({ operator, accounts }: Grant): boolean {
  return operator || accounts.length > 0
}

/** Links the identity to the person who is signed in. Returns the path to continue at. */
export async function completeLink(
  parts: SignInParts,
  { user }: Session,
  proof: Proof,
): Promise<string> {
  await withTransaction(parts.sql, async (transaction) => {
    const { issuer, subject } = identityOf(proof)
    const holder = await readIdentity(transaction, issuer, subject)
    if (holder === user.id) return
    if (holder !== undefined) throw new RefusedAtProvider('linked_elsewhere')
    await addIdentity(transaction, proof, user.id)
    const details = { provider: proof.provider.id }
    const row = { actor: user.id, action: 'provider linked', target: user.id, details }
    await writeAudit(transaction, row)
  })
  return '/settings#linked'
}

/** Steps the session up, for a person who has proved anew that the identity is theirs. */
export async function completeStepUp(
  parts: SignInParts,
  session: Session,
  proof: Proof,
  returnTo: string,
): Promise<string> {
  const { issuer, subject } = identityOf(proof)
  const holder = await readIdentity(parts.sql, issuer, subject)
  if (holder !== session.user.id) throw new RefusedAtProvider('other_person')
  const person = await findPerson(parts.sql, holder)
  const methods = person ? await listFactors(parts, person) : []
  if (methods.length > 0 && !statesFactor(proof.claims)) throw new RefusedAtProvider('not_fresh')
  await markSteppedUp(parts, session)
  return returnTo
}

async function addIdentity(
  transaction: TransactionSql,
  proof: Proof,
  personId: string,
): Promise<void> {
  const { issuer, subject } = identityOf(proof)
  const email = verifiedAddress(proof) ?? ''
  const identity = { issuer, subject, person_id: personId, provider_id: proof.provider.id, email }
  if (!(await insertIdentity(transaction, identity)))
    throw new RefusedAtProvider('linked_elsewhere')
}

function identityOf({ claims, provider }: Proof) {
  return { issuer: provider.issuer, subject: String(claims.sub) }
}

/**
 * Returns the address if the provider says that it is verified: `true` itself, not a text. An
 * address that the database would find as that of another person is not accepted.
 */
function verifiedAddress({ claims, provider }: Proof): string | undefined {
  const { email, email_verified: verified } = claims
  if (typeof email !== 'string' || email.length > 254 || !EMAIL.test(email)) return undefined
  if (foldsIntoAscii(email)) return undefined
  const isTrusted = verified === undefined && provider.trustsEmail
  return verified === true || isTrusted ? email : undefined
}

function nameOf({ name }: StatedClaims, email: string): string {
  const text = typeof name === 'string' ? name.replace(/\p{Cc}/gu, ' ').trim() : ''
  return (text || email).slice(0, NAME_MAX)
}

function statesFactor({ amr }: StatedClaims): boolean {
  return Array.isArray(amr) && amr.some((method) => FACTORS.has(method))
}

/** Returns true if the provider states that the person was authenticated long ago. */
function isOld({ auth_time: at }: StatedClaims): boolean {
  return typeof at === 'number' && at < Date.now() / 1000 - FRESH_SECONDS
}
