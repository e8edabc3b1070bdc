/** What a page of the console may load and do: nothing that is not named here. */

/**
 * The header. `nonce` is for the styles that dialogs add while they are open; scripts have none:
 * only files of this origin run. `mediaOrigins` are where pictures and films may lie.
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
