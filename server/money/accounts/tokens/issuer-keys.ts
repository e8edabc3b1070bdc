/**
 * The public keys of issuers, as their addresses publish them. A set is fetched once for all
 * waiting calls, again every five minutes while it is in use, and for an unknown key at most every
 * 30 seconds. While an issuer is unavailable, its last set is used for up to a day.
 */
import { type CryptoKey, importJWK } from 'jose'
import { GatewayError } from '../../../base/lib/errors.ts'
import { isObject } from '../../../base/lib/json.ts'
import type { Log } from '../../../base/lib/log.ts'
import { isIssuerUrl, type TokenIssuer } from '../../../base/lib/token-issuer.ts'
import { refuseToken, type TokenHeader } from './read-token.ts'

/** A key of an issuer, imported for one algorithm. */
export interface FoundKey {
  readonly key: CryptoKey
  /** Its id and public parts: keys with the same name are the same key. */
  readonly name: string
}

export interface IssuerKeys {
  /** Throws 401 for a key that the issuer does not have, 503 if that cannot be known. */
  find(issuer: TokenIssuer, header: TokenHeader): Promise<FoundKey>
  /** Resolves to false once a key has left the issuer's set. */
  has(issuer: TokenIssuer, name: string): Promise<boolean>
}

export interface IssuerKeysOptions {
  /** Fetches a JSON document within limits of time and size. */
  readonly fetchJson: (url: string) => Promise<unknown>
  readonly nowMs: () => number
  readonly log: Log
}

interface SetKey {
  readonly kid: string | undefined
  readonly alg: string | undefined
  readonly jwk: Readonly<Record<string, string>>
  readonly name: string
  readonly imported: Map<string, Promise<CryptoKey | Uint8Array>>
}

interface State {
  readonly source: string
  keys: readonly SetKey[] | undefined
  fetchedAtMs: number
  triedAtMs: number
  /** The last fetch for a key that was not in the set. */
  soughtAtMs: number
  hasFailed: boolean
  flight: Promise<void> | undefined
}

/**
 * From the first age a set is fetched again in the background; from the second, calls wait for it.
 */
const REFRESH_AFTER_MS = 300_000
const WAIT_AFTER_MS = 540_000
const SERVED_MS = 86_400_000
const ATTEMPT_EVERY_MS = 30_000
const KEYS_MAX = 100
const RSA_BITS_MIN = 2_048
/** RSA of 8,192 bits; a longer modulus would make each signature expensive to check. */
const MEMBER_LENGTH_MAX = 1_400
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  RSA: ['n', 'e'],
  EC: ['crv', 'x', 'y'],
  OKP: ['crv', 'x'],
}
const CURVES: Readonly<Record<string, string>> = {
  ES256: 'P-256',
  ES384: 'P-384',
  ES512: 'P-521',
  EdDSA: 'Ed25519',
}

export function createIssuerKeys({ fetchJson, nowMs, log }: IssuerKeysOptions): IssuerKeys {
  const states = new Map<string, State>()

  function stateOf(issuer: TokenIssuer): State {
    const source = JSON.stringify([issuer.issuer, issuer.jwks_uri])
    const known = states.get(issuer.id)
    if (known?.source === source) return known
    const never = Number.NEGATIVE_INFINITY
    const times = { fetchedAtMs: never, triedAtMs: never, soughtAtMs: never }
    const state: State = { source, keys: undefined, hasFailed: false, flight: undefined, ...times }
    states.set(issuer.id, state)
    return state
  }

  /** Shares a fetch in progress; starts none within 30 seconds of one that failed. */
  function refresh(issuer: TokenIssuer, state: State): Promise<void> {
    if (state.flight) return state.flight
    if (state.hasFailed && nowMs() - state.triedAtMs < ATTEMPT_EVERY_MS) return Promise.resolve()
    state.triedAtMs = nowMs()
    state.flight = fetchSet(issuer, fetchJson)
      .then(
        (keys) => {
          // Keys that are still in the set keep their imported form.
          const known = new Map(state.keys?.map((key) => [key.name, key]))
          state.keys = keys.map((key) => known.get(key.name) ?? key)
          state.fetchedAtMs = state.triedAtMs
          state.hasFailed = false
        },
        (error) => {
          state.hasFailed = true
          log.warn({ url: issuer.issuer, error }, 'the keys of a token issuer cannot be fetched')
        },
      )
      .finally(() => {
        state.flight = undefined
      })
    return state.flight
  }

  /** Fetches for an unknown key, which may have been published just now, or never. */
  async function seek(issuer: TokenIssuer, state: State): Promise<void> {
    if (!state.flight && nowMs() - state.soughtAtMs < ATTEMPT_EVERY_MS) return
    state.soughtAtMs = nowMs()
    await refresh(issuer, state)
  }

  async function current(issuer: TokenIssuer, state: State): Promise<readonly SetKey[]> {
    const ageMs = nowMs() - state.fetchedAtMs
    if (ageMs > WAIT_AFTER_MS) await refresh(issuer, state)
    else if (ageMs > REFRESH_AFTER_MS) void refresh(issuer, state)
    if (state.keys && nowMs() - state.fetchedAtMs <= SERVED_MS) return state.keys
    throw away(issuer, nowMs() - state.triedAtMs)
  }

  return {
    async find(issuer, header) {
      const state = stateOf(issuer)
      const found = pick(await current(issuer, state), header)
      if (!found) await seek(issuer, state)
      const key = found ?? pick(await current(issuer, state), header)
      if (key) return { key: await imported(key, header.alg), name: key.name }
      if (state.hasFailed) throw away(issuer, nowMs() - state.triedAtMs)
      throw refuseToken('is signed with a key that its issuer does not publish')
    },
    async has(issuer, name) {
      const keys = await current(issuer, stateOf(issuer))
      return keys.some((key) => key.name === name)
    },
  }
}

function away({ id }: TokenIssuer, triedAgoMs: number): GatewayError {
  return new GatewayError('unavailable', {
    message: `the keys of the token issuer "${id}" cannot be fetched now, please try again`,
    retryAfterSeconds: Math.max(1, Math.ceil((ATTEMPT_EVERY_MS - triedAgoMs) / 1000)),
    // The cause is needed: without one, the call would wait as it does while the database is
    // unavailable.
    cause: new Error('the issuer is away'),
  })
}

/** Without a `kid` there must be one key that fits. */
function pick(keys: readonly SetKey[], { kid, alg }: TokenHeader): SetKey | undefined {
  const fitting = keys.filter((key) => fits(key, alg) && (kid === undefined || key.kid === kid))
  return kid === undefined && fitting.length > 1 ? undefined : fitting[0]
}

function fits({ jwk, alg: stated }: SetKey, alg: string): boolean {
  const curve = CURVES[alg]
  if (curve !== undefined) return jwk.crv === curve
  return jwk.kty === 'RSA' && (stated === undefined || stated === alg)
}

async function imported({ jwk, imported: known }: SetKey, alg: string): Promise<CryptoKey> {
  let importing = known.get(alg)
  if (!importing) {
    importing = importJWK({ ...jwk, kty: jwk.kty ?? '' }, alg)
    known.set(alg, importing)
  }
  try {
    const key = await importing
    if (!(key instanceof Uint8Array) && !isShort(key)) return key
  } catch {
    // Thrown for a key that its issuer publishes in an invalid form.
  }
  throw refuseToken('is signed with a key that cannot be read or is too short')
}

/** Returns true for a key of RSA that the library refuses to use. */
function isShort({ algorithm }: CryptoKey): boolean {
  return 'modulusLength' in algorithm && Number(algorithm.modulusLength) < RSA_BITS_MIN
}

async function fetchSet(
  issuer: TokenIssuer,
  fetchJson: IssuerKeysOptions['fetchJson'],
): Promise<SetKey[]> {
  const url = issuer.jwks_uri ?? (await discover(issuer, fetchJson))
  const document = await fetchJson(url)
  const keys = isObject(document) ? document.keys : undefined
  if (!Array.isArray(keys)) throw new Error('the document has no list of keys')
  return keys.slice(0, KEYS_MAX).flatMap(readKey)
}

async function discover(
  { issuer }: TokenIssuer,
  fetchJson: IssuerKeysOptions['fetchJson'],
): Promise<string> {
  const document = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  const { issuer: stated, jwks_uri: url } = isObject(document) ? document : {}
  if (stated !== issuer) throw new Error('the discovery document is of another issuer')
  if (typeof url !== 'string' || !isIssuerUrl(url)) {
    throw new Error('the discovery document has no usable jwks_uri')
  }
  return url
}

/** Returns the public parts of a key for signatures, and nothing for any other. */
function readKey(value: unknown): SetKey[] {
  if (!isObject(value) || typeof value.kty !== 'string') return []
  const { kty, kid, alg, use = 'sig', key_ops: operations } = value
  const members = Object.hasOwn(MEMBERS, kty) ? MEMBERS[kty] : undefined
  if (!members || use !== 'sig') return []
  if (Array.isArray(operations) && !operations.includes('verify')) return []
  const jwk: Record<string, string> = { kty }
  for (const member of members) {
    const part = value[member]
    if (typeof part !== 'string' || part.length > MEMBER_LENGTH_MAX) return []
    jwk[member] = part
  }
  const id = typeof kid === 'string' ? kid : undefined
  const name = JSON.stringify([id, jwk])
  const stated = typeof alg === 'string' ? alg : undefined
  return [{ kid: id, alg: stated, jwk, name, imported: new Map() }]
}
