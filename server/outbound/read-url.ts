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
/** Names of the local machine or network, whatever they resolve to. */
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
  const problem = isLiteral ? judgeAddress(host, port, policy) : judgeName(host, port, policy)
  return problem === undefined ? { url, host, port, isLiteral } : refuse(problem)
}

export function isLoopbackName(host: string): boolean {
  return LOOPBACK_NAMES.test(host)
}

function judgeName(host: string, port: number, policy: AddressPolicy): string | undefined {
  if (host === '' || host.endsWith('.')) return 'names no host'
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
