/** An upstream's answer read whole, as long as it is not too large to be held in memory. */
import type { Readable } from 'node:stream'
import { UpstreamFailure } from '../../upstreams/failure.ts'

/**
 * Resolves with the bytes, or with undefined when there are more than `bytesMax`: then the body is
 * destroyed. Throws `unknown` for a body that breaks off.
 */
export async function readAtMost(body: Readable, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > bytesMax) return undefined
      chunks.push(chunk)
    }
  } catch (cause) {
    throw new UpstreamFailure('unknown', { cause, message: 'the answer broke off' })
  } finally {
    body.destroy()
  }
  return Buffer.concat(chunks)
}
