/**
 * The gateway's side of OpenID Connect, by `openid-client`: discovery, the address of the
 * provider's page, and the exchange of a code for checked claims. The only file that knows the
 * library.
 */
import { hash } from 'node:crypto'
import type { Configuration, CustomFetch } from 'openid-client'
import { asString } from '../../base/lib/json.ts'
import type { Guard } from '../../base/outbound/guard.ts'
import type { StatedClaims } from './claim-rules.ts'
import type { Provider } from './provider.ts'

/** Discovery is repeated daily; a failure is remembered for this long. */
const DISCOVERED_MS = 24 * 3_600_000
const FAILED_MS = 30_000
const SKEW_SECONDS = 60
const REMEMBERED_MAX = 100
/** The guard's own limits are shorter. */
const TIMEOUT_SECONDS = 25
const BASIC = 'client_secret_basic'
/** Servers refuse longer addresses; a token that names many groups is longer. */
const HINT_LENGTH_MAX = 6_000
/** Texts that the database stores as they are: no two of them become one. */
const SUBJECT = /^[^\0\p{Cs}]+$/u

/** The provider did not answer, answered too late, or reported a failure of its own. */
class ProviderAway extends Error {}

/** Returns true for a failure that means that the provider is unavailable. */
export function isProviderAway(error: unknown): boolean {
  if (error instanceof ProviderAway) return true
  return error instanceof Error && error.cause !== undefined && isProviderAway(error.cause)
}

export interface RelyingPartyOptions {
  readonly guard: Pick<Guard, 'request'>
  readonly nowMs: () => number
}

/** The values that one browser has to bring back, derived from the token in its cookie. */
export interface Checks {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

export interface ProviderAnswer {
  readonly claims: StatedClaims
  readonly idToken: string
}

/** The content of a provider's discovery document. */
export interface ProviderFacts {
  readonly authorizationEndpoint: string | undefined
  readonly scopes: readonly string[]
  readonly algorithms: readonly string[]
  /** True if the session at the provider can be ended from here. */
  readonly endsSessions: boolean
}

export interface RelyingParty {
  /** Rejects if the provider cannot be reached, or if its document names another issuer. */
  discover(provider: Provider): Promise<Configuration>
  /** Reads the discovery document of an issuer again. Rejects as `discover` does. */
  inspect(issuer: string): Promise<ProviderFacts>
  /** Returns the address of the provider's page. `isFresh` asks for a new proof. */
  authorizationUrl(
    provider: Provider,
    request: Checks & { readonly redirectUri: string; readonly isFresh: boolean },
  ): Promise<string>
  /** Exchanges the code in `url` for claims, all of them checked. */
  exchange(
    provider: Provider,
    url: URL,
    checks: Checks & { readonly isFresh: boolean },
  ): Promise<ProviderAnswer>
  /** Returns the address that ends the session at the provider, if it has one. */
  endSessionUrl(
    provider: Provider,
    session: { readonly idToken: string | undefined; readonly returnTo: string },
  ): Promise<string | undefined>
}

export function deriveChecks(token: string): Checks {
  const derive = (use: string) => hash('sha256', `${use}:${token}`, 'base64url')
  return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') }
}

interface Known {
  readonly found: Promise<Configuration>
  readonly untilMs: number
}

export function createRelyingParty({ guard, nowMs }: RelyingPartyOptions): RelyingParty {
  const known = new Map<string, Known>()
  const guarded = createGuardedFetch(guard)

  function discover(provider: Provider): Promise<Configuration> {
    const { issuer, clientId, clientSecret = '' } = provider
    const key = hash('sha256', JSON.stringify([issuer, clientId, clientSecret]))
    const before = known.get(key)
    if (before && nowMs() < before.untilMs) return before.found
    const found = discoverNow(provider, guarded)
    const [oldest] = known.keys()
    if (known.size >= REMEMBERED_MAX && oldest) known.delete(oldest)
    known.set(key, { found, untilMs: nowMs() + DISCOVERED_MS })
    found.catch(() => known.set(key, { found, untilMs: nowMs() + FAILED_MS }))
    return found
  }

  return {
    discover,
    async inspect(issuer) {
      return describeFacts(await discoverNow({ issuer, clientId: 'test' }, guarded))
    },
    async authorizationUrl(provider, { state, nonce, verifier, redirectUri, isFresh }) {
      const client = await import('openid-client')
      const url = client.buildAuthorizationUrl(await discover(provider), {
        redirect_uri: redirectUri,
        scope: provider.scopes,
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(isFresh ? { max_age: '0', prompt: 'login' } : {}),
      })
      return url.href
    },
    async exchange(provider, url, { state, nonce, verifier, isFresh }) {
      const client = await import('openid-client')
      const configuration = await discover(provider)
      const tokens = await client.authorizationCodeGrant(configuration, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
        ...(isFresh ? { maxAge: 0 } : {}),
      })
      const stated = tokens.claims()
      if (!stated || tokens.id_token === undefined) throw new Error('there is no ID token')
      checkStated(stated, provider)
      const { userinfo_endpoint: endpoint } = configuration.serverMetadata()
      const info =
        endpoint === undefined
          ? {}
          : await client.fetchUserInfo(configuration, tokens.access_token, stated.sub)
      return { claims: mergeClaims(stated, info), idToken: tokens.id_token }
    },
    async endSessionUrl(provider, { idToken, returnTo }) {
      const client = await import('openid-client')
      const configuration = await discover(provider)
      if (!configuration.serverMetadata().end_session_endpoint) return undefined
      const url = client.buildEndSessionUrl(configuration, {
        post_logout_redirect_uri: returnTo,
        ...(idToken && idToken.length <= HINT_LENGTH_MAX ? { id_token_hint: idToken } : {}),
      })
      return url.href
    },
  }
}

function describeFacts(configuration: Configuration): ProviderFacts {
  const found = configuration.serverMetadata()
  return {
    authorizationEndpoint: asString(found.authorization_endpoint),
    scopes: textsOf(found.scopes_supported),
    algorithms: textsOf(found.id_token_signing_alg_values_supported),
    endsSessions: found.end_session_endpoint !== undefined,
  }
}

/** Returns the texts of a list that a provider states, whose type nothing has checked. */
function textsOf(value: unknown): string[] {
  const list: unknown[] = Array.isArray(value) ? value : []
  return list.filter((one) => typeof one === 'string')
}

type GuardedFetch = ReturnType<typeof createGuardedFetch>

async function discoverNow(
  provider: Pick<Provider, 'issuer' | 'clientId' | 'clientSecret'>,
  guarded: GuardedFetch,
): Promise<Configuration> {
  const client = await import('openid-client')
  const { issuer, clientId, clientSecret } = provider
  const insecure = issuer.startsWith('http:') ? [client.allowInsecureRequests] : []
  const ask: CustomFetch = (url, init) => guarded(url, init as RequestInit)
  const found = await client.discovery(new URL(issuer), clientId, undefined, client.None(), {
    [client.customFetch]: ask,
    timeout: TIMEOUT_SECONDS,
    execute: insecure,
  })
  const metadata = found.serverMetadata()
  // The library compares addresses, for which a slash at the end makes no difference.
  if (metadata.issuer !== issuer) {
    throw new Error(
      `the provider names itself ${metadata.issuer}: write the issuer exactly like this`,
    )
  }
  const methods = textsOf(metadata.token_endpoint_auth_methods_supported ?? [BASIC])
  const how =
    clientSecret === undefined
      ? client.None()
      : methods.includes(BASIC)
        ? client.ClientSecretBasic(clientSecret)
        : client.ClientSecretPost(clientSecret)
  const tolerance = { [client.clockTolerance]: SKEW_SECONDS }
  const configuration = new client.Configuration(metadata, clientId, tolerance, how)
  configuration[client.customFetch] = ask
  configuration.timeout = TIMEOUT_SECONDS
  for (const apply of [client.enableNonRepudiationChecks, ...insecure]) apply(configuration)
  return configuration
}

/** Checks what the library leaves to its user. */
function checkStated(stated: StatedClaims, { clientId }: Provider): void {
  const { azp, iat, sub } = stated
  if (azp !== undefined && azp !== clientId) throw new Error('the ID token is for another client')
  if (typeof iat === 'number' && iat > Date.now() / 1000 + SKEW_SECONDS) {
    throw new Error('the ID token was issued in the future')
  }
  if (typeof sub !== 'string' || sub.length > 255 || !SUBJECT.test(sub)) {
    throw new Error('the ID token has no subject of at most 255 characters')
  }
}

/**
 * Adds what only the provider's user info states. An address and whether it is verified belong
 * together, so both are taken from the same source.
 */
function mergeClaims(stated: StatedClaims, info: StatedClaims): StatedClaims {
  const ofAddress = stated.email === undefined ? info : stated
  const isSame = stated.email === info.email
  const { email } = ofAddress
  const verified = ofAddress.email_verified ?? (isSame ? info.email_verified : undefined)
  return { ...info, ...stated, email, email_verified: verified }
}

const ANSWER_MS = 10_000
const BYTES_MAX = 1 << 20

/** Returns the `fetch` with which providers are asked: guarded, within limits, no redirects. */
function createGuardedFetch(guard: Pick<Guard, 'request'>) {
  return async (url: string, init: RequestInit): Promise<Response> => {
    const { method = 'GET', headers, body, signal } = init
    const bytes = body ? Buffer.from(await new Response(body).arrayBuffer()) : undefined
    const result = await guard.request({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(new Headers(headers)),
      ...(bytes ? { body: bytes } : {}),
      ...(signal ? { signal } : {}),
      budgetMs: ANSWER_MS,
      bodyMs: ANSWER_MS,
      bodyBytesMax: BYTES_MAX,
    })
    if (result.outcome !== 'answered') throw new ProviderAway(result.message)
    if (result.truncated) throw new ProviderAway('the answer is longer or slower than allowed')
    if (result.status >= 500) throw new ProviderAway(`it answered with status ${result.status}`)
    const isBare = result.status === 204 || result.status === 205 || result.status === 304
    return new Response(isBare ? null : new Uint8Array(result.body), {
      status: result.status,
      headers: flatten(result.headers),
    })
  }
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>) {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  )
  return new Headers(lines)
}
