/** The PostgreSQL client's settings: how values and time-outs are, for every connection alike. */
import postgres, { type Options, type Sql } from 'postgres'
import { storableText } from '../../lib/text/well-formed.ts'
import { arrayTypes } from './array-types.ts'
import { readSocketUrl } from './read-socket-url.ts'

const CONNECT_SECONDS = 2
/** A server under load, or one that recovers, may take this long to let somebody in. */
const PATIENT_SECONDS = 30
const STATEMENT_TIMEOUT_MS = 5_000
const POOL_SIZE = 10
/** Keeps firewalls from forgetting an idle connection. */
const KEEP_ALIVE_SECONDS = 20

/** Where the database is: a URL, or a socket folder with its credentials. */
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
  /** For commands, which rather wait for a loaded server than fail: up to 30 s to connect. */
  readonly patient?: boolean
  readonly name?: string
  readonly database?: string
}

/** What the client tells about one set of connections. */
export interface ConnectionEvents {
  readonly onclose?: () => void
  readonly onnotify?: (channel: string, payload: string) => void
}

/** int8 is bigint: an amount must never pass through a JavaScript number. */
const bigintType = {
  to: 20,
  from: [20],
  serialize: (value: bigint | number | string) => value.toString(),
  parse: (text: string) => BigInt(text),
}

/**
 * Text has no U+0000 here, and a statement with one is refused. Callers can put it anywhere, and
 * vendors too: it travels as U+FFFD, so that an id with one is the id of nothing.
 */
const textType = {
  to: 25,
  from: [],
  serialize: (value: unknown) => storableText(String(value)),
  parse: (text: string) => text,
}

const TYPES = { bigint: bigintType, text: textType, ...arrayTypes }

/** The client as it comes. Only for connections that are thrown away at their first trouble. */
export function openClient(
  given: DatabasePlace,
  options: ClientOptions,
  events: ConnectionEvents = {},
): Sql {
  const place = 'url' in given ? (readSocketUrl(given.url) ?? given) : given
  const shared = {
    max: options.connections ?? POOL_SIZE,
    connect_timeout: options.patient ? PATIENT_SECONDS : CONNECT_SECONDS,
    keep_alive: KEEP_ALIVE_SECONDS,
    // A connection ends when the server or we end it. One that ended by itself would take the
    // session's locks with it.
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
