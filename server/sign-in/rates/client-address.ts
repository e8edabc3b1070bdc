/**
 * From which network address a request comes. Behind proxies that the operator names, it is the
 * right-most address that none of them has; what stands left of it, anybody can write.
 */
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

export interface Addresses {
  /** For people and the audit log. */
  of(request: IncomingMessage): string
  /** What shares a limit: the address, or of IPv6 its /64, which is one customer's line. */
  lineOf(request: IncomingMessage): string
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
    lineOf(request) {
      const address = of(request)
      return isIP(address) === 6 ? `${expand(address).slice(0, 4).join(':')}::/64` : address
    },
  }
}

/** An IPv4 address that came in over an IPv6 socket is still one. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
}

/** The eight groups of an IPv6 address. */
function expand(address: string): string[] {
  const [head = '', tail = ''] = address.toLowerCase().split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const missing = Math.max(0, 8 - groups(head).length - groups(tail).length)
  const zeros = Array.from({ length: missing }, () => '0')
  return [...groups(head), ...zeros, ...groups(tail)].map((group) => group.replace(/^0+(?=.)/, ''))
}
