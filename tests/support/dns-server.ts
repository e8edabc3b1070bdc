/** A DNS server that knows a few names, each with addresses that may change at any time. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'

const HEADER_BYTES = 12
const TTL_SECONDS = 600

export interface DnsServer {
  readonly port: number
  /** IPv4 addresses by name. A name that is not here, or has none, does not exist. */
  readonly addresses: Map<string, string | readonly string[]>
  stop(): Promise<void>
}

/** Starts a server on 127.0.0.1. Its answers live for ten minutes, as those of Docker do. */
export async function startDnsServer(): Promise<DnsServer> {
  const addresses = new Map<string, string | readonly string[]>()
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    socket.send(answer(query, addresses), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    port: socket.address().port,
    addresses,
    async stop() {
      socket.close()
      await once(socket, 'close')
    },
  }
}

/** Answers the one question of a query (RFC 1035, section 4): addresses, or that there is none. */
function answer(query: Buffer, addresses: ReadonlyMap<string, string | readonly string[]>): Buffer {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const question = query.subarray(HEADER_BYTES, at + 5)
  const found = [addresses.get(labels.join('.')) ?? []].flat()
  const header = Buffer.alloc(HEADER_BYTES)
  query.copy(header, 0, 0, 2)
  // A response with recursion, and the code of a name that does not exist.
  header.writeUInt16BE(found.length > 0 ? 0x8180 : 0x8183, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(found.length, 6)
  return Buffer.concat([header, question, ...found.map(record)])
}

function record(address: string): Buffer {
  const head = Buffer.from([0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4])
  head.writeUInt32BE(TTL_SECONDS, 6)
  return Buffer.concat([head, Buffer.from(address.split('.').map(Number))])
}
