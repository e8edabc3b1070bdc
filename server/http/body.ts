/** Reads request bodies within their size limits. Content-Length may only lower a limit. */
import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../lib/errors.ts'

/** JSON media types that clients use; a missing type is treated as JSON as well. */
const JSON_TYPES = /^(application\/([\w.+-]+\+)?json|text\/(plain|json))\s*(;|$)/i

/** Throws 415 for an encoded body, whose decoded size is unknown. */
export function expectIdentity(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    const message = 'send the body without a content encoding'
    throw new GatewayError('unsupported_media', { message })
  }
}

/** Throws 415 for an encoded body or one of another media type than JSON. */
export function expectJson(request: IncomingMessage): void {
  expectIdentity(request)
  const type = request.headers['content-type']
  if (type !== undefined && !JSON_TYPES.test(type)) throw new GatewayError('unsupported_media')
}

/**
 * Reads the whole body. Rejects with 413 as soon as it is known to exceed `limitBytes`, and with
 * 400 if the caller disconnects.
 */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > limitBytes) return Promise.reject(tooLarge(limitBytes))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limitBytes) {
        request.removeAllListeners('data')
        request.pause()
        reject(tooLarge(limitBytes))
        return
      }
      chunks.push(chunk)
    })
    request.on('end', () =>
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)),
    )
    request.on('error', (cause) => reject(brokenOff(cause)))
    request.on('close', () => {
      if (!request.complete) reject(brokenOff(undefined))
    })
  })
}

function tooLarge(limitBytes: number): GatewayError {
  return new GatewayError('too_large', {
    message: `request body is larger than ${limitBytes} bytes`,
  })
}

function brokenOff(cause: unknown): GatewayError {
  return new GatewayError('invalid_request', { message: 'the request body was cut off', cause })
}
