/**
 * A vendor may answer with the key that it was given, in an error or in the middle of a stream.
 * What proved who we are comes back as asterisks: callers, records and the log never see it.
 */
import type { Dispatcher } from 'undici'

/** Headers whose values are nobody's business but the vendor's. */
const CREDENTIAL = /^(?:proxy-)?authorization$|key|token|secret|cookie/i
/** Anything shorter could be a word of an answer. */
const LENGTH_MIN = 8
const ASTERISK = 0x2a

/** For `compose`: masks in answers what the headers of their request had. */
export function maskCredentials(dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch {
  return (options, handler) => {
    const sent = credentialsOf(options.headers)
    return dispatch(options, sent.length === 0 ? handler : watch(handler, sent))
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

function watch(
  handler: Dispatcher.DispatchHandler,
  sent: readonly Buffer[],
): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (...parts) => handler.onRequestStart?.(...parts),
    onRequestUpgrade: (...parts) => handler.onRequestUpgrade?.(...parts),
    onResponseStart: (...parts) => handler.onResponseStart?.(...parts),
    onResponseData: (controller, chunk) => handler.onResponseData?.(controller, mask(chunk, sent)),
    onResponseEnd: (...parts) => handler.onResponseEnd?.(...parts),
    onResponseError: (...parts) => handler.onResponseError?.(...parts),
  }
}

/** As long as before, so that lengths that were told stay true. One cut in two goes unseen. */
function mask(chunk: Buffer, sent: readonly Buffer[]): Buffer {
  let shown = chunk
  for (const secret of sent) {
    for (let at = shown.indexOf(secret); at >= 0; at = shown.indexOf(secret, at + 1)) {
      // The bytes are the connection's own buffer.
      if (shown === chunk) shown = Buffer.from(chunk)
      shown.fill(ASTERISK, at, at + secret.length)
    }
  }
  return shown
}
