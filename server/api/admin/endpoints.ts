/**
 * Turns the admin contract into endpoints: CSRF check, session, role, input, step-up, handler,
 * audit log, answer. Every request that may change something is recorded in the audit log, whatever
 * its outcome, unless its input is invalid.
 */

import { readJsonBody } from '../../base/http/body.ts'
import { checkForm, checkQuery, checkShape, refuseUnstorable } from '../../base/http/check-shape.ts'
import type { Context } from '../../base/http/context.ts'
import { sendBytes, sendJson } from '../../base/http/reply.ts'
import type { Method } from '../../base/http/router.ts'
import { GatewayError } from '../../base/lib/errors.ts'
import { hasMoreValues } from '../../base/lib/json.ts'
import { encode } from '../endpoints/codecs.ts'
import type { PlainEndpoint } from '../endpoints/endpoint.ts'
import type { Session } from '../sign-in/sessions/session.ts'
import { authorise, authoriseToken, requireStepUp } from './authorise.ts'
import { ADMIN_CONTRACT } from './contract.ts'
import type { AnyHandler } from './handler.ts'
import { ADMIN_CHECKS, ADMIN_HANDLERS } from './handlers.ts'
import { type Contract, isAccountRole, type RouteDeclaration } from './route.ts'
import type { AdminServices } from './services.ts'

/** Prices, catalogs and settings are small; media go through the public API. */
const BODY_BYTES_MAX = 1 << 20
/** For callers without a session: a password or a passkey's response. */
const PUBLIC_BODY_BYTES_MAX = 1 << 16
/** The checks report every wrong value of a form, which takes up to 2 µs for each. */
const VALUES_MAX = 20_000
/** Price lists and models of a whole vendor. */
const OPERATOR_VALUES_MAX = 50_000
const BASE = '/admin/v1'
/** Answers depend on who is signed in, so browsers must not keep them. */
const PRIVATE = { 'cache-control': 'no-store' }

/** Returns the endpoints of the admin API for the router and the reference. */
export function createAdminEndpoints(services: AdminServices): PlainEndpoint[] {
  const contract: Contract = ADMIN_CONTRACT
  const handlers = ADMIN_HANDLERS as unknown as Readonly<Record<string, AnyHandler>>
  return Object.entries(contract).map(([key, declared]) => {
    const handler = handlers[key]
    if (!handler) throw new Error(`no handler for ${key}`)
    const [method, path] = key.split(' ') as [Method, string]
    return {
      kind: 'plain',
      method,
      paths: [`${BASE}${path}`],
      envelope: 'admin',
      documentation: documentRoute(declared, method),
      handle: (context) => serveRoute({ context, key, declared, handler, services }),
    }
  })
}

function documentRoute(declared: RouteDeclaration, method: Method): PlainEndpoint['documentation'] {
  const { tag, summary, description, query, body, answer, answerType, role, signInOnly } = declared
  const access = `For ${ACCESS[role]}${declared.stepUp ? ' after a step-up' : ''}.`
  return {
    tag,
    summary,
    description: [description, access, describeTokenAccess(declared)]
      .filter((part) => part)
      .join(' '),
    credential: role === 'public' ? 'none' : signInOnly ? 'session' : 'session or token',
    ...(query ? { query } : {}),
    ...(body ? { body } : {}),
    ...(answer ? { answer } : answerType ? { answerType } : { answersNothing: true }),
    errors: listErrors(declared, method),
  }
}

function describeTokenAccess({ role, signInOnly, stepUp }: RouteDeclaration): string {
  if (role === 'public') return ''
  if (signInOnly) return 'Not with an access token.'
  return stepUp ? 'Requires an access token for sensitive routes.' : ''
}

const ACCESS: Readonly<Record<RouteDeclaration['role'], string>> = {
  public: 'everybody',
  user: 'every signed-in user',
  member: 'members of the account',
  billing: 'owners of the account and members with the role billing',
  developer: 'owners and developers of the account',
  owner: 'owners of the account',
  operator: 'operators',
}

function listErrors({ role, query, body, errors = [] }: RouteDeclaration, method: Method) {
  return [
    ...(query || body ? [400] : []),
    ...(role === 'public' ? [] : [401, 429]),
    ...(MAY_REFUSE.has(role) || method !== 'GET' ? [403] : []),
    ...(isAccountRole(role) ? [404] : []),
    ...(body ? [413, 415] : []),
    ...errors,
    503,
  ]
}

const MAY_REFUSE: ReadonlySet<string> = new Set(['billing', 'developer', 'owner', 'operator'])

interface Serving {
  readonly context: Context
  readonly key: string
  readonly declared: RouteDeclaration
  readonly handler: AnyHandler
  readonly services: AdminServices
}

async function serveRoute(serving: Serving): Promise<void> {
  const { context, key, declared, services } = serving
  const { signIn } = services
  const isUnsafe = !key.startsWith('GET ')
  const isAudited = isUnsafe && !declared.isRead
  if (isUnsafe && !declared.isSigned) signIn.requireCsrf(context.request)
  const session = declared.isSigned ? undefined : await signIn.identifySession(context.request)
  const details: Record<string, unknown> = {}
  try {
    const answer = await answerRoute(serving, session, details, isAudited)
    if (isAudited) await writeRow(serving, session, { ...details, outcome: 'done' })
    reply(context, declared, answer)
  } catch (error) {
    if (error instanceof InvalidDraft) throw error.cause
    // Refusals are recorded as well, since they show attempts.
    const outcome = error instanceof GatewayError ? error.row : 'failed'
    if (isAudited && session) {
      await writeRow(serving, session, { ...details, outcome }).catch(() => undefined)
    }
    throw error
  }
}

/** Thrown for a draft that is not valid: nothing was attempted yet. */
class InvalidDraft extends Error {}

/** A name that is already in use makes the draft invalid too. */
const OF_DRAFTS: ReadonlySet<string> = new Set(['invalid_request', 'conflict'])

/** Reads and checks the input. Throws InvalidDraft, whose cause is the refusal, or other errors. */
async function checkInput({ context, key, declared, services }: Serving, session?: Session) {
  const { params } = context
  try {
    const input = await readInput(context, declared)
    const note = () => undefined
    await ADMIN_CHECKS[key]?.({ context, session, params, note, ...input }, services)
    return input
  } catch (error) {
    if (!(error instanceof GatewayError) || !OF_DRAFTS.has(error.row)) throw error
    throw new InvalidDraft('', { cause: error })
  }
}

async function answerRoute(
  serving: Serving,
  session: Session | undefined,
  details: Record<string, unknown>,
  isChange: boolean,
): Promise<unknown> {
  const { context, declared, handler, services } = serving
  const { params } = context
  if (session?.token) authoriseToken(declared, session.token, isChange)
  authorise(declared, session, params.account_id)
  if (session && params.account_id) context.facts.accountId = params.account_id
  const note = (more: Readonly<Record<string, unknown>>) => void Object.assign(details, more)
  const input = await checkInput(serving, session)
  requireStepUp(declared, session, new Date())
  return handler({ context, session, params, note, ...input }, services)
}

/** Public routes have no actor here; sign-in writes its own rows, with more details. */
async function writeRow(
  { context, key, declared, services }: Serving,
  session: Session | undefined,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (declared.role === 'public' || !session) return
  await services.signIn.writeAudit({
    request: context.request,
    userId: session.user.id,
    tokenId: session.token?.id,
    accountId: context.params.account_id,
    action: key,
    target: Object.values(context.params).join(' '),
    details,
  })
}

function reply(context: Context, { answer, answerType }: RouteDeclaration, value: unknown): void {
  if (answer) sendJson(context, 200, encode(answer, value), PRIVATE)
  else if (answerType === undefined) sendBytes(context, 204, PRIVATE, Buffer.alloc(0))
}

/** Throws 400 with the invalid fields, 413 or 415. */
async function readInput(context: Context, declared: RouteDeclaration) {
  // A list from an unauthenticated caller is read only up to its first wrong entry.
  const check = declared.role === 'public' ? checkShape : checkForm
  refuseUnstorable(Object.fromEntries(context.query), 'query')
  return {
    query: declared.query && checkQuery(declared.query, context.query),
    body: declared.body && check(declared.body, await readJson(context, declared)),
  }
}

async function readJson(context: Context, { role }: RouteDeclaration): Promise<unknown> {
  const bytes = await readJsonBody(
    context,
    role === 'public' ? PUBLIC_BODY_BYTES_MAX : BODY_BYTES_MAX,
  )
  if (bytes.length === 0) return {}
  if (hasMoreValues(bytes, role === 'operator' ? OPERATOR_VALUES_MAX : VALUES_MAX)) {
    throw new GatewayError('invalid_request', { message: 'the body has too many values' })
  }
  const body = parseBody(bytes)
  refuseUnstorable(body, 'body')
  return body
}

function parseBody(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new GatewayError('invalid_request', { message: 'the body is not JSON' })
  }
}
