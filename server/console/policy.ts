/** The Content-Security-Policy of the console's page: everything not listed is forbidden. */

/**
 * Returns the header. `nonce` covers the styles that dialogs add while they are open; scripts need
 * none, since only files of this origin run. `mediaOrigins` are the origins of pictures and videos.
 */
export function contentSecurityPolicy(nonce: string, mediaOrigins: readonly string[]): string {
  const media = ["'self'", 'data:', 'blob:', ...mediaOrigins].join(' ')
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src ${media}`,
    `media-src ${media}`,
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}
