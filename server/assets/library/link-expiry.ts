/** Until when a vendor's link is thought to work: what it says of itself, else a day. */

const DEFAULT_SECONDS = 86_400
/** A link that claims to live longer is copied as soon all the same. */
const SECONDS_MAX = 7 * 86_400
const STAMP = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/
const SIGNED_PART = /^x-[a-z]{2,10}-(date|expires)$/

/**
 * Signed links of object stores carry their end in the query: `Expires=<unix seconds>`, or
 * `X-…-Date` with `X-…-Expires=<seconds>`. A link that names no end, or a senseless one, gets the
 * day that vendors document.
 */
export function readLinkExpiry(url: string, now: Date): Date {
  const end = readEnd(url)
  const latest = now.getTime() + SECONDS_MAX * 1000
  if (end === undefined || end <= now.getTime()) {
    return new Date(now.getTime() + DEFAULT_SECONDS * 1000)
  }
  return new Date(Math.min(end, latest))
}

function readEnd(url: string): number | undefined {
  const query = URL.parse(url)?.searchParams
  if (!query) return undefined
  const parts = new Map<string, string>()
  for (const [name, value] of query) {
    const lower = name.toLowerCase()
    const signed = SIGNED_PART.exec(lower)?.[1]
    parts.set(signed ?? (lower === 'expires' ? 'until' : lower), value)
  }
  const until = parts.get('until')
  if (until !== undefined && /^\d{10}$/.test(until)) return Number(until) * 1000
  const from = readStamp(parts.get('date'))
  const seconds = parts.get('expires')
  if (from === undefined || seconds === undefined || !/^\d{1,7}$/.test(seconds)) return undefined
  return from + Number(seconds) * 1000
}

function readStamp(text: string | undefined): number | undefined {
  const found = STAMP.exec(text ?? '')
  if (!found) return undefined
  const [year = 0, month = 1, ...rest] = found.slice(1).map(Number)
  const [day = 1, hour = 0, minute = 0, second = 0] = rest
  return Date.UTC(year, month - 1, day, hour, minute, second)
}
