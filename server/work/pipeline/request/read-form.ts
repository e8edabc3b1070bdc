/** Reads a multipart form with small files, whole and in memory. */
import type { IncomingMessage } from 'node:http'
import type { Writable } from 'node:stream'
import busboy from 'busboy'
import { readBody } from '../../../base/http/body.ts'
import { accountOf, type Context } from '../../../base/http/context.ts'
import { GatewayError, invalidField } from '../../../base/lib/errors.ts'
import type { MemoryFile, MemoryForm } from '../metering.ts'

const LIMITS = { files: 20, fields: 50, parts: 70, fieldSize: 256 * 1024 }

const PIECE_BYTES = 1024 * 1024

const NAMELESS = 'a part of the form has no name'

export function isForm({ headers }: IncomingMessage): boolean {
  return /^multipart\/form-data\b/i.test(headers['content-type'] ?? '')
}

/** Rejects with GatewayError: 400, 413, 415, 429 or 503. */
export async function readForm(context: Context, limitBytes: number): Promise<MemoryForm> {
  const { request } = context
  if (!/boundary=/i.test(request.headers['content-type'] ?? '')) {
    throw new GatewayError('unsupported_media', {
      message: 'Content-Type of the form names no boundary',
    })
  }
  const body = await readBody(context, limitBytes)
  return new Promise((resolve, reject) => {
    const fields = new Map<string, string[]>()
    const files: MemoryFile[] = []
    const fail = (error: GatewayError) => {
      reject(error)
      parser?.destroy()
    }
    const parser = openParser(request, reject)
    if (!parser) return
    parser.on('field', (name, value, { valueTruncated }) => {
      // The parser's types do not say that the name may be absent.
      if (!name) fail(malformed(NAMELESS))
      else if (valueTruncated) fail(invalidField(name, `longer than ${LIMITS.fieldSize} bytes`))
      // Clients send an empty field for a value that is not set.
      else if (value !== '') fields.set(name, [...(fields.get(name) ?? []), value])
    })
    parser.on('file', (name, stream) => {
      if (!name) fail(malformed(NAMELESS))
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => files.push({ name, content: Buffer.concat(chunks) }))
      stream.on('error', () => undefined)
    })
    for (const event of ['fieldsLimit', 'filesLimit', 'partsLimit'] as const) {
      parser.on(event, () => fail(malformed('the form has too many parts')))
    }
    parser.on('error', (cause) => reject(malformed('the form is not well formed', cause)))
    parser.on('close', () => resolve({ fields, files }))
    const { loop } = context.memory
    pushInTurns(parser, body, () => loop.turn(accountOf(context))).catch(reject)
  })
}

/** Each megabyte takes the parser up to 6 ms. */
async function pushInTurns(parser: Writable, body: Buffer, pause: () => Promise<void>) {
  for (let at = 0; at < body.length && !parser.destroyed; at += PIECE_BYTES) {
    if (at > 0) await pause()
    parser.write(body.subarray(at, at + PIECE_BYTES))
  }
  if (!parser.destroyed) parser.end()
}

function openParser({ headers }: IncomingMessage, fail: (error: GatewayError) => void) {
  try {
    return busboy({ headers, limits: LIMITS, defParamCharset: 'utf8' })
  } catch (cause) {
    fail(malformed('the form is not well formed', cause))
    return undefined
  }
}

function malformed(message: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', { message, cause })
}
