/**
 * Skips interim responses (1xx), which a server may send to any request (RFC 9110, 15.2). The HTTP
 * client closes the connection at a `100 Continue` and has no option for it, so that the work of a
 * vendor would be lost, and a webhook sent again. They are removed from the bytes before the client
 * reads them.
 */
import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'

const REQUEST_LINE = /^[A-Z]+ \S+ HTTP\/1\.1\r\n/
const INTERIM = Buffer.from('HTTP/1.1 1')
/** `101 Switching Protocols` is final: the client refuses it. */
const SWITCHING = Buffer.from('HTTP/1.1 101')
const HEAD_END = '\r\n\r\n'
/** Offset of the first digit of the status. */
const STATUS_AT = INTERIM.length - 1
const ONE = 0x31
/** A longer head is left to the client, which refuses it. */
const HEAD_BYTES_MAX = 16 * 1024
const NO_BYTES = Buffer.alloc(0)

export function skipInterim(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    connect(options, (...result) => {
      if (result[1]) filterReads(result[1])
      callback(...result)
    })
  }
}

function filterReads(socket: Socket): void {
  let isAtHead = false
  let pending: Buffer = NO_BYTES
  const write = socket.write.bind(socket) as (...parts: unknown[]) => boolean
  const read = socket.read.bind(socket)
  socket.write = (...parts: unknown[]) => {
    // Only a request's first bytes are text with a request line; bodies are written as bytes.
    if (typeof parts[0] === 'string' && REQUEST_LINE.test(parts[0])) isAtHead = true
    return write(...parts)
  }
  socket.read = (size) => {
    const chunk: Buffer | null = read(size)
    if (!isAtHead || chunk === null) return chunk
    // Nearly every response: it is final, and its status has arrived.
    if (pending.length === 0 && chunk.length > STATUS_AT && chunk[STATUS_AT] !== ONE) {
      isAtHead = false
      return chunk
    }
    const bytes = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    const rest = bytes.subarray(skipHeads(bytes))
    isAtHead = canBeInterim(rest) && rest.length <= HEAD_BYTES_MAX
    pending = isAtHead ? rest : NO_BYTES
    return isAtHead ? null : rest
  }
}

/** Returns the offset after all complete interim responses. */
function skipHeads(bytes: Buffer): number {
  for (let start = 0; ; ) {
    const end = canBeInterim(bytes.subarray(start)) ? bytes.indexOf(HEAD_END, start) : -1
    if (end === -1) return start
    start = end + HEAD_END.length
  }
}

function canBeInterim(bytes: Buffer): boolean {
  const isSwitching = bytes.subarray(0, SWITCHING.length).equals(SWITCHING)
  const start = bytes.subarray(0, INTERIM.length)
  return !isSwitching && start.equals(INTERIM.subarray(0, start.length))
}
