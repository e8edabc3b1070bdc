/**
 * Reads one file and a few fields of a multipart upload while it arrives. Repeated list fields
 * (`name[]`) are joined with commas.
 */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import busboy from 'busboy'
import { GatewayError, invalidField } from '../../../base/lib/errors.ts'

const LIMITS = { files: 1, fields: 20, parts: 40, fieldSize: 8 * 1024 }
const FILENAME_MAX = 200

export interface UploadHandlers<T> {
  /** Receives the part `file` as soon as it begins; must read the content to its end. */
  readonly take: (
    filename: string,
    content: Readable,
    fields: ReadonlyMap<string, string>,
  ) => Promise<T>
}

/**
 * `content` is the request's body, decoded. Rejects with GatewayError: 415 for another content
 * type, 400 without a file, or the error of the content.
 */
export function readUpload<T>(
  request: IncomingMessage,
  content: Readable,
  { take }: UploadHandlers<T>,
): Promise<T> {
  const type = request.headers['content-type'] ?? ''
  if (!/^multipart\/form-data\s*;/i.test(type)) {
    const message = 'send the file as multipart/form-data'
    return Promise.reject(new GatewayError('unsupported_media', { message }))
  }
  return new Promise((resolve, reject) => {
    const fields = new Map<string, string>()
    let taking: Promise<T> | undefined
    const fail = (error: unknown) => {
      content.unpipe(parser)
      content.resume()
      reject(error)
    }
    const parser = openParser(request, fail)
    if (!parser) return
    let isRefused = false
    const refuse = (error: GatewayError) => {
      isRefused = true
      parser.destroy(error)
    }
    parser.on('field', (name, value, { valueTruncated }) => {
      const earlier = fields.get(name)
      // The parser's types do not say that the name may be absent.
      if (!name) refuse(invalid('a part of the form has no name'))
      else if (valueTruncated) refuse(invalidField(name, `longer than ${LIMITS.fieldSize} bytes`))
      else if (earlier === undefined) fields.set(name, value)
      else if (name.endsWith('[]')) fields.set(name, `${earlier},${value}`)
      else refuse(invalidField(name, 'given more than once'))
    })
    parser.on('fieldsLimit', () => {
      refuse(invalid(`the form has more than ${LIMITS.fields} fields`))
    })
    parser.on('filesLimit', () => refuse(invalid('the form has more than one file')))
    parser.on('file', (name, file, { filename }) => {
      // After `destroy` the parser still emits files from its buffer, whose streams never end.
      if (name !== 'file' || taking || isRefused) {
        file.resume()
        return
      }
      file.on('error', () => undefined)
      taking = take(cleanName(filename), file, fields)
      taking.catch(fail)
    })
    parser.on('error', (cause) => {
      fail(cause instanceof GatewayError ? cause : invalid('the upload is not well formed', cause))
    })
    const onRequestClose = () => {
      if (!request.complete) parser.destroy(new Error('the request broke off'))
    }
    parser.on('close', () => {
      // The request may stay open long after its upload; do not let it retain the parser.
      request.off('close', onRequestClose)
      if (taking) taking.then(resolve, reject)
      else reject(fields.has('file') ? fileAsText() : invalid('file is required'))
    })
    request.on('close', onRequestClose)
    if (content !== request) {
      content.on('error', (error) => {
        fail(error)
        parser.destroy()
      })
    }
    content.pipe(parser)
  })
}

function openParser(request: IncomingMessage, fail: (error: unknown) => void) {
  try {
    return busboy({ headers: request.headers, limits: LIMITS, defParamCharset: 'utf8' })
  } catch (cause) {
    fail(invalid('the upload is not well formed', cause))
    return undefined
  }
}

/** Returns the last path segment without characters that are unsafe in headers or paths. */
function cleanName(filename: string | undefined): string {
  const last = (filename ?? '').split(/[/\\]/).at(-1) ?? ''
  const plain = last.replaceAll(/[^\p{L}\p{N} ._()-]/gu, '_').slice(0, FILENAME_MAX)
  return plain.trim() === '' ? 'file' : plain
}

function fileAsText(): GatewayError {
  return invalidField('file', 'is a text: send it as a file, with a filename')
}

function invalid(message: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', { message, param: 'file', cause })
}
