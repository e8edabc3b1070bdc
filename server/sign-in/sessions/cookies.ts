/** The two cookies: the session's, and that of a sign-in under way. No script can read them. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ConsolePlace } from '../place.ts'

export type CookieName = 'session' | 'step'

/** A cookie may live as long as what it names; whether that still lives, the database says. */
const AGE_SECONDS: Readonly<Record<CookieName, number>> = { session: 12 * 3600, step: 600 }

function fullName(name: CookieName, place: ConsolePlace): string {
  return `${place.isSecure() ? '__Host-' : ''}tributary_${name}`
}

export function readCookie(
  request: IncomingMessage,
  name: CookieName,
  place: ConsolePlace,
): string | undefined {
  const wanted = `${fullName(name, place)}=`
  const found = request.headers.cookie?.split(';').find((one) => one.trimStart().startsWith(wanted))
  return found?.trimStart().slice(wanted.length).trim()
}

/** Sets the cookie, or takes it away when `value` is undefined. */
export function setCookie(
  response: ServerResponse,
  name: CookieName,
  value: string | undefined,
  place: ConsolePlace,
): void {
  const age = value === undefined ? 0 : AGE_SECONDS[name]
  const parts = [
    `${fullName(name, place)}=${value ?? ''}`,
    'Path=/',
    `Max-Age=${age}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(place.isSecure() ? ['Secure'] : []),
  ]
  response.appendHeader('set-cookie', parts.join('; '))
}
