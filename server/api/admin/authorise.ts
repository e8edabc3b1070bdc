/** Authorisation: the only place that compares a session with a route's role. */
import { GatewayError } from '../../base/lib/errors.ts'
import type { Session, TokenUse } from '../sign-in/sessions/session.ts'
import type { AccountRole, RouteDeclaration } from './route.ts'

/**
 * Throws 401 without a session, 404 for an account that the user does not belong to (as for one
 * that does not exist), 403 for an insufficient role, and `second_factor_required` for an operator
 * without a second factor. Access tokens are judged by `authoriseToken` too.
 */
export function authorise(
  { role, stepUp }: Pick<RouteDeclaration, 'role' | 'stepUp'>,
  session: Session | undefined,
  accountId: string | undefined,
): void {
  if (role === 'public') return
  if (!session) throw new GatewayError('signed_out')
  judgeRole(role, session, accountId)
  if (stepUp && session.secondFactorMissing && role !== 'user') {
    throw new GatewayError('second_factor_required')
  }
}

/**
 * Throws `step_up_required` if the user must confirm their identity first. It is called only once
 * the input is valid, so that no user steps up for a form that is then refused. Access tokens
 * cannot step up.
 */
export function requireStepUp(
  { role, stepUp }: Pick<RouteDeclaration, 'role' | 'stepUp'>,
  session: Session | undefined,
  now: Date,
): void {
  if (role === 'public' || !stepUp || session?.token) return
  if (!(session?.steppedUpUntil && session.steppedUpUntil > now)) {
    throw new GatewayError('step_up_required')
  }
}

/**
 * Throws 403 if the route does not accept this access token, whatever its person's role: because
 * the route is for people only, because it changes something and the token is read-only, or because
 * it is sensitive and the token is not for sensitive routes.
 */
export function authoriseToken(
  { signInOnly, stepUp }: Pick<RouteDeclaration, 'signInOnly' | 'stepUp'>,
  token: TokenUse,
  isChange: boolean,
): void {
  if (signInOnly) throw refuseToken('access tokens cannot do this: sign in to the console')
  if (isChange && token.scope === 'read') throw refuseToken('this access token is read-only')
  if (stepUp && !token.isSensitive) {
    throw refuseToken('this needs an access token for sensitive routes')
  }
}

function refuseToken(message: string): GatewayError {
  return new GatewayError('forbidden', { message })
}

function judgeRole(
  role: RouteDeclaration['role'],
  session: Session,
  accountId: string | undefined,
): void {
  if (session.user.operator || role === 'user' || role === 'public') return
  if (role === 'operator') throw new GatewayError('forbidden', { message: 'operators only' })
  const membership = session.memberships.find((one) => one.accountId === accountId)
  if (!membership) throw new GatewayError('not_found', { message: 'no such account' })
  if (role === 'member' || membership.role === 'owner' || membership.role === role) return
  throw new GatewayError('forbidden', { message: REFUSALS[role] })
}

const REFUSALS: Readonly<Record<Exclude<AccountRole, 'member'>, string>> = {
  owner: 'owners of the account only',
  billing: 'owners of the account and people with the role billing only',
  developer: 'owners and developers of the account only',
}

/** Returns true for an owner of the account, and for operators. */
export function isOwnerOf({ user, memberships }: Session, accountId: string): boolean {
  const own = memberships.find((one) => one.accountId === accountId)
  return user.operator || own?.role === 'owner'
}
