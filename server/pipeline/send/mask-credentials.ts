/**
 * Masks our credentials in answers: a vendor may repeat them in an error or in a stream. Callers,
 * usage records and the log then only see asterisks.
 */
import type { Dispatcher } from 'undici'

/** Names of headers with credentials. */
const CREDENTIAL = /^(?:proxy-)?authorization$|key|token|secret|cookie/i
/** A shorter value could be a word of an answer. */
const LENGTH_MIN = 8
const ASTERISK = 0x2a

/** An interceptor for `compose`: masks the credentials of a request's headers in its answer. */
export function maskCredentials(dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch {
  return (options, handler) => {
    const credentials = credentialsOf(options.headers)
    return dispatch(options, credentials.length === 0 ? handler : maskAnswer(handler, credentials))
  }
}

function credentialsOf(headers: Dispatcher.DispatchOptions['headers']): Buffer[] {
  if (!headers || Array.isArray(headers) || Symbol.iterator in headers) return []
  return Object.entries(headers).flatMap(([name, value]) => {
    if (typeof value !== 'string' || !CREDENTIAL.test(name)) return []
    const bare = value.replace(/^[A-Za-z]+ +/, '')
    return bare.length < LENGTH_MIN ? [] : [Buffer.from(bare)]
  })
}

function maskAnswer(
  handler: Dispatcher.DispatchHandler,
  credentials: readonly Buffer[],
): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (...parts) => handler.onRequestStart?.(...parts),
    onRequestUpgrade: (...parts) => handler.onRequestUpgrade?.(...parts),
    onResponseStart: (...parts) => handler.onResponseStart?.(...parts),
    onResponseData: (controller, chunk) => {
      handler.onResponseData?.(controller, mask(chunk, credentials))
    },
    onResponseEnd: (...parts) => handler.onResponseEnd?.(...parts),
    onResponseError: (...parts) => handler.onResponseError?.(...parts),
  }
}

/** Keeps the length, since headers state it. A credential split between chunks is not found. */
function mask(chunk: Buffer, credentials: readonly Buffer[]): Buffer {
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
