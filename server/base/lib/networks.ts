/** IP addresses and networks such as `10.0.0.0/8`: reading, writing and matching. */
import { BlockList, isIP } from 'node:net'

export interface Networks {
  /**
   * False for a text that is not an address. An IPv4 address that is mapped to IPv6 counts as IPv4.
   */
  has(address: string): boolean
}

export const NETWORKS_MAX = 100
export const NETWORK_PROBLEM =
  'must be an address or a network, such as 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32'

const BITS = { 4: 32, 6: 128 } as const
/** The first 96 bits of an IPv6 address that stands for an IPv4 address. */
const MAPPED_BITS = 96
const MAPPED = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/
const PREFIX = /^(0|[1-9]\d{0,2})$/

export function createNetworks(list: readonly string[]): Networks {
  const blocks = { 4: new BlockList(), 6: new BlockList() }
  for (const network of list) {
    const [address = '', bits] = (readNetwork(network) ?? '').split('/')
    const version = isIP(address)
    if (version !== 4 && version !== 6) throw new Error(`${network} ${NETWORK_PROBLEM}`)
    blocks[version].addSubnet(address, Number(bits ?? BITS[version]), `ipv${version}`)
  }
  return {
    has(address) {
      const plain = plainAddress(address)
      const version = isIP(plain)
      return (version === 4 || version === 6) && blocks[version].check(plain, `ipv${version}`)
    },
  }
}

/**
 * Returns an address or a network in its canonical form: bits beyond the prefix are zero, and IPv4
 * that is mapped to IPv6 is IPv4. Returns undefined for any other text.
 */
export function readNetwork(text: string): string | undefined {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if ((version !== 4 && version !== 6) || address.includes('%') || rest.length > 0) return undefined
  const most = BITS[version]
  if (prefix !== undefined && (!PREFIX.test(prefix) || Number(prefix) > most)) return undefined
  const bits = Number(prefix ?? most)
  const suffix = (count: number) => (prefix === undefined ? '' : `/${count}`)
  if (version === 4) return write4(clear(read4(address), most - bits)) + suffix(bits)
  const plain = plainAddress(address)
  if (isIP(plain) === 6) return write6(clear(read6(address), most - bits)) + suffix(bits)
  if (bits < MAPPED_BITS) return undefined
  return write4(clear(read4(plain), most - bits)) + suffix(bits - MAPPED_BITS)
}

/** Returns networks in canonical form, each once. Throws for a text that is not a network. */
export function readNetworks(list: readonly string[]): string[] {
  const read = list.map((text) => {
    const network = readNetwork(text.trim())
    if (network === undefined) throw new RangeError(`"${text.slice(0, 100)}" ${NETWORK_PROBLEM}`)
    return network
  })
  const found = [...new Set(read)]
  if (found.length > NETWORKS_MAX) throw new RangeError(`at most ${NETWORKS_MAX} networks`)
  return found
}

/** Returns an address without its zone, and one that is mapped to IPv6 as IPv4. */
export function plainAddress(address: string): string {
  const [own = ''] = address.split('%', 1)
  if (isIP(own) !== 6) return own
  const [, high, low] = MAPPED.exec(shorten(own)) ?? []
  if (high === undefined || low === undefined) return own
  return write4((BigInt(`0x${high}`) << 16n) | BigInt(`0x${low}`))
}

/** Returns the eight groups of an IPv6 address, without leading zeros. */
export function groupsOf(address: string): string[] {
  const [head = '', tail = ''] = shorten(address).split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const missing = Math.max(0, 8 - groups(head).length - groups(tail).length)
  return [...groups(head), ...Array.from({ length: missing }, () => '0'), ...groups(tail)]
}

/** Returns the shortest form of an IPv6 address. */
function shorten(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1)
}

function read4(address: string): bigint {
  return address.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n)
}

function read6(address: string): bigint {
  return BigInt(
    `0x${groupsOf(address)
      .map((group) => group.padStart(4, '0'))
      .join('')}`,
  )
}

function write4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
}

function write6(value: bigint): string {
  const groups = value.toString(16).padStart(32, '0').match(/.{4}/g) ?? []
  return shorten(groups.join(':'))
}

function clear(value: bigint, bits: number): bigint {
  return (value >> BigInt(bits)) << BigInt(bits)
}
