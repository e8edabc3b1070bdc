/** Reads an upstream's answer completely, up to a limit. */
import type { Readable } from 'node:stream'
import { UpstreamFailure } from '../../upstreams/failure.ts'

/**
 * Resolves to the bytes, or to undefined for more than `bytesMax`; the body is destroyed in any
 * case. Rejects with an UpstreamFailure of kind `unknown` if the body breaks off.
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
