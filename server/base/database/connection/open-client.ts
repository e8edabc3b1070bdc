/** The PostgreSQL client's settings: types and timeouts of every connection. */
import type { Socket } from 'node:net'
import postgres, { type Options, type Sql } from 'postgres'
import { storableText } from '../../lib/text/well-formed.ts'
import { readLogin, readSocketUrl, readTarget } from './address.ts'
import { arrayTypes } from './array-types.ts'
import { noteSocket } from './copied-rows.ts'
import { type Address, dial } from './dial.ts'
import { shareParameterTypes } from './parameter-types.ts'
import { secure } from './secure.ts'
import { readTlsOptions } from './tls-options.ts'

const CONNECT_SECONDS = 2
/** The first byte that a server sends if it admits the client, instead of an error. */
const AUTHENTICATION = 'R'.charCodeAt(0)
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
  /** Refuses replicas. */
  readonly primary?: boolean
  readonly name?: string
  readonly database?: string
}

/** Events of one set of connections. */
export interface ConnectionEvents {
  readonly onclose?: () => void
  readonly onnotify?: (channel: string, payload: string) => void
  /** Called when the server begins authentication: it has a process for the connection. */
  readonly onadmitted?: (() => void) | undefined
}

/** An option of the client that its types lack. */
interface Dialled {
  readonly socket: (address: Address) => Promise<Socket>
}

class ConnectionClosed extends Error {
  readonly code = 'CONNECTION_CLOSED'

  constructor() {
    super('CONNECTION_CLOSED: the database closed the connection')
  }
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

/**
 * Must not throw for a value that cannot be written: the client has begun to send the statement,
 * and its connection would wait for ever. The server will refuse the text of an invalid time.
 */
const timeType = {
  to: 1184,
  from: [1082, 1114, 1184],
  serialize: writeTime,
  parse: (text: string) => new Date(text),
}

function writeTime(value: unknown): string {
  const isValid = value instanceof Date && !Number.isNaN(value.getTime())
  return isValid ? value.toISOString() : String(value)
}

const TYPES = { bigint: bigintType, text: textType, date: timeType, ...arrayTypes }

/**
 * Opens the unmodified client for one connection, which is discarded at the first error: it never
 * connects again, which the client would do without a pause. It has two seconds to connect, or
 * until `connecting` aborts. `dropped` closes the connection if the client does not: otherwise a
 * server that accepts it and never answers would keep it open, and the process alive, for ever.
 */
export function openClient(
  address: DatabasePlace,
  options: Pick<ClientOptions, 'name' | 'database'>,
  { onadmitted, ...events }: ConnectionEvents = {},
  connecting?: AbortSignal,
  dropped?: AbortSignal,
): Sql {
  const place = 'url' in address ? (readSocketUrl(address.url) ?? address) : address
  const { url, tls } = 'url' in place ? readTlsOptions(place.url) : {}
  let isUsed = false
  const shared = {
    max: 1,
    socket: async (found: Address) => {
      if (isUsed) throw new ConnectionClosed()
      isUsed = true
      const signal = connecting ?? AbortSignal.timeout(CONNECT_SECONDS * 1_000)
      const target = 'url' in place ? { ...found, ...readTarget(place.url) } : found
      const plain = await dial(target, signal)
      const socket = tls ? await secure(plain, target.host[0] ?? '', tls, signal) : plain
      dropped?.addEventListener('abort', () => socket.destroy(), { once: true })
      if (onadmitted) {
        socket.once('data', (first: Buffer) => first[0] === AUTHENTICATION && onadmitted())
      }
      noteSocket(sql, socket)
      return socket
    },
    connect_timeout: connecting ? 0 : CONNECT_SECONDS,
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
    },
    ...events,
  } satisfies Options<{ bigint: typeof bigintType }> & ConnectionEvents & Dialled
  const database = options.database ? { database: options.database } : {}
  const client =
    'url' in place
      ? postgres(url ?? place.url, { ...shared, ...readLogin(place.url), ...database, ssl: false })
      : postgres({
          ...shared,
          path: `${place.socketFolder}/.s.PGSQL.${place.port}`,
          host: place.socketFolder,
          port: place.port,
          username: place.user,
          password: place.password,
          database: options.database ?? place.database,
        })
  // The type parameter only declares how bigint is parsed; the rest of the gateway uses plain Sql.
  const sql = client as unknown as Sql
  shareParameterTypes(sql)
  return sql
}
