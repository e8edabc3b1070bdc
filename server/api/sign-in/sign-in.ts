/**
 * Assembles sign-in for the admin API, the command line and the start of the gateway. The steps of
 * each method are in their own files.
 */
import type { IncomingMessage } from 'node:http'
import type { Sql } from 'postgres'
import { createAddresses } from '../../base/http/connections/client-address.ts'
import type { SecretBox } from '../../base/lib/secrets/secrets.ts'
import { writeAudit } from './audit-log/audit-log.ts'
import { createConsoleAddress, requireCsrf } from './console-address.ts'
import type { DemoIdentity, MailLink, OidcParts, SignInParts, SignUpParts } from './parts.ts'
import { createPasswords, type Derive } from './password-hashes.ts'
import { createThrottle } from './rates/throttle.ts'
import type { AuditRow, Session, Sessions } from './sessions/session.ts'
import { identifySession } from './sessions/sessions.ts'
import { identifyToken, readBearer } from './tokens/access-tokens.ts'

export interface SignInOptions {
  readonly sql: Sql
  readonly secrets: SecretBox
  /** The console's address without a trailing `/`: PUBLIC_URL, or the address listened on. */
  readonly baseUrl: () => string
  /** True if PUBLIC_URL was set: then requests of any other origin are refused. */
  readonly isBaseUrlFixed: boolean
  /** Addresses or networks whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[]
  readonly operatorsNeedFactor: () => boolean
  readonly oidc?: OidcParts | undefined
  readonly signUp?: SignUpParts | undefined
  readonly mailLink?: MailLink | undefined
  readonly demo?: () => DemoIdentity | undefined
  /** Replacements in tests. */
  readonly derive?: Derive
  readonly nowMs?: () => number
}

export interface SignIn extends Sessions {
  /** For the functions of this folder. */
  readonly parts: SignInParts
}

export function createSignIn(options: SignInOptions): SignIn {
  const parts = createParts(options)
  return {
    parts,
    identifySession: (request, how) => identify(parts, request, how),
    requireCsrf(request) {
      if (readBearer(request) === undefined) requireCsrf(request, parts.consoleAddress)
    },
    writeAudit: ({ request, userId, ...row }: AuditRow) =>
      writeAudit(parts.sql, { ...row, actor: userId, ip: parts.addresses.of(request) }),
  }
}

/**
 * With a bearer token no cookie is read, so that a browser session cannot extend the token's
 * rights.
 */
async function identify(
  parts: SignInParts,
  request: IncomingMessage,
  how?: { readonly quietly?: boolean },
): Promise<Session | undefined> {
  const bearer = readBearer(request)
  if (bearer === undefined) return await identifySession(parts, request, how)
  return await identifyToken(parts, request, bearer)
}

function createParts(options: SignInOptions): SignInParts {
  const { sql, secrets, baseUrl, isBaseUrlFixed, operatorsNeedFactor, demo } = options
  return {
    sql,
    secrets,
    operatorsNeedFactor,
    mailLink: options.mailLink,
    oidc: options.oidc,
    signUp: options.signUp,
    demo: demo ?? (() => undefined),
    consoleAddress: createConsoleAddress({ baseUrl, isFixed: isBaseUrlFixed }),
    passwords: createPasswords(options.derive),
    throttle: createThrottle(sql, () => performance.now()),
    addresses: createAddresses(options.trustedProxies),
    nowMs: options.nowMs ?? Date.now,
  }
}
