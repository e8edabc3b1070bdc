/**
 * Masks our credentials in answers: a vendor may repeat them in an error or in a stream. Callers,
 * usage records and the log then only see asterisks.
 */
/** Names of headers with credentials. */
const CREDENTIAL = /^(?:proxy-)?authorization$|key|token|secret|cookie/i
/** A shorter value could be a word of an answer. */
const LENGTH_MIN = 8
const ASTERISK = 0x2a

/** Credentials by headers object; the requests of a channel share one. */
const known = new WeakMap<object, readonly Buffer[]>()

/** Returns the credentials in a request's headers, without the name of their scheme. */
export function findCredentials(headers: Readonly<Record<string, string>>): readonly Buffer[] {
  let credentials = known.get(headers)
  if (!credentials) {
    credentials = readCredentials(headers)
    known.set(headers, credentials)
  }
  return credentials
}

function readCredentials(headers: Readonly<Record<string, string>>): readonly Buffer[] {
  const credentials: Buffer[] = []
  for (const name in headers) {
    if (!CREDENTIAL.test(name)) continue
    const bare = (headers[name] ?? '').replace(/^[A-Za-z]+ +/, '')
    if (bare.length >= LENGTH_MIN) credentials.push(Buffer.from(bare))
  }
  return credentials
}

/**
 * Masks credentials in a chunk of a response. Keeps the length, since headers state it. Does not
 * find a credential that is split between chunks.
 */
export function mask(chunk: Buffer, credentials: readonly Buffer[]): Buffer {
  let masked = chunk
  for (const secret of credentials) {
    for (let at = masked.indexOf(secret); at >= 0; at = masked.indexOf(secret, at + 1)) {
      // The chunk is the connection's own buffer.
      if (masked === chunk) masked = Buffer.from(chunk)
      masked.fill(ASTERISK, at, at + secret.length)
    }
  }
  return masked
}
