/** Feeds one body to a stream consumer at every chunking that has ever broken a decoder. */
import type { Relay } from '../../server/wire/dialects/relay.ts'

/** Whole, byte by byte, in threes, and in two parts at every offset (long bodies: at samples). */
export function* chunkings(body: Buffer): Generator<{ name: string; chunks: Buffer[] }> {
  yield { name: 'whole', chunks: [body] }
  for (const size of [1, 3]) yield { name: `${size}-byte chunks`, chunks: cut(body, size) }
  const step = Math.max(1, Math.ceil(body.length / 200))
  for (let at = 1; at < body.length; at += step) {
    yield { name: `split at ${at}`, chunks: [body.subarray(0, at), body.subarray(at)] }
  }
}

function cut(body: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < body.length; at += size) chunks.push(body.subarray(at, at + size))
  return chunks
}

/** Cuts a body into pieces of these sizes, and the rest. */
export function cutAt(body: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = []
  let at = 0
  for (const size of sizes) {
    chunks.push(body.subarray(at, at + size))
    at += size
  }
  return [...chunks, body.subarray(at)]
}

/** All bytes a relay gives for these chunks, including its ending. */
export function run(relay: Relay, chunks: readonly Buffer[]): string {
  const out: Buffer[] = []
  for (const chunk of chunks) out.push(relay.push(chunk) ?? Buffer.alloc(0))
  out.push(relay.end() ?? Buffer.alloc(0))
  return Buffer.concat(out).toString('utf8')
}
