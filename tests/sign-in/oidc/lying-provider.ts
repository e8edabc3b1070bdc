/** An OpenID Connect provider on loopback, written from the standard, that lies as it is told. */
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { newId } from '../../../server/base/lib/ids.ts'
import { readBody, startServer } from '../../support/servers/local-server.ts'

export interface Lies {
  /** Replace members of the ID token; undefined leaves one out. */
  claims?: Record<string, unknown>
  /** Replace members of the token's header. */
  header?: Record<string, unknown>
  /** `none`, `hmac` (with the public key as secret), another key, or a changed signature. */
  signature?: 'none' | 'hmac' | 'other' | 'broken'
  /** Answers of the user info; undefined: as the ID token. */
  info?: Record<string, unknown>
  /** Members of the discovery document. */
  metadata?: Record<string, unknown>
  /** Replaces the whole answer of the token endpoint. */
  token?: { status: number; body: string }
}

export interface LyingProvider {
  readonly issuer: string
  lies: Lies
  /** The last request of the token endpoint. */
  readonly asked: { authorization: string | undefined; form: URLSearchParams }[]
  /** Returns the address to which the browser returns after the page at `location`. */
  signIn(location: string, claims?: Record<string, unknown>): string
  stop(): Promise<void>
}

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const CLIENT = 'tributary'

export async function startLyingProvider(): Promise<LyingProvider> {
  const keys = makeKeys()
  const codes = new Map<string, Record<string, unknown>>()
  const asked: LyingProvider['asked'] = []
  let lastClaims: Record<string, unknown> = {}

  const server = await startServer(async (request, response) => {
    const { status, body } = answer(request, await readBody(request))
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  const issuer = server.url
  const provider: LyingProvider = { issuer, lies: {}, asked, signIn, stop: () => server.stop() }

  function answer({ url = '', headers }: IncomingMessage, body: string) {
    const { lies } = provider
    const ok = (value: object) => ({ status: 200, body: JSON.stringify(value) })
    switch (new URL(url, issuer).pathname) {
      case '/.well-known/openid-configuration':
        return ok({
          ...describe(issuer),
          ...lies.metadata,
        })
      case '/jwks':
        return ok(keySet(keys))
      case '/token': {
        const form = new URLSearchParams(body)
        asked.push({ authorization: headers.authorization, form })
        const claims = codes.get(form.get('code') ?? '')
        codes.delete(form.get('code') ?? '')
        if (lies.token) return lies.token
        if (!claims) return { status: 400, body: '{"error":"invalid_grant"}' }
        lastClaims = { ...claims, ...lies.claims }
        return ok({
          access_token: 'at',
          token_type: 'Bearer',
          id_token: makeToken(lastClaims, lies, keys),
        })
      }
      case '/info':
        return ok(lies.info ?? lastClaims)
      default:
        return { status: 404, body: '{}' }
    }
  }

  function signIn(location: string, claims: Record<string, unknown> = {}): string {
    const query = new URL(location).searchParams
    const code = newId('req')
    const now = Math.floor(Date.now() / 1000)
    codes.set(code, {
      iss: issuer,
      aud: CLIENT,
      sub: 'subject-1',
      nonce: query.get('nonce'),
      iat: now,
      exp: now + 300,
      email: 'ada@acme.example',
      email_verified: true,
      name: 'Ada',
      ...claims,
    })
    return `?${new URLSearchParams({ code, state: query.get('state') ?? '' })}`
  }

  return provider
}

function keySet({ own }: Keys): object {
  const jwk = createPublicKey(own).export({ format: 'jwk' })
  return { keys: [{ ...jwk, kid: 'own', alg: 'RS256', use: 'sig' }] }
}

interface Keys {
  readonly own: KeyObject
  readonly other: KeyObject
}

function makeKeys(): Keys {
  const make = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  return { own: make(), other: make() }
}

function describe(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/info`,
    end_session_endpoint: `${issuer}/end`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
  }
}

function makeToken(claims: object, { signature, header }: Lies, keys: Keys): string {
  const alg = signature === 'none' ? 'none' : signature === 'hmac' ? 'HS256' : 'RS256'
  const head = `${base64({ alg, kid: 'own', typ: 'JWT', ...header })}.${base64(claims)}`
  return `${head}.${signWith(head, signature, keys)}`
}

function signWith(head: string, signature: Lies['signature'], { own, other }: Keys): string {
  if (signature === 'none') return ''
  if (signature === 'hmac') {
    const secret = createPublicKey(own).export({ type: 'spki', format: 'pem' })
    return createHmac('sha256', secret).update(head).digest('base64url')
  }
  const made = sign('sha256', Buffer.from(head), signature === 'other' ? other : own)
  if (signature === 'broken') made[0] = (made[0] ?? 0) ^ 1
  return made.toString('base64url')
}
