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

export interface UploadForm {
  /** Complete once the whole form has arrived: fields may follow the file. */
  readonly fields: ReadonlyMap<string, string>
  /** Resolves once the whole form has arrived; rejects with the reason why it is refused. */
  readonly whole: Promise<void>
}

export interface UploadHandlers<T> {
  /**
   * Receives the part `file` as soon as it begins; must read the content to its end, and keep
   * nothing of it if the content fails or the form is refused.
   */
  readonly take: (filename: string, content: Readable, form: UploadForm) => Promise<T>
}

/**
 * `content` is the request's body, decoded. Rejects with GatewayError: 415 for another content
 * type, 400 without a file, or the error of the content.
 */
export async function readUpload<T>(
  request: IncomingMessage,
  content: Readable,
  { take }: UploadHandlers<T>,
): Promise<T> {
  const type = request.headers['content-type'] ?? ''
  if (!/^multipart\/form-data\s*;/i.test(type)) {
    const message = 'send the file as multipart/form-data'
    throw new GatewayError('unsupported_media', { message })
  }
  const parser = openParser(request)
  return new Promise((resolve, reject) => {
    const fields = new Map<string, string>()
    const whole = Promise.withResolvers<void>()
    whole.promise.catch(() => undefined)
    let taking: Promise<T> | undefined
    let isRefused = false
    const refuse = (error: unknown) => {
      if (isRefused) return
      isRefused = true
      content.unpipe(parser)
      content.resume()
      // The parser reports some errors and reads on: destroyed, it ends the file that it emitted.
      parser.destroy()
      whole.reject(error)
      reject(error)
    }
    parser.on('field', (name, value, { valueTruncated }) => {
      const earlier = fields.get(name)
      // The parser's types do not say that the name may be absent.
      if (!name) refuse(invalid('a part of the form has no name'))
      else if (valueTruncated) refuse(name === 'file' ? fileAsText() : tooLong(name))
      else if (earlier === undefined) fields.set(name, value)
      else if (name.endsWith('[]')) fields.set(name, `${earlier},${value}`)
      else refuse(invalidField(name, 'given more than once'))
    })
    parser.on('fieldsLimit', () => {
      refuse(invalid(`the form has more than ${LIMITS.fields} fields`))
    })
    parser.on('filesLimit', () => refuse(invalid('the form has more than one file')))
    parser.on('file', (name, file, { filename }) => {
      file.on('error', () => undefined)
      // After `destroy` the parser still emits files from its buffer, whose streams never end.
      if (name !== 'file' || taking || isRefused) {
        file.resume()
        return
      }
      taking = take(cleanName(filename), file, { fields, whole: whole.promise })
      taking.catch(refuse)
    })
    parser.on('error', (cause) => refuse(invalid('the upload is not well formed', cause)))
    // A request that has completely arrived may close before its end has been read.
    const onRequestClose = () => {
      if (!request.readableEnded) refuse(invalid('the upload broke off'))
    }
    parser.on('close', () => {
      // The request may stay open long after its upload; do not let it retain the parser.
      request.off('close', onRequestClose)
      if (!taking) refuse(fields.has('file') ? fileAsText() : invalid('file is required'))
      if (isRefused) return
      whole.resolve()
      taking?.then(resolve, reject)
    })
    request.on('close', onRequestClose)
    if (content !== request) content.on('error', refuse)
    content.pipe(parser)
  })
}

function openParser({ headers }: IncomingMessage) {
  try {
    return busboy({ headers, limits: LIMITS, defParamCharset: 'utf8' })
  } catch (cause) {
    throw invalid('the upload is not well formed', cause)
  }
}

/** Returns the last path segment without characters that are unsafe in headers or paths. */
function cleanName(filename: string | undefined): string {
  const last = (filename ?? '').split(/[/\\]/).at(-1) ?? ''
  // Cut first, so that no half of a surrogate pair remains, which a URL cannot contain.
  const plain = last.slice(0, FILENAME_MAX).replaceAll(/[^\p{L}\p{N} ._()-]/gu, '_')
  return plain.trim() === '' ? 'file' : plain
}

function fileAsText(): GatewayError {
  return invalidField('file', 'is a text: send it as a file, with a filename')
}

function tooLong(name: string): GatewayError {
  return invalidField(name, `longer than ${LIMITS.fieldSize} bytes`)
}

function invalid(message: string, cause?: unknown): GatewayError {
  return new GatewayError('invalid_request', { message, param: 'file', cause })
}
