/**
 * A gateway with sessions defined by the test: the `session` cookie of a request names its person.
 * Access tokens, and everything else, are real.
 */
import type { AdminAnswer, AdminKey } from '../../server/api/admin/contract.ts'
import type { AuditRow, Session, Sessions } from '../../server/api/sign-in/sessions/session.ts'
import type { SignIn } from '../../server/api/sign-in/sign-in.ts'
import { GatewayError } from '../../server/base/lib/errors.ts'
import { MEMBER_ROLES } from '../../server/base/lib/member-roles.ts'
import { startTestGateway, type Tenant, type TestGateway } from '../support/in-process.ts'
import { makeToken, openTokens, type TokenWanted } from './make-token.ts'

export interface AdminRequest {
  /** A name given to `enter`; absent: no session. */
  readonly as?: string
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Creates only. */
  readonly isNew?: boolean
  /** Changes only what still has this revision. */
  readonly revision?: string
}

export interface AdminReply<Key extends AdminKey> {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: AdminAnswer<Key>
}

export interface AdminStage extends TestGateway {
  /** Rows of the audit log, the newest last. */
  readonly audited: AuditRow[]
  /** Defines the session of a name. */
  enter(name: string, session: Partial<Session>): void
  /** Defines the session of an operator, who has just stepped up unless told otherwise. */
  enterOperator(name: string, isSteppedUp?: boolean): void
  /**
   * An account with a person of each role, signed in as `<name>-owner`, `<name>-billing`,
   * `<name>-viewer` and, a developer, `<name>-member`.
   */
  house(name: string, balance?: string): Promise<Tenant>
  /** Creates an access token of a new person. */
  token(wanted: TokenWanted): Promise<string>
  ask<Key extends AdminKey>(key: Key, request?: AdminRequest): Promise<AdminReply<Key>>
  /** As `ask`, but throws unless the request succeeds. */
  read<Key extends AdminKey>(key: Key, request?: AdminRequest): Promise<AdminAnswer<Key>>
}

export async function startAdmin(
  environment: Readonly<Record<string, string>> = {},
): Promise<AdminStage> {
  const people = new Map<string, Session>()
  const audited: AuditRow[] = []
  let tokens: SignIn | undefined
  const sessions = makeSessions(people, audited, () => tokens)
  const gateway = await startTestGateway(environment, sessions)
  tokens = openTokens(gateway)

  function enter(name: string, session: Partial<Session>): void {
    people.set(name, { ...customer(name), ...session })
  }

  function enterOperator(name: string, isSteppedUp = true): void {
    const user = { ...customer(name).user, operator: true }
    const steppedUpUntil = isSteppedUp ? new Date(Date.now() + 3_600_000) : undefined
    enter(name, { user, steppedUpUntil })
  }

  async function ask<Key extends AdminKey>(
    key: Key,
    { as, params = {}, query, body, isNew, revision }: AdminRequest = {},
  ): Promise<AdminReply<Key>> {
    const [method = 'GET', pattern = ''] = key.split(' ')
    const path = pattern.replace(/:(\w+)/g, (_, name) => encodeURIComponent(params[name] ?? ''))
    const search = query ? `?${new URLSearchParams(query)}` : ''
    const response = await fetch(`${gateway.url}/admin/v1${path}${search}`, {
      method,
      headers: {
        'x-tributary-console': '1',
        ...(isNew ? { 'if-none-match': '*' } : {}),
        ...(revision === undefined ? {} : { 'if-match': `"${revision}"` }),
        ...(as ? { cookie: `session=${as}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type') === 'application/json'
    const { status, headers } = response
    return { status, headers, text, json: isJson ? JSON.parse(text) : undefined }
  }

  return {
    ...gateway,
    audited,
    enter,
    enterOperator,
    ask,
    token: (wanted) => makeToken(gateway, wanted),
    async house(name, balance = '100') {
      const tenant = await gateway.tenant({ balance })
      for (const role of MEMBER_ROLES) {
        enter(`${name}-${role === 'developer' ? 'member' : role}`, {
          memberships: [{ accountId: tenant.accountId, accountName: name, role }],
        })
      }
      return tenant
    },
    async read(key, request) {
      const { status, text, json } = await ask(key, request)
      if (status !== 200) throw new Error(`${key}: ${status} ${text}`)
      return json
    },
  }
}

/** Returns the session of a person who belongs to no account. */
function customer(name: string): Session {
  const id = `usr_${name}`
  const email = `${name}@example.com`
  return {
    sessionId: `ses_${name}`,
    user: { id, email, name, language: 'en', operator: false },
    memberships: [],
    steppedUpUntil: undefined,
    secondFactorMissing: false,
  }
}

function makeSessions(
  people: ReadonlyMap<string, Session>,
  audited: AuditRow[],
  tokens: () => SignIn | undefined,
): Sessions {
  return {
    async identifySession(request) {
      if (request.headers.authorization) return await tokens()?.identifySession(request)
      return people.get(/session=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '')
    },
    requireCsrf(request) {
      if (request.headers.authorization) tokens()?.requireCsrf(request)
      else if (request.headers['x-tributary-console'] !== '1') throw new GatewayError('forbidden')
    },
    async writeAudit(row) {
      audited.push(row)
    },
  }
}
