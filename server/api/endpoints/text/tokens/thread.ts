/** The thread that counts tokens: the tokenizer (o200k) takes half a second and 60 MB to load. */
import { parentPort } from 'node:worker_threads'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { countText } from './count-text.ts'
import type { Counted, CountOrder } from './token-counter.ts'

/** Text that looks like a tokenizer's special tokens is counted as ordinary text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() }

parentPort?.on('message', ({ id, text }: CountOrder) => {
  const tokens = countText(text, (piece) => countTokens(piece, AS_TEXT))
  parentPort?.postMessage({ id, tokens } satisfies Counted)
})
