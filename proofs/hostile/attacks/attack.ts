/** Attacks as data: prepared bytes, and the manner in which they are sent. */

export type Role =
  | 'without balance'
  | 'small balance'
  | 'slow reader'
  | 'slow writer'
  | 'lying vendor'

/** In the order in which their attacks are drawn. */
export const ROLES: readonly Role[] = [
  'without balance',
  'small balance',
  'slow reader',
  'slow writer',
  'lying vendor',
]

export type Manner =
  /** Sent again and again, at most one request at a time on a connection; answers are discarded. */
  | { readonly kind: 'flood'; readonly perSecond: number; readonly connections: number }
  /** Sent without its last byte, and kept so. */
  | { readonly kind: 'hold'; readonly connections: number }
  /** Sent, then one byte more at a time. */
  | { readonly kind: 'drip'; readonly connections: number; readonly everyMs: number }
  /** Sent, and nothing is read. */
  | { readonly kind: 'unread'; readonly connections: number }
  /** An upgrade to a WebSocket, then messages at a rate; nothing is read. */
  | { readonly kind: 'socket'; readonly connections: number; readonly perSecond: number }

/**
 * The keys of the attackers, each of an account of its own: one that has its share of the slots
 * would be refused before its next attack has any effect. `poor` and `writer` have no balance,
 * `limited` may send a few requests a minute.
 */
export interface Keys {
  readonly poor: string
  readonly writer: string
  readonly small: string
  readonly hoarder: string
  readonly reader: string
  readonly deceived: string
  readonly limited: string
}

export interface Attack {
  readonly name: string
  readonly role: Role
  readonly manner: Manner
  /** Returns the request, and after it the messages of a WebSocket. */
  readonly prepare: (keys: Keys) => readonly [Buffer, ...Buffer[]]
}

/** Returns the bytes of a request. */
export function request(
  path: string,
  key: string,
  body: Buffer | object,
  headers: Readonly<Record<string, string | number>> = {},
): Buffer {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
  const all = {
    host: 'gateway',
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': bytes.length,
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), bytes])
}

/** Returns the frame of a client's text message; its mask of zeros leaves the text as it is. */
export function frame(text: string | Buffer): Buffer {
  const payload = Buffer.from(text)
  const head = Buffer.alloc(payload.length < 126 ? 6 : 14)
  head[0] = 0x81
  if (payload.length < 126) head[1] = 0x80 | payload.length
  else {
    head[1] = 0xff
    head.writeBigUInt64BE(BigInt(payload.length), 2)
  }
  return Buffer.concat([head, payload])
}
