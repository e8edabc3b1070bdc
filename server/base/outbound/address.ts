/**
 * Decides which network addresses a caller's URL may reach: public unicast only, unless the
 * operator allows more; never the metadata services of clouds.
 */
import ipaddr from 'ipaddr.js'

/** The addresses that may be reached besides the public internet. */
export type Allowance = 'public' | 'loopback' | 'private'

export interface AddressPolicy {
  readonly allowance: Allowance
  /** Allowed ports of public addresses; other allowed addresses may be reached on every port. */
  readonly ports: ReadonlySet<number>
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Addresses of metadata services, which hand out the machine's own credentials. */
const METADATA: readonly string[] = [
  '168.63.129.16/32',
  '100.100.100.200/32',
  '192.0.0.192/32',
  '169.254.0.0/16',
  'fd00:ec2::/32',
  'fd20:ce::/32',
]
/** The only IPv6 block from which public addresses are assigned. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

const PRIVATE_RANGES: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'uniqueLocal',
  'carrierGradeNat',
])

/** Returns why this address and port must not be reached, or undefined if they may. */
export function judgeAddress(
  text: string,
  port: number,
  policy: AddressPolicy,
): string | undefined {
  if (!ipaddr.isValid(text)) return 'is not an address'
  const address = unwrap(ipaddr.parse(text))
  if (METADATA.some((block) => isWithin(address, block))) return 'leads to a metadata service'
  const range = rangeOf(address)
  if (isExtra(range, policy.allowance)) return undefined
  if (range !== 'unicast') return `leads to an address that is not public (${range})`
  if (!policy.ports.has(port)) return `uses port ${port}, which is not allowed`
  return undefined
}

function isExtra(range: string, allowance: Allowance): boolean {
  if (allowance === 'private') return PRIVATE_RANGES.has(range)
  return allowance === 'loopback' && range === 'loopback'
}

/** Returns the IPv4 address that an IPv6 address maps to on the network, if any. */
function unwrap(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  if (address.range() !== 'rfc6052') return address
  return new ipaddr.IPv4(address.toByteArray().slice(-4))
}

function rangeOf(address: Address): string {
  const range = address.range()
  if (range !== 'unicast' || !(address instanceof ipaddr.IPv6)) return range
  return address.match(GLOBAL_UNICAST) ? range : 'reserved'
}

function isWithin(address: Address, block: string): boolean {
  const [base, bits] = ipaddr.parseCIDR(block)
  return address.kind() === base.kind() && address.match([base, bits])
}
