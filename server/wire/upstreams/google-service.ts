/**
 * Google's services: the access tokens of service accounts, and the meaning of errors
 * (docs/protocols/google.md).
 */
import { createHash, createPrivateKey, sign } from 'node:crypto'
import { z } from 'zod'
import { asString, member, tryParseJson } from '../../base/lib/json.ts'
import { type GoogleError, readGoogleError } from '../dialects/contents/read-error.ts'
import { refineRejection } from './account-refusal.ts'
import {
  classifyStatus,
  type FailureKind,
  readErrorBody,
  readRetryAfter,
  UpstreamFailure,
} from './failure.ts'
import type { Wire, WireRequest, WireResponse } from './wire.ts'

const TOKEN_URI = 'https://oauth2.googleapis.com/token'

const keyFile = z.object({
  client_email: z.string().min(1),
  private_key: z.string().refine(isPrivateKey, 'is not a private key in PEM format'),
  private_key_id: z.string().optional(),
  project_id: z.string().optional(),
  token_uri: z.url({ protocol: /^https?$/ }).default(TOKEN_URI),
})

/** The key file of a service account: JSON, or its text. */
export const serviceAccount = z.union([
  keyFile,
  z
    .string()
    .transform((text, context) => {
      const parsed = tryParseJson(Buffer.from(text))
      if (parsed === undefined) context.addIssue({ code: 'custom', message: 'is not JSON' })
      return parsed
    })
    .pipe(keyFile),
])

export type ServiceAccount = z.output<typeof keyFile>

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}

const NAMED_HOST =
  /^(?!localhost$)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?!internal$|local$|localhost$)[a-z]{2,}$/

/**
 * Returns why tokens must not be requested from the address in a key file, or undefined. That
 * address receives signed statements, so it must be a public host over TLS, or the channel's own
 * host.
 */
export function refuseTokenUri(
  { token_uri: uri }: ServiceAccount,
  baseUrl: string,
): string | undefined {
  const { protocol, hostname } = new URL(uri)
  if (hostname === new URL(baseUrl).hostname) return undefined
  if (protocol === 'https:' && NAMED_HOST.test(hostname)) return undefined
  return 'token_uri must be https at a public host, or at the host of base_url'
}

/**
 * The longest time before its end at which a token is renewed; for short-lived tokens, a quarter of
 * their lifetime.
 */
const EARLY_MS = 5 * 60_000
const KEPT_MAX = 1_000
const LIFE_SECONDS = 3_600
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'

interface Kept {
  token?: string
  /** From this time on a new token is requested, although this one is still valid. */
  staleAtMs: number
  endsAtMs: number
  flight?: Promise<void> | undefined
}

export interface TokenCache {
  /** Resolves with a token. Rejects with a failure before which nothing of the call was sent. */
  get(wire: Wire, account: ServiceAccount): Promise<string>
  /** Forgets a token that the service refused. */
  drop(account: ServiceAccount, token: string): void
}

/** Tokens are cached per account, and requested once however many calls wait. */
export function createTokenCache(): TokenCache {
  const kept = new Map<string, Kept>()
  const entryOf = (account: ServiceAccount): Kept => {
    const key = createHash('sha256').update(JSON.stringify(account)).digest('base64')
    const entry = kept.get(key) ?? { staleAtMs: 0, endsAtMs: 0 }
    kept.delete(key)
    kept.set(key, entry)
    const [oldest] = kept.keys()
    if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest)
    return entry
  }
  return {
    async get(wire, account) {
      const entry = entryOf(account)
      const ask = async () => {
        entry.flight ??= refresh(wire, account, entry).finally(() => {
          entry.flight = undefined
        })
        await entry.flight
      }
      if (entry.token !== undefined && wire.now() < entry.staleAtMs) return entry.token
      // The call that requests the token for all may be cancelled; those that waited for it then
      // request one themselves, once.
      const isShared = entry.flight !== undefined
      try {
        await ask().catch((error) => (isShared ? ask() : Promise.reject(error)))
      } catch (error) {
        if (entry.token === undefined || wire.now() >= entry.endsAtMs) throw error
      }
      return entry.token ?? ''
    },
    drop(account, token) {
      const entry = entryOf(account)
      if (entry.token === token) delete entry.token
    },
  }
}

/** Sends with a token. One that is refused may have been revoked: it is renewed once. */
export async function sendWithToken(
  wire: Wire,
  tokens: TokenCache,
  account: ServiceAccount,
  request: WireRequest,
): Promise<WireResponse> {
  const sendWith = (token: string) =>
    wire.send({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } })
  const token = await tokens.get(wire, account)
  const response = await sendWith(token)
  if (response.status !== 401) return response
  await readErrorBody(response)
  tokens.drop(account, token)
  return sendWith(await tokens.get(wire, account))
}

async function refresh(wire: Wire, account: ServiceAccount, entry: Kept): Promise<void> {
  const askedAtMs = wire.now()
  const { token, seconds } = await exchange(wire, account, Math.floor(askedAtMs / 1000))
  const lifeMs = seconds * 1000
  entry.token = token
  entry.endsAtMs = askedAtMs + lifeMs
  entry.staleAtMs = entry.endsAtMs - Math.min(EARLY_MS, lifeMs / 4)
}

async function exchange(wire: Wire, account: ServiceAccount, nowSeconds: number) {
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: signAssertion(account, nowSeconds),
  })
  const response = await wire
    .send({
      method: 'POST',
      url: account.token_uri,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: Buffer.from(form.toString()),
      forCredential: true,
    })
    .catch((cause) => {
      const isFault = cause instanceof UpstreamFailure && cause.kind === 'channel_fault'
      throw isFault
        ? cause
        : new UpstreamFailure('not_sent', { cause, message: `no token: ${cause}` })
    })
  const { status } = response
  const document = tryParseJson(await readErrorBody(response))
  const token = asString(member(document, 'access_token'))
  const stated = member(document, 'expires_in')
  const seconds = typeof stated === 'number' && stated > 0 ? stated : LIFE_SECONDS
  if (status < 300 && token) return { token, seconds }
  const reasons = [member(document, 'error'), member(document, 'error_description')].map(asString)
  const reason = reasons.filter((text) => text !== undefined).join(': ')
  const host = new URL(account.token_uri).host
  const message = `no token from ${host} (${status})${reason && `: ${reason}`}`
  throw new UpstreamFailure(status >= 500 || status === 429 ? 'not_sent' : 'channel_fault', {
    message,
  })
}

/** Returns the signed statement for which a token is given. */
function signAssertion(account: ServiceAccount, nowSeconds: number): string {
  const { client_email: email, private_key: key, private_key_id: kid, token_uri: aud } = account
  const header = { alg: 'RS256', typ: 'JWT', ...(kid === undefined ? {} : { kid }) }
  const claims = { iss: email, scope: SCOPE, aud, iat: nowSeconds, exp: nowSeconds + LIFE_SECONDS }
  const parts = [header, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const signature = sign('RSA-SHA256', Buffer.from(parts.join('.')), key)
  return `${parts.join('.')}.${signature.toString('base64url')}`
}

const KINDS: Readonly<Record<string, FailureKind>> = {
  INVALID_ARGUMENT: 'rejected',
  OUT_OF_RANGE: 'rejected',
  ABORTED: 'rejected',
  ALREADY_EXISTS: 'rejected',
  FAILED_PRECONDITION: 'channel_fault',
  UNAUTHENTICATED: 'channel_fault',
  PERMISSION_DENIED: 'channel_fault',
  NOT_FOUND: 'channel_fault',
  RESOURCE_EXHAUSTED: 'busy',
  UNAVAILABLE: 'busy',
  INTERNAL: 'failed',
  UNKNOWN: 'failed',
  DEADLINE_EXCEEDED: 'unknown',
}
const BAD_KEYS = new Set(['API_KEY_INVALID', 'API_KEY_SERVICE_BLOCKED', 'ACCESS_TOKEN_EXPIRED'])

/** Reads an answer of 400 or more. `value` is the request, whose own words prove nothing. */
export async function readGoogleFailure(
  response: WireResponse,
  value: unknown,
): Promise<UpstreamFailure> {
  const error = readGoogleError(tryParseJson(await readErrorBody(response))) ?? {}
  const retryAfterSeconds = error.retryAfterSeconds ?? readRetryAfter(response.headers)
  return classifyError({ ...error, retryAfterSeconds }, response.status, value)
}

function classifyError(error: GoogleError, status: number, value: unknown): UpstreamFailure {
  const { message, retryAfterSeconds } = error
  const { status: name = '' } = error
  const stated = (Object.hasOwn(KINDS, name) ? KINDS[name] : undefined) ?? classifyStatus(status)
  const kind = isOfAccount(error) ? 'channel_fault' : refineRejection(stated, message, value)
  return new UpstreamFailure(kind, { status, message, retryAfterSeconds })
}

/** An invalid key is reported as a 400, and a daily quota is not a temporary overload. */
function isOfAccount({ reason, isQuotaOfDay = false }: GoogleError): boolean {
  return isQuotaOfDay || (reason !== undefined && BAD_KEYS.has(reason))
}

/** The place of a project's models. */
export const placeSettings = {
  /** By default the project of the service account. */
  project: z
    .string()
    .regex(/^[a-z0-9:.-]{1,100}$/)
    .optional(),
  /** A region such as `us-east5`, a multi-region (`us`, `eu`) or `global`. */
  location: z
    .string()
    .regex(/^[a-z][a-z0-9-]{1,39}$/)
    .default('global'),
}

interface Place {
  readonly location: string
  readonly base_url?: string | undefined
}

/** Returns the address of the channel, or of its location. */
export function readPlaceUrl({ base_url: url, location }: Place): string {
  if (url !== undefined) return url
  if (location === 'global') return 'https://aiplatform.googleapis.com'
  if (location === 'us' || location === 'eu') {
    return `https://aiplatform.${location}.rep.googleapis.com`
  }
  return `https://${location}-aiplatform.googleapis.com`
}
