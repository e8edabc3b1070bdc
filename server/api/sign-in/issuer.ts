/** The addresses that an issuer may have. */

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** Returns why an issuer must not be used, or undefined. The guard judges its addresses. */
export function judgeIssuer(text: string, allowsPrivate: boolean): string | undefined {
  const url = URL.parse(text)
  if (url?.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return 'must be an address such as https://login.example.com'
  }
  if (url.protocol === 'https:') return undefined
  const isOwn = url.protocol === 'http:' && LOOPBACK.test(url.hostname) && allowsPrivate
  return isOwn
    ? undefined
    : 'must begin with https:// (http:// only on loopback, with ALLOW_PRIVATE_TARGETS=1)'
}
