/**
 * Which network addresses a caller's URL may lead to. Public unicast alone, unless the operator
 * allows more; the metadata services of clouds never.
 */
import ipaddr from 'ipaddr.js'

/** What may be reached beside the public internet. */
export type Allowance = 'public' | 'loopback' | 'private'

export interface AddressPolicy {
  readonly allowance: Allowance
  /** Ports of public addresses; what the allowance adds may be reached on every port. */
  readonly ports: ReadonlySet<number>
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Hand out the credentials of the machine itself, on addresses that look ordinary. */
const METADATA: readonly string[] = [
  '168.63.129.16/32',
  '100.100.100.200/32',
  '192.0.0.192/32',
  '169.254.0.0/16',
  'fd00:ec2::/32',
  'fd20:ce::/32',
]
/** The only block of IPv6 from which public addresses are given out. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

const PRIVATE_RANGES: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'uniqueLocal',
  'carrierGradeNat',
])

/** Why this address and port may not be reached, or undefined when they may. */
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

/** The IPv4 address inside of an IPv6 one that stands for it, as the network would see it. */
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
