/**
 * Determines a request's network address. Behind the operator's proxies it is the right-most
 * address in X-Forwarded-For that is not a proxy; addresses to the left of it can be forged.
 */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { createNetworks, groupsOf, plainAddress } from '../../lib/networks.ts'

export interface Addresses {
  /** For display, the audit log and lists of allowed networks; empty once the caller has left. */
  of(request: IncomingMessage): string
  /** The key of rate limits: the address, or the /64 of IPv6, which is one customer's line. */
  networkOf(request: IncomingMessage): string
}

const HOPS_MAX = 20
/**
 * Some proxies, such as Azure's Application Gateway, add the port: `203.0.113.9:443`,
 * `[2001:db8::1]:443`.
 */
const WITH_PORT = /^(?:([\d.]{7,15}):\d{1,5}|\[([\da-f:.]{2,45})\](?::\d{1,5})?)$/i

/** `proxies` are addresses or networks such as `10.0.0.0/8`. */
export function createAddresses(proxies: readonly string[]): Addresses {
  const trusted = createNetworks(proxies)

  function of(request: IncomingMessage): string {
    const own = plainAddress(request.socket.remoteAddress ?? '')
    if (!trusted.has(own)) return own
    const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',')
    const hops = forwarded.slice(-HOPS_MAX).map((hop) => plainAddress(withoutPort(hop.trim())))
    let before = own
    for (const hop of hops.reverse()) {
      if (isIP(hop) === 0) return before
      if (!trusted.has(hop)) return hop
      before = hop
    }
    return own
  }

  return {
    of,
    networkOf(request) {
      const address = of(request)
      return isIP(address) === 6 ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address
    },
  }
}

function withoutPort(hop: string): string {
  const [, four, six] = WITH_PORT.exec(hop) ?? []
  return four ?? six ?? hop
}
