/** Checks a token: its form, its issuer, its signature and its claims. */
import { createHash } from 'node:crypto'
import { errors, jwtVerify } from 'jose'
import { GatewayError } from '../../../base/lib/errors.ts'
import type { TokenIssuer } from '../../../base/lib/token-issuer.ts'
import { type Claims, readClaims, type SubjectFacts } from './claims.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import { refuseToken, takeApart } from './read-token.ts'

/** A token whose signature and claims have been checked. */
export interface CheckedToken {
  readonly issuer: TokenIssuer
  /** The key that it was signed with. */
  readonly keyName: string
  readonly facts: SubjectFacts
  /** Of the key that stands for its subject. */
  readonly hash: Buffer
  readonly endsAtMs: number
}

interface CheckOptions {
  readonly issuers: readonly TokenIssuer[]
  readonly keys: IssuerKeys
  /** The time of day, in milliseconds since 1970. */
  readonly dateMs: number
}

const SKEW_SECONDS = 60

/** Throws 401 for a token that is refused, 403 for its claims, 503 if its key cannot be known. */
export async function checkToken(
  token: string,
  { issuers, keys, dateMs }: CheckOptions,
): Promise<CheckedToken> {
  const { header, claims } = takeApart(token)
  const issuer = chooseIssuer(issuers, claims)
  if (!issuer.algorithms.includes(header.alg)) {
    throw refuseToken(`is signed with ${JSON.stringify(header.alg.slice(0, 20))}, not with one of \
${issuer.algorithms.join(', ')}`)
  }
  const { key, name: keyName } = await keys.find(issuer, header)
  const { payload } = await jwtVerify(token, key, {
    issuer: issuer.issuer,
    audience: issuer.audience,
    algorithms: [...issuer.algorithms],
    clockTolerance: SKEW_SECONDS,
    requiredClaims: ['exp', 'sub'],
    currentDate: new Date(dateMs),
  }).catch((error) => {
    throw describeRefusal(error)
  })
  const facts = readClaims(issuer, payload)
  const endsAtMs = (Number(payload.exp) + SKEW_SECONDS) * 1000
  return { issuer, keyName, facts, hash: hashSubject(issuer, facts), endsAtMs }
}

/** Throws 401 unless the token is of an issuer of the catalog, and for this gateway. */
function chooseIssuer(all: readonly TokenIssuer[], { iss, aud }: Claims): TokenIssuer {
  if (all.length === 0) throw new GatewayError('unauthenticated')
  const own = all.filter(({ issuer }) => issuer === iss)
  if (own.length === 0) throw refuseToken('is of an issuer that is not known here')
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  const issuer = own.find(({ audience }) => audiences.includes(audience))
  if (!issuer) throw refuseToken('is for another audience ("aud")')
  return issuer
}

function describeRefusal(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return refuseToken('has expired')
  if (error instanceof errors.JWTClaimValidationFailed) {
    const problem = error.reason === 'missing' ? 'is missing' : 'is not accepted'
    return refuseToken(`has a claim "${error.claim}" that ${problem}`)
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return refuseToken('has a signature that does not fit')
  }
  return error instanceof errors.JOSEError ? refuseToken('cannot be verified') : error
}

/** No ordinary key has this hash, and no two subjects share one. */
function hashSubject({ id }: TokenIssuer, { accountId, subject }: SubjectFacts): Buffer {
  return createHash('sha256')
    .update(JSON.stringify(['subject', id, accountId, subject]))
    .digest()
}
