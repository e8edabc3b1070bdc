/** Addresses that name a Unix socket's folder, which the client does not read by itself. */

export interface SocketAddress {
  readonly socketFolder: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

/** The folder as the URL's host, encoded, or as libpq's parameter `host`; undefined: no folder. */
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
