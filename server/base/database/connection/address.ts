/** Addresses of databases as URLs: their parts, and what is wrong with one. */
import { DatabaseProblem } from '../problem.ts'
import { readErrorCode } from '../unavailable.ts'

const DEFAULT_PORT = 5432
/** SQLSTATE of a start-up parameter that the server does not know. */
const UNKNOWN_PARAMETER = '42704'

/**
 * Throws DatabaseProblem for an address that cannot work. With several hosts, the client would try
 * one after the other for ever, and no statement would fail.
 */
export function checkAddress(address: string): void {
  const url = URL.parse(address)
  const host = url?.hostname ?? ''
  if (host.includes(',')) {
    throw new DatabaseProblem(
      'DATABASE_URL names several hosts: name one address that follows the primary, such as a ' +
        'DNS name, a virtual address or a proxy in session mode',
    )
  }
  if (url && isDecodable(url)) return
  throw new DatabaseProblem(
    'DATABASE_URL cannot be read: it must be postgres://user:password@host:5432/database, ' +
      'where each of % @ : / ? # in the user, the password or the database is percent-encoded ' +
      '(%25 for %), and a socket folder is encoded as the host',
  )
}

function isDecodable({ username, password, hostname, pathname }: URL): boolean {
  try {
    decodeURIComponent(username + password + hostname + pathname)
    return true
  } catch {
    return false
  }
}

/**
 * Returns the host and port to dial. The client would split an IPv6 address in brackets at its
 * colons.
 */
export function readTarget(address: string) {
  const { hostname, port } = new URL(address)
  if (!hostname) return {}
  return { host: [hostname.replace(/^\[|\]$/g, '')], port: [Number(port || DEFAULT_PORT)] }
}

/** Returns the other parts, decoded. The client does not decode the name of the database. */
export function readLogin(address: string) {
  const { username, password, pathname } = new URL(address)
  const database = decodeURIComponent(pathname.slice(1))
  return {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(database && { database }),
  }
}

/** Returns what to do about a server that refuses a parameter of its address, or undefined. */
export function explainParameter(error: unknown, address: string): string | undefined {
  const names = [...(URL.parse(address)?.searchParams.keys() ?? [])]
  if (readErrorCode(error) !== UNKNOWN_PARAMETER || names.length === 0) return undefined
  const why = error instanceof Error ? error.message : ''
  return (
    `PostgreSQL does not know a parameter of DATABASE_URL (${why}): remove it. Known ` +
    'parameters are sslmode, sslrootcert and session settings such as search_path'
  )
}

interface SocketAddress {
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
    user: decodeURIComponent(url.username) || (url.searchParams.get('user') ?? ''),
    password: decodeURIComponent(url.password) || (url.searchParams.get('password') ?? ''),
    database: decodeURIComponent(url.pathname.slice(1)) || 'tributary',
  }
}
