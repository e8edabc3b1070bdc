/** Reads request bodies within their size limits. Content-Length may only lower a limit. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { GatewayError } from '../lib/errors.ts'
import { bodyCutOff, bodyTooLarge, openContent } from './decode-content.ts'

/** JSON media types that clients use; a missing type is treated as JSON as well. */
const JSON_TYPES = /^(application\/([\w.+-]+\+)?json|text\/(plain|json))\s*(;|$)/i

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/** Throws 415 for a body of another media type than JSON. */
export function expectJson({ headers }: IncomingMessage): void {
  const type = headers['content-type']
  if (type !== undefined && !JSON_TYPES.test(type)) throw new GatewayError('unsupported_media')
}

/**
 * Reads the whole body, decoded. Rejects with 413 as soon as it is known to exceed `limitBytes`,
 * with 400 if it is cut off or cannot be decoded, and with 415 for another encoding.
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return await collect(openContent(request, limitBytes), limitBytes)
}

/** Reads a body of JSON, without its byte order mark. Rejects as `readBody` does. */
export async function readJsonBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  expectJson(request)
  const body = await collect(openContent(request, limitBytes), limitBytes)
  const isMarked = BYTE_ORDER_MARK.every((byte, index) => body[index] === byte)
  return isMarked ? body.subarray(BYTE_ORDER_MARK.length) : body
}

function collect(content: Readable, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    content.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limitBytes) {
        content.removeAllListeners('data')
        content.pause()
        reject(bodyTooLarge(limitBytes))
        return
      }
      chunks.push(chunk)
    })
    content.on('end', () =>
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)),
    )
    content.on('error', (cause) =>
      reject(cause instanceof GatewayError ? cause : bodyCutOff(cause)),
    )
    content.on('close', () => {
      // An error costs microseconds, and every body is closed in the end.
      if (!content.readableEnded) reject(bodyCutOff())
    })
  })
}
