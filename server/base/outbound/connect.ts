/**
 * Connects only to addresses that were checked: the name is not resolved a second time, and the
 * address of the open socket is checked again before a byte is sent.
 */
import type { LookupAddress, LookupOptions } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector, Client } from 'undici'
import { type AddressPolicy, judgeAddress } from './address.ts'
import { skipInterim } from './skip-interim.ts'
import type { OutboundTarget } from './target.ts'

/** Opens a client for one exchange, without keeping connections: a later URL is checked anew. */
export function openOutboundClient(
  target: OutboundTarget,
  policy: AddressPolicy,
  timeoutMs: number,
): Client {
  const connect = skipInterim(
    buildConnector({
      timeout: timeoutMs,
      maxCachedSessions: 0,
      allowH2: false,
      rejectUnauthorized: true,
      autoSelectFamily: true,
      lookup: lookUpAmong(target.addresses),
    }),
  )
  return new Client(target.url.origin, {
    pipelining: 0,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect(options, callback) {
      connect(options, (error, socket) => {
        if (error) return callback(error, null)
        const problem = judgeAddress(socket.remoteAddress ?? '', target.port, policy)
        if (problem === undefined) return callback(null, socket)
        socket.destroy()
        callback(new Error(`the open connection ${problem}`), null)
      })
    },
  })
}

/** Answers the socket's look-ups with the checked addresses. */
function lookUpAmong(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address): LookupAddress => ({ address, family: isIP(address) }))
  return (host: string, options: LookupOptions, callback) => {
    const matching = all.filter(({ family }) => !options.family || family === options.family)
    const [first] = matching
    if (!first)
      return callback(new Error(`no checked address of ${host} has the requested family`), '', 0)
    if (options.all) return callback(null, matching)
    callback(null, first.address, first.family)
  }
}
