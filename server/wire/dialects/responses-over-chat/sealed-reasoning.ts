/**
 * Reasoning with its vendor's signature as `encrypted_content`: clients return it unread, and the
 * vendor gets its own reasoning back beside the calls that followed it.
 */
import type { ReadInner } from '../../../base/lib/inner-json.ts'
import { asString, isObject } from '../../../base/lib/json.ts'
import type { SignedThinking } from '../messages-over-chat/chat-request.ts'

/** The prefix of content that was sealed here, since that of other vendors cannot be read. */
const PREFIX = 'signed.'

export function sealReasoning(reasoning: SignedThinking): string {
  return PREFIX + Buffer.from(JSON.stringify(reasoning)).toString('base64url')
}

/** Returns undefined for content that was not sealed here. */
export function openReasoning(content: unknown, readInner: ReadInner): SignedThinking | undefined {
  if (typeof content !== 'string' || !content.startsWith(PREFIX)) return undefined
  const sealed = readInner(Buffer.from(content.slice(PREFIX.length), 'base64url').toString())
  if (!isObject(sealed)) return undefined
  const data = asString(sealed.data)
  if (data) return { data }
  const thinking = asString(sealed.thinking)
  const signature = asString(sealed.signature)
  return thinking === undefined || !signature ? undefined : { thinking, signature }
}
