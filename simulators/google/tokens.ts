// Google's token endpoint: exchanges a signed statement of a service account for an access token.
import { createPublicKey, generateKeyPairSync, randomBytes, verify } from 'node:crypto'
import { isObject, text } from '../kernel/checks.ts'
import { type Exchange, type Reply, type Route, whole } from '../kernel/exchange.ts'

const EMAIL = 'sim@project.iam.gserviceaccount.com'
const PROJECT = 'sim-project'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
/** Its address here, or that of the vendor, which the vendor's own library states in any case. */
const AUDIENCE = /^https:\/\/oauth2\.googleapis\.com\/token$|\/google\/token$/
const SKEW_SECONDS = 300

let pair: { publicKey: string; privateKey: string } | undefined

function keyPair() {
  pair ??= generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return pair
}

/** The key file of the one account, whose token endpoint is at `url`. */
export function serviceAccountOf(url: string) {
  return {
    type: 'service_account',
    project_id: PROJECT,
    private_key_id: 'sim-key-id',
    private_key: keyPair().privateKey,
    client_email: EMAIL,
    token_uri: `${url}/google/token`,
  }
}

/** Seconds that tokens live; tests shorten them. */
export interface Tokens {
  seconds: number
  issued: Map<string, number>
}

export const tokensOf = (): Tokens => ({ seconds: 3599, issued: new Map() })

export function isValidToken({ issued }: Tokens, token: string): boolean {
  return (issued.get(token) ?? 0) > Date.now()
}

export function tokenRoute(tokens: Tokens): Route {
  const handle = (exchange: Exchange): Reply => {
    const problem = problemOf(exchange.json)
    if (problem) {
      const body = { error: 'invalid_grant', error_description: problem }
      return whole(400, body, { reason: problem })
    }
    const token = `ya29.${randomBytes(20).toString('base64url')}`
    tokens.issued.set(token, Date.now() + tokens.seconds * 1000)
    return whole(200, { access_token: token, expires_in: tokens.seconds, token_type: 'Bearer' })
  }
  return { method: 'POST', path: '/token', operation: 'token', handle }
}

function problemOf(form: unknown): string | undefined {
  if (!isObject(form) || form.grant_type !== GRANT) return 'unsupported grant'
  const [header = '', claims = '', signature = ''] = text(form.assertion).split('.')
  const key = createPublicKey(keyPair().publicKey)
  const signed = Buffer.from(`${header}.${claims}`)
  if (!verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url'))) {
    return 'Invalid JWT Signature.'
  }
  const read: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString())
  if (!isObject(read) || read.iss !== EMAIL || read.scope !== SCOPE) return 'Invalid account'
  if (!AUDIENCE.test(text(read.aud))) return 'Invalid audience'
  const now = Date.now() / 1000
  const isOfNow = Math.abs(Number(read.iat) - now) < SKEW_SECONDS
  const isShort = Number(read.exp) - Number(read.iat) <= 3600 && Number(read.exp) > now
  return isOfNow && isShort ? undefined : 'Invalid JWT: Token must be a short-lived token'
}
