/**
 * Verb 1: identifies the caller of every request with a key, and admits it. Malformed keys are
 * refused before any look-up.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { type Context, noteTime } from '../../../base/http/context.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import type { Networks } from '../../../base/lib/networks.ts'
import {
  isWellFormedApiKey,
  type PresentedKey,
  presentKey,
} from '../../../base/lib/secrets/api-key.ts'
import type { Caller, Identified } from '../../../money/accounts/accounts.ts'
import { isToken, refuseToken } from '../../../money/accounts/tokens/read-token.ts'
import type { Services, Waiting } from '../services.ts'

const BEARER = /^Bearer +(\S+) *$/i

/** The credentials of a request: of its headers, and on Google's paths of its query. */
interface Credentials {
  readonly authorization: string | undefined
  readonly apiKey: string | string[] | undefined
  readonly googleKey: string | string[] | undefined
  readonly queryKey: string | undefined
}

interface Presented extends Credentials {
  readonly key: PresentedKey
}

/** SDKs reuse connections, so the same credentials on one connection are not hashed again. */
const lastPresented = new WeakMap<Socket, Presented>()

function readKey({ envelope, request, query }: Context): PresentedKey {
  const { headers, rawHeaders, socket } = request
  const { authorization, 'x-api-key': apiKey, 'x-goog-api-key': googleKey } = headers
  const queryKey = (envelope === 'google' && query.get('key')) || undefined
  const last = lastPresented.get(socket)
  const isSame =
    last?.authorization === authorization &&
    last?.apiKey === apiKey &&
    last?.googleKey === googleKey &&
    last?.queryKey === queryKey
  const lines = readAuthorizations(rawHeaders)
  const isRepeated = lines.length > 1
  if (last && isSame && !isRepeated) return last.key
  // The request of a message on a socket has headers alone.
  const authorizations = isRepeated ? lines : [authorization ?? '']
  const credentials = { authorization, apiKey, googleKey, queryKey }
  const key = readCredential(credentials, authorizations, headers['api-key'])
  lastPresented.set(socket, { ...credentials, key })
  return key
}

const NAME = 'authorization'

/** Returns the `Authorization` of each line; `headers` has the first one alone. */
function readAuthorizations(rawHeaders: readonly string[]): readonly string[] {
  const lines: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === NAME.length && name.toLowerCase() === NAME) {
      lines.push(rawHeaders[index + 1] ?? '')
    }
  }
  return lines
}

/** Returns true if the only key of a request is in the header of Google's clients. */
export function sendsGoogleKey(headers: IncomingHttpHeaders): boolean {
  const { authorization, 'x-api-key': apiKey, 'x-goog-api-key': key } = headers
  return Boolean(key) && authorization === undefined && apiKey === undefined
}

/**
 * Returns the key or token in `Authorization: Bearer`, `x-api-key`, the header of Google's clients
 * or the query. Throws 401 if there is none, if they differ, or if it is malformed; its message
 * helps whoever sends a key in the `misplaced` header.
 */
function readCredential(
  { apiKey, googleKey, queryKey }: Credentials,
  authorizations: readonly string[],
  misplaced: unknown,
): PresentedKey {
  const isRepeated = authorizations.length > 1
  const bearers = authorizations.map((line) => BEARER.exec(line)?.[1] ?? (isRepeated ? line : ''))
  const [key, ...others] = [...bearers, apiKey, googleKey, queryKey].filter(Boolean)
  if (others.some((other) => other !== key)) {
    throw new GatewayError('unauthenticated', {
      message: 'invalid or missing API key: this request has different ones, send one',
    })
  }
  if (typeof key === 'string' && isWellFormedApiKey(key)) return presentKey(key)
  if (typeof key === 'string' && isToken(key)) return presentKey(key, true)
  const isInside = [...authorizations, apiKey, misplaced].some(hasKeyInside)
  throw new GatewayError('unauthenticated', isInside ? { message: FORM } : {})
}

/** An agent shows "Not logged in" in place of a text with "x-api-key". */
const FORM = 'invalid or missing API key: send it as Authorization: Bearer YOUR-KEY, without quotes'

/** Returns true for a header with a well-formed key in quotes, without its scheme or the like. */
function hasKeyInside(header: unknown): boolean {
  const key = typeof header === 'string' ? /\btr-\w+/.exec(header)?.[0] : undefined
  return key !== undefined && isWellFormedApiKey(key)
}

/**
 * Returns the caller by the request's key; `waiting` is who waits for it, if not the request.
 * Throws 401, 403 for an address that is not allowed or a suspended account, or 503.
 */
export async function identify(
  context: Context,
  services: Pick<Services, 'accounts' | 'addresses' | 'whileAway'>,
  waiting: Waiting = context,
): Promise<Caller> {
  const key = readKey(context)
  const startedAt = performance.now()
  let identified: Identified | Promise<Identified> | undefined = services.accounts.identify(key)
  let found: Identified
  try {
    found =
      identified instanceof Promise
        ? await services.whileAway(waiting, async () => {
            const first = identified
            identified = undefined
            return await (first ?? services.accounts.identify(key))
          })
        : identified
  } finally {
    noteTime(context, 'auth', startedAt)
  }
  if (found.allowed) refuseAddress(context, found.allowed, services)
  if ('refused' in found) throw refusalOf(found.refused, key)
  context.facts.accountId = found.caller.accountId
  context.facts.keyId = found.caller.keyId
  return found.caller
}

/**
 * The message for a token says more, because its subject is proven, whereas a key may be a guess.
 */
function refusalOf(
  refused: Extract<Identified, { refused: unknown }>['refused'],
  { token }: PresentedKey,
): GatewayError {
  const forbidden = (message: string) => new GatewayError('forbidden', { message })
  if (refused === 'suspended') return forbidden('this account is suspended')
  if (token === undefined) return new GatewayError('unauthenticated')
  if (refused === 'disabled') return forbidden('the subject of this token is disabled')
  if (refused === 'left') return forbidden('the member of this token has left its account')
  return refuseToken('has expired')
}

/**
 * Checked before the state of the account, with the same message for the lists of keys and of
 * accounts, so that somebody who has found a key learns nothing else about it.
 */
function refuseAddress(
  { request }: Context,
  allowed: readonly Networks[],
  { addresses }: Pick<Services, 'addresses'>,
): void {
  const address = addresses.of(request)
  if (allowed.every((networks) => networks.has(address))) return
  throw new GatewayError('forbidden', {
    code: 'address_not_allowed',
    message: `calls from ${address || 'this address'} are not allowed`,
  })
}

type NeededForRefusals = Pick<
  Services,
  'accounts' | 'addresses' | 'limiter' | 'limits' | 'whileAway'
>
type Needed = NeededForRefusals & Pick<Services, 'slots'>

/**
 * The share of an account's refusals that one key may use, so that one broken client does not block
 * the others.
 */
const KEY_SHARE = 1 / 2
/** Reading a body costs about as much as handling a small request for each of these. */
const BYTES_PER_UNIT = 64 * 1024

/**
 * Identifies the caller and runs `work` in one of the gateway's slots, which accounts share fairly.
 * An account with few of them waits for its next one. Requests that are refused before money is
 * held count towards a limit of their own, since no other limit applies to them. Slot and limit are
 * decided before the body is read, so such a refusal costs no more than the request's head. Throws
 * as `identify`, 429 beyond that limit, 503 without a slot, or as `work`.
 */
export async function enter(
  context: Context,
  services: Needed,
  work: (caller: Caller) => Promise<void>,
): Promise<void> {
  const caller = await identify(context, services)
  refuseRefused(caller, services)
  const taken = services.slots.take(caller.accountId)
  const leave = taken instanceof Promise ? await taken : taken
  context.checkAgain = () => refuseRefused(caller, services)
  try {
    if (taken instanceof Promise) expectCaller(context)
    await work(caller)
  } catch (error) {
    if (!context.isAccepted) countRefusal(error, context.bodyBytes, caller, services)
    throw error
  } finally {
    leave()
  }
}

/**
 * Runs `work` for a message on the connection of a request, with the caller as it is now. A
 * refusal counts as that of a request; a request that `work` starts counts its own. Throws as
 * `identify`, 429 beyond the limit of refusals, or as `work`.
 */
export async function enterMessage(
  context: Context,
  services: NeededForRefusals,
  message: Waiting & { readonly bytes: number },
  work: (caller: Caller) => Promise<void>,
): Promise<void> {
  const caller = await identify(context, services, message)
  refuseRefused(caller, services)
  try {
    await work(caller)
  } catch (error) {
    countRefusal(error, message.bytes, caller, services)
    throw error
  }
}

function limitsOf({ accountId, keyId, limitKeyId = keyId }: Caller, { limits }: NeededForRefusals) {
  const { refusalsPerMinute } = limits
  return [
    { subject: accountId, what: 'account', perMinute: refusalsPerMinute },
    { subject: limitKeyId, what: 'key', perMinute: Math.ceil(refusalsPerMinute * KEY_SHARE) },
  ]
}

/** Throws 429 for a caller with too many refused requests within a minute. */
function refuseRefused(caller: Caller, services: NeededForRefusals): void {
  for (const { subject, what, perMinute } of limitsOf(caller, services)) {
    const retryAfterSeconds = services.limiter.wait(subject, perMinute)
    if (retryAfterSeconds === 0) continue
    const message = `too many requests of this ${what} were refused: correct them before you retry`
    throw new GatewayError('rate_limited', { message, retryAfterSeconds })
  }
}

/** Throws for a caller who has left while the request waited: nothing of it was read. */
function expectCaller(context: Context): void {
  context.checkAgain?.()
  if (context.end) throw new GatewayError('unavailable', { cause: 'the caller has left' })
}

/** Faults of the gateway do not count. */
function countRefusal(
  error: unknown,
  bodyBytes: number,
  caller: Caller,
  services: NeededForRefusals,
): void {
  if (!(error instanceof GatewayError) || error.status >= 500) return
  const units = 1 + Math.floor(bodyBytes / BYTES_PER_UNIT)
  for (const { subject, perMinute } of limitsOf(caller, services)) {
    services.limiter.add(subject, perMinute, units)
  }
}
