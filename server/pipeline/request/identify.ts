/** Verb 1: who calls? Junk is refused before any look-up. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Caller } from '../../accounts/accounts.ts'
import { type Context, timed } from '../../http/context.ts'
import { GatewayError } from '../../lib/errors.ts'
import { isWellFormedApiKey, type PresentedKey, presentKey } from '../../lib/secrets/api-key.ts'
import type { Services } from '../services.ts'

const BEARER = /^Bearer +(\S+) *$/i

/** What the last request of a connection presented. */
interface Presented {
  readonly authorization: string | undefined
  readonly apiKey: string | string[] | undefined
  readonly key: PresentedKey
}

/** SDKs keep their connections: the same headers on one of them need no second hash. */
const lastOn = new WeakMap<Socket, Presented>()

function readKey({ headers, socket }: IncomingMessage): PresentedKey {
  const { authorization, 'x-api-key': apiKey } = headers
  const last = lastOn.get(socket)
  if (last && last.authorization === authorization && last.apiKey === apiKey) return last.key
  const key = presentKey(readCredential(headers))
  lastOn.set(socket, { authorization, apiKey, key })
  return key
}

/**
 * The key in `Authorization: Bearer` or `x-api-key`. Throws 401 when there is none, when the two
 * differ (one of them is not meant for us), or when the text cannot be a key of ours.
 */
function readCredential(headers: IncomingHttpHeaders): string {
  const { authorization } = headers
  const bearer = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
  const header = headers['x-api-key']
  const apiKey = typeof header === 'string' && header !== '' ? header : undefined
  if (bearer !== undefined && apiKey !== undefined && bearer !== apiKey) {
    throw new GatewayError('unauthenticated', {
      message:
        'invalid or missing API key: Authorization and x-api-key name different ones, send one',
    })
  }
  const key = bearer ?? apiKey
  if (key === undefined || !isWellFormedApiKey(key)) throw new GatewayError('unauthenticated')
  return key
}

/** The caller behind the request's key. Throws 401, 403 for a suspended account, or 503. */
export async function identify(
  context: Context,
  services: Pick<Services, 'accounts'>,
): Promise<Caller> {
  const key = readKey(context.request)
  const found = await timed(context, 'auth', () => services.accounts.identify(key))
  if ('refused' in found) {
    if (found.refused !== 'suspended') throw new GatewayError('unauthenticated')
    throw new GatewayError('forbidden', { message: 'this account is suspended' })
  }
  context.facts.accountId = found.caller.accountId
  context.facts.keyId = found.caller.keyId
  return found.caller
}
