/**
 * Signing in with a provider: a browser is sent there and comes back with a code. A cookie
 * identifies what the browser started, so that an answer to a sign-in from another browser is
 * useless here.
 */
import { GatewayError } from '../../../../base/lib/errors.ts'
import { trimEnd } from '../../../../base/lib/text/trim-end.ts'
import { writeAudit } from '../../audit-log/audit-log.ts'
import type { Exchange, OidcParts, SignInParts } from '../../parts.ts'
import type { Provider } from '../../provider.ts'
import { RefusedAtProvider } from '../../provider-refusal.ts'
import { deriveChecks, isProviderAway } from '../../relying-party.ts'
import { readCookie, setCookie } from '../../sessions/cookies.ts'
import type { Session } from '../../sessions/session.ts'
import { findSessionProvider } from '../../sessions/session-store.ts'
import { identifySession, idTokenContext } from '../../sessions/sessions.ts'
import { createToken, hashToken } from '../../sessions/token.ts'
import { readLink } from '../links.ts'
import { completeLink, completeSignIn, completeStepUp, type Proof } from './complete.ts'
import { type Intent, insertProviderStep, takeProviderStep } from './provider-store.ts'
import { findProvider } from './providers.ts'

const CALLBACK = '/admin/v1/sign-in/oidc/callback'
const REASON_LENGTH_MAX = 300
/** Errors in a provider's answer that report its own failure, like a 5xx. */
const FAULTS: readonly string[] = ['server_error', 'temporarily_unavailable']

interface Start {
  readonly providerId: string
  readonly intent: Intent
  readonly session?: Session
  readonly linkId?: string
  /** A path of the console. */
  readonly returnTo?: string
  /** True if the person has accepted the terms of signing up. */
  readonly acceptsTerms?: boolean
}

/**
 * Returns the address of the provider's page, and sets the cookie. Throws 404 for an unknown
 * provider, 429 and 503.
 */
export async function startAtProvider(
  parts: SignInParts,
  start: Start,
  { request, response }: Exchange,
): Promise<string> {
  await parts.throttle.take('provider', parts.addresses.networkOf(request))
  const { relyingParty, provider } = await require(parts, start.providerId)
  const { token, tokenHash } = createToken()
  const { intent, session, linkId, returnTo = '/' } = start
  const redirectUri = callbackOf(parts)
  const isFresh = intent === 'step_up'
  const url = await relyingParty
    .authorizationUrl(provider, { ...deriveChecks(token), redirectUri, isFresh })
    .catch((cause) => {
      throw new RefusedAtProvider('unavailable', cause)
    })
  await insertProviderStep(parts.sql, {
    tokenHash,
    provider_id: provider.id,
    intent,
    session_id: session?.sessionId ?? null,
    link_id: linkId ?? null,
    return_to: returnTo,
    terms: (start.acceptsTerms && parts.signUp?.terms) || null,
  })
  setCookie(response, 'provider', token, parts.consoleAddress)
  return url
}

/** Starts accepting an invitation, whose link was opened in this browser. */
export async function startInvitation(
  parts: SignInParts,
  { token, providerId }: { readonly token: string; readonly providerId: string },
  exchange: Exchange,
): Promise<string> {
  const link = await readLink(parts, 'invitation', token, exchange)
  return await startAtProvider(
    parts,
    { providerId, intent: 'invitation', linkId: link.id },
    exchange,
  )
}

/**
 * Completes what this browser started, and returns the path of the console to continue at. Throws
 * RefusedAtProvider. The refusal is in the audit log with what the provider answered.
 */
export async function finishAtProvider(
  parts: SignInParts,
  search: string,
  exchange: Exchange,
): Promise<string> {
  let providerId = ''
  let returnTo: string | undefined
  try {
    const cookie = readCookie(exchange.request, 'provider', parts.consoleAddress)
    const state = new URLSearchParams(search).get('state')
    // The cookie belongs to the window that started last: an answer to another window does not end
    // its sign-in.
    if (!cookie || state !== deriveChecks(cookie).state) throw new RefusedAtProvider('expired')
    const tokenHash = hashToken(cookie)
    const step = tokenHash && (await takeProviderStep(parts.sql, tokenHash))
    setCookie(exchange.response, 'provider', undefined, parts.consoleAddress)
    if (!step) throw new RefusedAtProvider('expired')
    providerId = step.provider_id
    if (step.intent === 'sign_in') returnTo = step.return_to
    const proof = await prove(parts, { ...step, token: cookie, search })
    if (step.intent === 'step_up' || step.intent === 'link') {
      const session = await identifySession(parts, exchange.request)
      if (session?.sessionId !== step.session_id) throw new RefusedAtProvider('expired')
      if (step.intent === 'link') return await completeLink(parts, session, proof)
      return await completeStepUp(parts, session, proof, step.return_to)
    }
    return await completeSignIn(parts, { ...step, proof }, exchange)
  } catch (error) {
    if (!(error instanceof RefusedAtProvider)) throw error
    error.returnTo = returnTo
    const details = {
      provider: providerId,
      reason: error.reason,
      cause: describe(error.details.cause),
    }
    const ip = parts.addresses.of(exchange.request)
    const row = { actor: undefined, ip, action: 'sign-in at provider failed', target: providerId }
    await writeAudit(parts.sql, { ...row, details })
    throw error
  }
}

interface Returned {
  readonly provider_id: string
  readonly intent: Intent
  readonly token: string
  readonly search: string
}

/** Throws RefusedAtProvider unless the provider has answered what this browser asked. */
async function prove(parts: SignInParts, returned: Returned): Promise<Proof> {
  const { relyingParty, provider } = await require(parts, returned.provider_id).catch((cause) => {
    throw new RefusedAtProvider('expired', cause)
  })
  const query = new URLSearchParams(returned.search)
  const checks = deriveChecks(returned.token)
  const refusal = query.get('error')
  if (refusal !== null) {
    const reason = FAULTS.includes(refusal) ? 'unavailable' : 'denied'
    throw new RefusedAtProvider(reason, new Error(refusal))
  }
  const url = new URL(`${callbackOf(parts)}?${query}`)
  const isFresh = returned.intent === 'step_up'
  const answer = await relyingParty
    .exchange(provider, url, { ...checks, isFresh })
    .catch((cause) => {
      throw new RefusedAtProvider(isProviderAway(cause) ? 'unavailable' : 'invalid', cause)
    })
  return { provider, ...answer }
}

/**
 * Returns the address that ends the session at its provider too; undefined if there is none. The
 * session of the gateway ends whether or not the provider can be reached.
 */
export async function endSessionUrl(
  parts: SignInParts,
  sessionId: string,
): Promise<string | undefined> {
  const row = await findSessionProvider(parts.sql, sessionId)
  if (!row?.provider_id || !parts.oidc) return undefined
  const provider = await findProvider(parts, row.provider_id)
  if (!provider) return undefined
  const { id_token: sealed } = row
  try {
    const idToken = sealed ? parts.secrets.open(sealed, idTokenContext(sessionId)) : undefined
    const returnTo = signedOutOf(parts)
    return await parts.oidc.relyingParty.endSessionUrl(provider, { idToken, returnTo })
  } catch {
    return undefined
  }
}

async function require(
  parts: SignInParts,
  id: string,
): Promise<Pick<OidcParts, 'relyingParty'> & { readonly provider: Provider }> {
  const provider = await findProvider(parts, id)
  if (!provider || !parts.oidc) {
    throw new GatewayError('not_found', { message: 'no such sign-in provider' })
  }
  return { relyingParty: parts.oidc.relyingParty, provider }
}

function baseOf({ consoleAddress }: SignInParts): string {
  return trimEnd(consoleAddress.base(), '/')
}

/** Returns the address to which providers send browsers back. */
export function callbackOf(parts: SignInParts): string {
  return `${baseOf(parts)}${CALLBACK}`
}

/** Returns the address to which browsers come after signing out at a provider. */
export function signedOutOf(parts: SignInParts): string {
  return `${baseOf(parts)}/console/sign-in`
}

/** Says what was wrong, without what the provider sent. */
function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return ''
  const { code } = cause as { readonly code?: unknown }
  const text = typeof code === 'string' ? `${code}: ${cause.message}` : cause.message
  return text.slice(0, REASON_LENGTH_MAX)
}
