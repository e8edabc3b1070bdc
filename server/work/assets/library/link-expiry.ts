/** The expiry of a vendor's link, read from the link itself; one day if it names none. */

const DEFAULT_SECONDS = 86_400
/** Upper bound, so that a link with a far expiry is copied as soon as any other. */
const SECONDS_MAX = 7 * 86_400
const STAMP = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/
const SIGNED_PART = /^x-[a-z]{2,10}-(date|expires)$/

/**
 * Returns the expiry of a link. Signed links of object stores carry it in the query:
 * `Expires=<unix seconds>`, or `X-…-Date` with `X-…-Expires=<seconds>`. A link without one, or with
 * one in the past, gets the day that vendors document.
 */
export function readLinkExpiry(url: string, now: Date): Date {
  const expiryMs = readExpiryMs(url)
  const latestMs = now.getTime() + SECONDS_MAX * 1000
  if (expiryMs === undefined || expiryMs <= now.getTime()) {
    return new Date(now.getTime() + DEFAULT_SECONDS * 1000)
  }
  return new Date(Math.min(expiryMs, latestMs))
}

function readExpiryMs(url: string): number | undefined {
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
  const match = STAMP.exec(text ?? '')
  if (!match) return undefined
  const [year = 0, month = 1, ...rest] = match.slice(1).map(Number)
  const [day = 1, hour = 0, minute = 0, second = 0] = rest
  return Date.UTC(year, month - 1, day, hour, minute, second)
}
