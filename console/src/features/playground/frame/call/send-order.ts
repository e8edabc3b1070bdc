/** Sends an order to the public API and reads its errors. */
import { ApiError, foreignAnswer, unreachable } from '../../../../lib/api-error.ts'
import { addressOf, type PlaygroundRequest } from '../order.ts'

/** Throws ApiError if the gateway is unreachable; an error status is returned as a response. */
export async function sendOrder(
  order: PlaygroundRequest,
  key: string,
  signal: AbortSignal,
): Promise<Response> {
  const { file, body, headers } = order
  const type: Record<string, string> = file ? {} : { 'content-type': 'application/json' }
  try {
    return await fetch(addressOf(order), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...type, ...headers },
      body: file ? formOf(order) : JSON.stringify(body),
      credentials: 'omit',
      signal,
    })
  } catch (error) {
    if (signal.aborted) throw error
    throw unreachable()
  }
}

function formOf({ body, file }: PlaygroundRequest): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) form.set(name, String(value))
  if (file) form.set('file', file.content, file.name)
  return form
}

/** Reads both error envelopes: `{error: {message}}` and `{error: text}`. */
export async function readApiError(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined)
  const apiError = readError(body)
  const requestId = response.headers.get('x-request-id') ?? undefined
  const message = apiError?.message ?? foreignAnswer(response.status)
  return new ApiError(response.status, apiError?.type ?? 'refused', message, { requestId })
}

/** Reads an error inside an answer or an event of a stream. */
function readError(
  document: unknown,
): { readonly message: string; readonly type: string } | undefined {
  if (typeof document !== 'object' || document === null || !('error' in document)) return undefined
  const { error } = document
  const outer = 'type' in document ? String(document.type) : 'error'
  if (typeof error === 'string') return { message: error, type: outer }
  if (typeof error !== 'object' || error === null || !('message' in error)) return undefined
  return { message: String(error.message), type: 'type' in error ? String(error.type) : outer }
}

const BROKEN_OFF = 502

/** Throws for an event that states that the answer broke off. */
export function expectNoError(document: unknown): void {
  const apiError = readError(document)
  if (apiError) throw new ApiError(BROKEN_OFF, apiError.type, apiError.message)
}
