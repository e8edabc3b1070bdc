/** Signing in to the demo without its password, for people at the machine that runs it. */
import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../../../base/lib/errors.ts'
import { listFactors } from '../factors/factors.ts'
import type { Exchange, SignInParts } from '../parts.ts'
import { findByEmail } from '../person-store.ts'
import { openSession } from '../sessions/sessions.ts'

const LOOPBACK_ADDRESS = /^(?:::ffff:)?127\.|^::1$/
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/**
 * Returns true for a request of this machine to its own address. A request that a proxy forwarded
 * or that names another host may come from anywhere.
 */
export function isLocal({ socket, headers, httpVersion }: IncomingMessage): boolean {
  const isForwarded = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some(
    (name) => headers[name] !== undefined,
  )
  return (
    LOOPBACK_ADDRESS.test(socket.remoteAddress ?? '') &&
    LOOPBACK_HOST.test(headers.host ?? '') &&
    // By default nginx forwards as HTTP/1.0, with the address it forwards to as the Host.
    httpVersion !== '1.0' &&
    !isForwarded
  )
}

/** Returns whether the demo can be entered with a button by this request; undefined without one. */
export function demoFor(
  parts: Pick<SignInParts, 'demo'>,
  request: IncomingMessage,
): 'here' | 'elsewhere' | undefined {
  if (!parts.demo()) return undefined
  return isLocal(request) ? 'here' : 'elsewhere'
}

/** Throws 404 without a demo; 403 for another machine and after a second factor was set up. */
export async function signInToDemo(parts: SignInParts, exchange: Exchange): Promise<void> {
  const demo = parts.demo()
  if (!demo) throw new GatewayError('not_found', { message: 'this gateway is not in demo mode' })
  if (!isLocal(exchange.request)) {
    throw refused('sign in with the password that the gateway printed at its start')
  }
  const person = await findByEmail(parts.sql, demo.email)
  if (!person || person.disabled_at) throw refused('the demo’s user is disabled')
  if ((await listFactors(parts, person)).length > 0) {
    throw refused('the demo’s user has a second factor: sign in with the password')
  }
  await openSession(parts, person.id, exchange, 'demo')
}

function refused(message: string): GatewayError {
  return new GatewayError('forbidden', { message })
}
