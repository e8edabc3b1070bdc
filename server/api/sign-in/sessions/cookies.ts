/** The cookies of a session and of a sign-in in progress. Scripts cannot read them. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ConsoleAddress } from '../console-address.ts'

export type CookieName = 'session' | 'step' | 'provider'

/** Upper limits: the database decides whether the session or step is still valid. */
const AGE_SECONDS: Readonly<Record<CookieName, number>> = {
  session: 12 * 3600,
  step: 600,
  provider: 600,
}

function fullName(name: CookieName, address: ConsoleAddress): string {
  return `${address.isSecure() ? '__Host-' : ''}tributary_${name}`
}

export function readCookie(
  request: IncomingMessage,
  name: CookieName,
  address: ConsoleAddress,
): string | undefined {
  const prefix = `${fullName(name, address)}=`
  const found = request.headers.cookie?.split(';').find((one) => one.trimStart().startsWith(prefix))
  return found?.trimStart().slice(prefix.length).trim()
}

/** Sets the cookie, or deletes it if `value` is undefined. */
export function setCookie(
  response: ServerResponse,
  name: CookieName,
  value: string | undefined,
  address: ConsoleAddress,
): void {
  const age = value === undefined ? 0 : AGE_SECONDS[name]
  const parts = [
    `${fullName(name, address)}=${value ?? ''}`,
    'Path=/',
    `Max-Age=${age}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(address.isSecure() ? ['Secure'] : []),
  ]
  response.appendHeader('set-cookie', parts.join('; '))
}
