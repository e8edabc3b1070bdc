/**
 * Determines a request's network address. Behind the operator's proxies it is the right-most
 * address in X-Forwarded-For that is not a proxy; addresses to the left of it can be forged.
 */
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

export interface Addresses {
  /** For display and the audit log. */
  of(request: IncomingMessage): string
  /** The key of rate limits: the address, or the /64 of IPv6, which is one customer's line. */
  networkOf(request: IncomingMessage): string
}

const HOPS_MAX = 20

/** `proxies` are addresses or networks such as `10.0.0.0/8`. */
export function createAddresses(proxies: readonly string[]): Addresses {
  const trusted = new BlockList()
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) trusted.addAddress(address, family)
    else trusted.addSubnet(address, Number(bits), family)
  }
  const isTrusted = (address: string) =>
    isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')

  function of(request: IncomingMessage): string {
    const own = plain(request.socket.remoteAddress ?? '')
    const forwarded = String(request.headers['x-forwarded-for'] ?? '').split(',')
    const hops = [...forwarded.map((hop) => plain(hop.trim())), own].slice(-HOPS_MAX).reverse()
    for (const [index, hop] of hops.entries()) {
      if (isTrusted(hop)) continue
      return isIP(hop) === 0 ? (hops[index - 1] ?? own) : hop
    }
    return own
  }

  return {
    of,
    networkOf(request) {
      const address = of(request)
      return isIP(address) === 6 ? `${expand(address).slice(0, 4).join(':')}::/64` : address
    },
  }
}

/** Converts an IPv4-mapped IPv6 address to IPv4. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').split('%', 1)[0] ?? ''
}

/** Returns the eight groups of an IPv6 address. */
function expand(address: string): string[] {
  const [head = '', tail = ''] = address.toLowerCase().split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const missing = Math.max(0, 8 - groups(head).length - groups(tail).length)
  const zeros = Array.from({ length: missing }, () => '0')
  return [...groups(head), ...zeros, ...groups(tail)].map((group) => group.replace(/^0+(?=.)/, ''))
}
