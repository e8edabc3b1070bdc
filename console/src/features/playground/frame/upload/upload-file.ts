/** Uploads through POST /v1/files and reports progress, which fetch cannot. */
import { unreachable } from '../../../../lib/api-error.ts'
import { readApiError } from '../call/send-order.ts'
import type { WithKey } from '../call/use-key.tsx'

export interface UploadedFile {
  readonly url: string
  readonly filename: string
  readonly bytes: number
}

interface UploadOptions {
  readonly withKey: WithKey
  readonly signal: AbortSignal
  /** From 0 to 1. */
  readonly onShare: (share: number) => void
}

/** Playground uploads need not be kept for a month. */
const LIFE_SECONDS = 86_400

/** Resolves with the stored file. Throws ApiError. */
export async function sendFile(file: File, options: UploadOptions): Promise<UploadedFile> {
  const { withKey, signal, onShare } = options
  const response = await withKey((key) => send(file, key, signal, onShare))
  if (!response.ok) throw await readApiError(response)
  return response.json()
}

function send(
  file: File,
  key: string,
  signal: AbortSignal,
  onShare: (share: number) => void,
): Promise<Response> {
  const form = new FormData()
  form.set('expires_after[seconds]', String(LIFE_SECONDS))
  form.set('file', file, file.name)
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const fail = () => reject(unreachable())
    request.upload.addEventListener('progress', ({ loaded, total }) => onShare(loaded / total))
    request.addEventListener('load', () => resolve(toResponse(request)))
    request.addEventListener('error', fail)
    request.addEventListener('abort', fail)
    signal.addEventListener('abort', () => request.abort(), { once: true })
    request.open('POST', '/v1/files')
    request.setRequestHeader('authorization', `Bearer ${key}`)
    request.send(form)
  })
}

function toResponse(request: XMLHttpRequest): Response {
  const id = request.getResponseHeader('x-request-id')
  return new Response(request.responseText, {
    status: request.status,
    headers: id ? { 'x-request-id': id } : {},
  })
}
