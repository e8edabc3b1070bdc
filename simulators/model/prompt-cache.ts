// The prompt cache of a vendor's account: each account (key) has its own, as with real vendors.
import { createHash } from 'node:crypto'
import type { Exchange, Vendor } from '../kernel/exchange.ts'
import type { Script } from '../kernel/script.ts'
import { type Conversation, inputText } from './conversation.ts'

/** Models whose input is read from a cache. Others have the figures of the directives alone. */
const CACHING = /^sim-caching/
/** The length of the blocks in which a beginning is compared. */
const BLOCK_TOKENS = 64
const BLOCK_BYTES = BLOCK_TOKENS * 4

const caches = new WeakMap<Vendor, Set<string>>()

/** Returns the script with the number of leading tokens shared with an earlier prompt. */
export function withPromptCache(
  { vendor, request, script }: Exchange,
  model: string,
  conversation: Conversation,
): Script {
  if (!CACHING.test(model)) return script
  let known = caches.get(vendor)
  if (!known) {
    known = new Set()
    caches.set(vendor, known)
  }
  const account = request.headers['x-api-key'] ?? request.headers.authorization
  const text = Buffer.from(inputText(conversation.turns))
  const beginning = createHash('sha256').update(`${model}\n${account}\n`)
  let blocks = 0
  let isCached = true
  for (let at = 0; at + BLOCK_BYTES <= text.length; at += BLOCK_BYTES) {
    const id = beginning
      .update(text.subarray(at, at + BLOCK_BYTES))
      .copy()
      .digest('base64')
    isCached &&= known.has(id)
    if (isCached) blocks += 1
    known.add(id)
  }
  return { ...script, cached: blocks * BLOCK_TOKENS }
}
