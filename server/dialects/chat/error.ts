/** Errors as the chat format has them, whole and as the last event of a stream. */
import { encodeSseEvent } from '../sse.ts'
import type { ReportedError } from './read-error.ts'

/** The one shape that every SDK of this dialect reads. */
export function buildChatError({ type, message, code = null }: ChatErrorFields): unknown {
  return { error: { message, type, param: null, code } }
}

type ChatErrorFields = Omit<ReportedError, 'code'> & { readonly code?: string | null }

/** No `[DONE]` follows it. */
export function encodeChatError(error: ReportedError): string {
  return encodeSseEvent(undefined, JSON.stringify(buildChatError(error)))
}
