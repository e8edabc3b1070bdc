/**
 * Removes internal details from vendors' error texts: host addresses, file paths and keys. Callers
 * only see what is wrong with their request.
 */
import { isIPv6 } from 'node:net'
import { isObject } from '../json.ts'
import {
  ALWAYS_SECRET,
  BEARER,
  COUNTED,
  FIELD_ROOT,
  FILE_PATH,
  HOST_AND_PORT,
  INTERNAL_HOST,
  INTERNAL_NAME,
  INVISIBLE,
  IPV4,
  IPV6,
  KEY_TEXT,
  LOCALHOST,
  MACHINE_NAME,
  NAMED_SECRET,
  PAGE_HOST,
  PAGE_PATH,
  PUBLIC_NAME,
  REQUEST_ID,
  URL_TEXT,
} from './internal-patterns.ts'
import { trimEnd } from './trim-end.ts'

/** Returns true if the caller sent these words. */
export type IsCallersText = (words: string) => boolean

/** Longer texts are cut, since the patterns take longer on them. */
const LENGTH_MAX = 1_000
const DEPTH_MAX = 50
/** Characters of one JSON value: the patterns take up to half a millisecond for a thousand. */
const SEARCHED_MAX = 64 * 1024
/** The shortest string takes as long as this many characters. */
const SEARCHED_MIN = 32
const CUT = '…'
const ADDRESS = '[address]'
const PATH = '[path]'
const SECRET = '[secret]'

const HAS_HOST_SHAPE = /[/:]|^[a-z0-9-]+$/i
const CLOSING = '.,:;!?'

/**
 * Replaces addresses, paths and secrets in a vendor's text. Text from the caller, as decided by
 * `known`, and links to documentation stay.
 */
export function redactInternals(text: string, isCallersText: IsCallersText = () => false): string {
  const short = shorten(text)
  const visible = short.replace(INVISIBLE, '')
  const unless =
    (instead: string, stays: (found: string) => boolean = () => false) =>
    (found: string) => {
      const bare = trimEnd(found, CLOSING)
      return stays(bare) || isCallersText(bare) ? found : instead + found.slice(bare.length)
    }
  const hidden = visible
    .replace(NAMED_SECRET, (found, name: string, value: string) =>
      isSecret(name, value) && !isCallersText(trimEnd(value, CLOSING)) ? `${name}${SECRET}` : found,
    )
    .replace(BEARER, (_, scheme: string) => `${scheme} ${SECRET}`)
    .replace(URL_TEXT, unless(ADDRESS, isPage))
    .replace(FILE_PATH, unless(PATH))
    .replace(KEY_TEXT, (found: string, at: number, whole: string) =>
      isCallersText(found) || REQUEST_ID.test(whole.slice(Math.max(0, at - 20), at))
        ? found
        : SECRET,
    )
    .replace(IPV4, unless(ADDRESS))
    .replace(
      IPV6,
      unless(ADDRESS, (found) => !holdsIPv6(found)),
    )
    .replace(MACHINE_NAME, unless(ADDRESS))
    .replace(INTERNAL_NAME, redactName(isCallersText))
    .replace(PUBLIC_NAME, redactName(isCallersText))
    .replace(
      HOST_AND_PORT,
      unless(ADDRESS, (found) => COUNTED.test(found)),
    )
    .replace(LOCALHOST, unless(ADDRESS))
  return hidden === visible ? short : hidden
}

/**
 * Applies redactInternals to the strings of a JSON value, up to a limit beyond which they become
 * ellipses. Returns the value itself if nothing is hidden.
 */
export function redactInStrings(value: unknown, isCallersText?: IsCallersText): unknown {
  let left = SEARCHED_MAX
  const hide = (text: string) => {
    left -= Math.min(LENGTH_MAX, Math.max(SEARCHED_MIN, text.length))
    return left < 0 ? CUT : redactInternals(text, isCallersText)
  }
  return mapStrings(value, hide, 0)
}

/** Returns the value itself if `change` changes no string. */
function mapStrings(value: unknown, change: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEPTH_MAX) return null
  const inner = (item: unknown) => mapStrings(item, change, depth + 1)
  if (Array.isArray(value)) {
    const redacted = value.map(inner)
    return redacted.every((item, index) => item === value[index]) ? value : redacted
  }
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, item]) => [name, inner(item)] as const)
  return entries.every(([name, item]) => item === value[name]) ? value : Object.fromEntries(entries)
}

/** Cuts between words, since a partial word might not match its pattern. */
function shorten(text: string): string {
  if (text.length <= LENGTH_MAX) return text
  const start = text.slice(0, LENGTH_MAX)
  const end = start.lastIndexOf(' ')
  return `${end > LENGTH_MAX / 2 ? start.slice(0, end) : start}${CUT}`
}

/** Field names may also follow `key:` and `token:`. */
function isSecret(name: string, value: string): boolean {
  if (/\*{3}/.test(value)) return true
  if (ALWAYS_SECRET.test(name)) return /[\d*_\-/+=.]/.test(value)
  return value.length >= 16 && /\d/.test(value) && /[a-z]/i.test(value) && !/[.[(]/.test(value)
}

function redactName(isCallersText: IsCallersText) {
  return (found: string, at: number, whole: string): string => {
    const bare = trimEnd(found, CLOSING)
    const isField =
      !HAS_HOST_SHAPE.test(bare) && (FIELD_ROOT.test(bare) || /[.\]]/.test(whole[at - 1] ?? ''))
    if (isField || isPage(bare) || isCallersText(bare)) return found
    // Part of a link that stays.
    const start = whole.lastIndexOf(' ', at) + 1
    const link = /https?:\/\/\S*/i.exec(whole.slice(start, at + found.length))?.[0]
    if (link && (isPage(link) || isCallersText(trimEnd(link, CLOSING)))) return found
    return ADDRESS + found.slice(bare.length)
  }
}

function holdsIPv6(found: string): boolean {
  const bare = found.replace(/^\[/, '').replace(/\](?::\d+)?$/, '')
  return /[0-9a-f]/i.test(bare) && (isIPv6(bare) || isIPv6(bare.replace(/:\d+$/, '')))
}

/** Returns true for public pages: `https`, without a port or an internal name. */
function isPage(found: string): boolean {
  const link = /^https:\/\//i.test(found) ? found : `https://${found}`
  if (!URL.canParse(link)) return false
  const { hostname, port, username, pathname, search } = new URL(link)
  if (port !== '' || username !== '' || search !== '') return false
  if (/^[\d.]+$/.test(hostname) || !hostname.includes('.')) return false
  if (INTERNAL_HOST.test(hostname)) return false
  return PAGE_HOST.test(hostname) || PAGE_PATH.test(pathname)
}
