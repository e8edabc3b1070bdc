/** The PostgreSQL client's settings: types and timeouts of every connection. */
import postgres, { type Options, type Sql } from 'postgres'
import { storableText } from '../../lib/text/well-formed.ts'
import { arrayTypes } from './array-types.ts'
import { readSocketUrl } from './read-socket-url.ts'
import { readTlsOptions } from './tls-options.ts'

const CONNECT_SECONDS = 2
/** A server under load or in recovery may take this long to accept a connection. */
const PATIENT_SECONDS = 30
const STATEMENT_TIMEOUT_MS = 5_000
const POOL_SIZE = 10
/** Keeps firewalls from dropping idle connections. */
const KEEP_ALIVE_SECONDS = 20

/** The database's address: a URL, or a socket folder with credentials. */
export type DatabasePlace =
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
  /** 0: no limit. */
  readonly statementTimeoutMs?: number
  /** For commands: waits up to 30 s to connect to a busy server. */
  readonly patient?: boolean
  readonly name?: string
  readonly database?: string
}

/** Events of one set of connections. */
export interface ConnectionEvents {
  readonly onclose?: () => void
  readonly onnotify?: (channel: string, payload: string) => void
}

/** int8 is bigint: an amount must never become a JavaScript number. */
const bigintType = {
  to: 20,
  from: [20],
  serialize: (value: bigint | number | string) => value.toString(),
  parse: (text: string) => BigInt(text),
}

/**
 * PostgreSQL rejects text with U+0000, which callers and vendors may send. It is replaced by
 * U+FFFD, so that an id with U+0000 matches nothing.
 */
const textType = {
  to: 25,
  from: [],
  serialize: (value: unknown) => storableText(String(value)),
  parse: (text: string) => text,
}

const TYPES = { bigint: bigintType, text: textType, ...arrayTypes }

/** Opens the unmodified client. Only for connections that are discarded at the first error. */
export function openClient(
  address: DatabasePlace,
  options: ClientOptions,
  events: ConnectionEvents = {},
): Sql {
  const place = 'url' in address ? (readSocketUrl(address.url) ?? address) : address
  const shared = {
    max: options.connections ?? POOL_SIZE,
    connect_timeout: options.patient ? PATIENT_SECONDS : CONNECT_SECONDS,
    keep_alive: KEEP_ALIVE_SECONDS,
    // Only the server or the gateway ends a connection. An expiring connection would lose its
    // session's locks.
    max_lifetime: null,
    backoff: () => 0,
    fetch_types: false,
    types: TYPES,
    onnotice: () => undefined,
    connection: {
      application_name: options.name ?? 'tributary',
      statement_timeout: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    },
    ...events,
  } satisfies Options<{ bigint: typeof bigintType }> & ConnectionEvents
  const database = options.database ? { database: options.database } : {}
  // The type parameter only declares how bigint is parsed; the rest of the gateway uses plain Sql.
  if ('url' in place) {
    const { url, ssl } = readTlsOptions(place.url)
    return postgres(url, { ...shared, ...database, ...(ssl && { ssl }) }) as unknown as Sql
  }
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
