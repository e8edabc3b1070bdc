/** Parses addresses with a Unix socket folder, which the client does not support. */

export interface SocketAddress {
  readonly socketFolder: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

/**
 * Reads the folder from the URL's encoded host or from libpq's parameter `host`. Returns undefined
 * if the URL has no folder.
 */
export function readSocketUrl(text: string): SocketAddress | undefined {
  const url = new URL(text)
  const folder = decodeURIComponent(url.searchParams.get('host') ?? url.hostname)
  if (!folder.startsWith('/')) return undefined
  return {
    socketFolder: folder,
    port: Number(url.port || url.searchParams.get('port') || 5432),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)) || 'tributary',
  }
}
