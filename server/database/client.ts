/** The PostgreSQL client, set up once for the whole gateway. */
import postgres, { type Options, type Sql } from 'postgres'

const CONNECT_SECONDS = 2
const STATEMENT_TIMEOUT_MS = 5_000
const POOL_SIZE = 10
/** A lost connection is tried again quickly: callers wait for at most two seconds. */
const RECONNECT_SECONDS = 0.2

/** Where the database is: a URL, or a socket folder with its credentials. */
export type Place =
  | { readonly url: string }
  | {
      readonly socketFolder: string
      readonly port: number
      readonly user: string
      readonly password: string
      readonly database: string
    }

export interface ClientOptions {
  readonly connections?: number
  readonly statementTimeoutMs?: number
  readonly name?: string
  readonly database?: string
}

/** int8 is bigint: an amount must never pass through a JavaScript number. */
const bigintType = {
  to: 20,
  from: [20],
  serialize: (value: bigint | number | string) => value.toString(),
  parse: (text: string) => BigInt(text),
}

/** A URL that names a Unix socket's folder as its host, plainly encoded or as libpq's `host`. */
function readSocketUrl(text: string): Exclude<Place, { url: string }> | undefined {
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

/** Opens a pool. Nothing is connected until the first statement. */
export function connect(given: Place, options: ClientOptions = {}): Sql {
  const place = 'url' in given ? (readSocketUrl(given.url) ?? given) : given
  const shared = {
    max: options.connections ?? POOL_SIZE,
    connect_timeout: CONNECT_SECONDS,
    backoff: () => RECONNECT_SECONDS,
    types: { bigint: bigintType },
    onnotice: () => undefined,
    connection: {
      application_name: options.name ?? 'tributary',
      statement_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    },
  } satisfies Options<{ bigint: typeof bigintType }>
  const database = options.database ? { database: options.database } : {}
  // The type parameter only says how bigint is parsed; the rest of the gateway speaks plain Sql.
  if ('url' in place) return postgres(place.url, { ...shared, ...database }) as unknown as Sql
  return postgres({
    ...shared,
    path: `${place.socketFolder}/.s.PGSQL.${place.port}`,
    host: place.socketFolder,
    port: place.port,
    username: place.user,
    password: place.password,
    database: options.database ?? place.database,
  }) as unknown as Sql
}
