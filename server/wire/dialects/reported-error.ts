/** An error that an upstream reports inside of an answer whose status was 200. */
import { isObject } from '../../base/lib/json.ts'
import type { RelayReport } from './relay.ts'

export type ReportedError = NonNullable<RelayReport['error']>

/** The error for callers if the upstream states none that is usable, or the response is cut off. */
export const UPSTREAM_ERROR: ReportedError = {
  type: 'server_error',
  message: 'upstream provider error',
}

/** Returns true for an `error` that says something: some vendors send an empty one with success. */
export function isStatedError(error: unknown): boolean {
  if (!isObject(error)) return typeof error === 'string' && error !== ''
  return Object.values(error).some((value) => Boolean(value))
}

const HEAD_BYTES = 200
const MARKUP = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype\b|!--|\?xml\b|(?:html|head|body|title|meta)\b)/i

/** Returns true for bytes that begin like a page of HTML, sent in place of an answer. */
export function beginsLikePage(bytes: Buffer): boolean {
  return MARKUP.test(bytes.toString('latin1', 0, HEAD_BYTES))
}
