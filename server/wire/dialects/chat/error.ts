/** Errors as the chat format has them, whole and as the last event of a stream. */

import { redactInStrings } from '../../../base/lib/text/redact-internals.ts'
import type { ReportedError } from '../reported-error.ts'
import { encodeSseEvent } from '../sse.ts'

/** The one shape that every SDK of this dialect reads. */
export function buildChatError({ type, message, code = null }: ChatErrorFields): unknown {
  return { error: { message, type, param: null, code } }
}

type ChatErrorFields = Omit<ReportedError, 'code'> & { readonly code?: string | null }

/** No `[DONE]` follows it. */
export function encodeChatError(error: ReportedError): string {
  return encodeSseEvent(undefined, JSON.stringify(redactInStrings(buildChatError(error))))
}
