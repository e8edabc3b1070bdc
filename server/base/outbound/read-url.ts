/** Checks the text of a caller's URL, without the network. */
import ipaddr from 'ipaddr.js'
import { type AddressPolicy, judgeAddress } from './address.ts'

const URL_LENGTH_MAX = 2_048

export type ReadUrl =
  | {
      readonly url: URL
      /** Without brackets and trailing dot. */
      readonly host: string
      readonly port: number
      readonly isLiteral: boolean
    }
  | { readonly refusal: string }

/**
 * Whitespace, control and invisible characters, and the backslash, which some parsers treat as a
 * slash.
 */
const FORBIDDEN_CHARACTERS = /[\s\p{Cc}\p{Cf}\p{Co}\p{Cs}\\]/u
const SHAPE = /^https?:\/\/([^/?#]+)/i
/** Names of the local machine or network, even if they resolve to public addresses. */
const LOCAL_NAMES = new RegExp(
  `(?:^|\\.)(?:${[
    'localhost',
    'local',
    'localdomain',
    'internal',
    'intranet',
    'lan',
    'home',
    'corp',
    'svc',
    'home\\.arpa',
    'in-addr\\.arpa',
    'ip6\\.arpa',
    'onion',
    'test',
    'invalid',
  ].join('|')})$`,
)
const LOOPBACK_NAMES = /(?:^|\.)localhost$/
/** A label of a host name: letters, digits, inner hyphens, and underscores, which some have. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
const NAME_LENGTH_MAX = 253
const METADATA_NAMES = /^(?:metadata|instance-data)(?:\.|$)/

/** Parses a URL and refuses what its text alone rules out. */
export function readUrl(text: string, policy: AddressPolicy): ReadUrl {
  if (text.length > URL_LENGTH_MAX) return refuse(`is longer than ${URL_LENGTH_MAX} characters`)
  if (FORBIDDEN_CHARACTERS.test(text)) return refuse('has characters that are not allowed in a URL')
  const authority = SHAPE.exec(text)?.[1]
  if (authority === undefined) return refuse('is not an http or https URL')
  if (authority.includes('@')) return refuse('contains credentials')
  if (!URL.canParse(text)) return refuse('is not a URL')
  const url = new URL(text)
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  const isLiteral = ipaddr.isValid(host)
  const problem =
    judgeSpelling(authority, host, port) ??
    (isLiteral ? judgeAddress(host, port, policy) : judgeName(host, port, policy))
  return problem === undefined ? { url, host, port, isLiteral } : refuse(problem)
}

export function isLoopbackName(host: string): boolean {
  return LOOPBACK_NAMES.test(host)
}

/**
 * Refuses ambiguous addresses: a URL parser reads `1.2.3` as 1.2.0.3, and accepts names that no
 * resolver does.
 */
function judgeSpelling(authority: string, host: string, port: number): string | undefined {
  if (port === 0) return 'uses port 0, which is not allowed'
  if (ipaddr.IPv6.isValid(host)) return undefined
  if (ipaddr.IPv4.isValid(host)) {
    const [written] = authority.split(':')
    const isFull = written === host || written === `${host}.`
    return isFull ? undefined : `has an address that is not written in full, as ${host} is`
  }
  const isName = host.length <= NAME_LENGTH_MAX && host.split('.').every((one) => LABEL.test(one))
  return isName ? undefined : 'names no host'
}

function judgeName(host: string, port: number, policy: AddressPolicy): string | undefined {
  if (METADATA_NAMES.test(host)) return 'leads to a metadata service'
  if (policy.allowance === 'private') return undefined
  if (policy.allowance === 'loopback' && isLoopbackName(host)) return undefined
  if (!host.includes('.') || LOCAL_NAMES.test(host)) return 'names a host that is not public'
  if (policy.allowance === 'public' && !policy.ports.has(port)) {
    return `uses port ${port}, which is not allowed`
  }
  return undefined
}

function refuse(refusal: string): ReadUrl {
  return { refusal }
}
