/** The address of a channel's vendor, to which paths of requests are added. */
import { trimEnd } from './trim-end.ts'

/** Query parameters whose name suggests a credential. */
const SECRET_NAME = /key|token|secret|sig|auth|pass|code|credential/i

/** Adds `path` to `base`. The queries of both and `parameters` follow it, in this order. */
export function joinUrl(base: string, path: string, parameters = ''): string {
  const [address, baseQuery] = splitQuery(base)
  const [added, pathQuery] = splitQuery(path)
  const query = [pathQuery, baseQuery, parameters].filter((part) => part !== '').join('&')
  return `${trimEnd(address, '/')}${added}${query === '' ? '' : `?${query}`}`
}

/** Splits off the query without its question mark; a fragment is dropped. */
function splitQuery(url: string): [address: string, query: string] {
  const [whole = ''] = url.split('#')
  const start = whole.indexOf('?')
  return start < 0 ? [whole, ''] : [whole.slice(0, start), whole.slice(start + 1)]
}

/** Returns true if `url` has a user, a password, or a parameter that is named like a secret. */
export function hasCredentials(url: string): boolean {
  const parsed = URL.parse(url)
  if (!parsed) return false
  const names = [...parsed.searchParams.keys()]
  return parsed.username + parsed.password !== '' || names.some((name) => SECRET_NAME.test(name))
}

/** Returns `url` without user, password and query if it has credentials, otherwise as it is. */
export function hideCredentials(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed || !hasCredentials(url)) return url
  return `${parsed.protocol}//••••@${parsed.host}${parsed.pathname}?••••`
}
