/**
 * The client of the admin API. Types come from the server's contract and add nothing to the bundle:
 * a route is named by its key, `'GET /accounts/:account_id/balance'`.
 */
import type { AdminAnswer, AdminKey, AdminRequest } from '../../../server/api/admin/contract.ts'
import { ApiError, readError, readSuccess, unanswered, unreachable } from './api-error.ts'
import { noteStatus } from './connection.ts'
import { askForStepUp } from './step-up.ts'

export type { AdminAnswer, AdminKey } from '../../../server/api/admin/contract.ts'
export { ApiError } from './api-error.ts'

const BASE = '/admin/v1'
/** Longer than the gateway, its database and a vendor's list of models take. */
const READ_MS_MAX = 30_000

/** Members may be omitted if the route lacks them or if all their fields are optional. */
type OptionalMembers<Request> = {
  [Name in keyof Request]: undefined extends Request[Name]
    ? Name
    : Record<never, never> extends Request[Name]
      ? Name
      : never
}[keyof Request]

type Loose<Request> = Omit<Request, OptionalMembers<Request>> &
  Partial<Pick<Request, OptionalMembers<Request>>>

export type RequestOf<Key extends AdminKey> = Loose<AdminRequest<Key>> & {
  /** Creates only: refused if the name is in use. */
  readonly isNew?: boolean
  /** Changes only what still has this revision: refused if somebody else has changed it. */
  readonly revision?: string | undefined
}

/**
 * Calls a route. Throws ApiError. If the server requires the user to verify again, shows the
 * dialog and repeats the call.
 */
export async function callAdmin<Key extends AdminKey>(
  key: Key,
  request: RequestOf<Key>,
  signal?: AbortSignal,
): Promise<AdminAnswer<Key>> {
  const send = () => sendRequest(key, request, signal)
  try {
    return (await send()) as AdminAnswer<Key>
  } catch (error) {
    const isStepUp = error instanceof ApiError && error.type === 'step_up_required'
    if (!isStepUp || !(await askForStepUp())) throw error
    return (await send()) as AdminAnswer<Key>
  }
}

/** Uploads a form with a file; the browser sets the content type. Throws ApiError. */
export async function sendForm<Key extends AdminKey>(
  key: Key,
  params: AdminRequest<Key>['params'],
  form: FormData,
): Promise<AdminAnswer<Key>> {
  return (await sendRequest(key, { params, body: form })) as AdminAnswer<Key>
}

interface AnyRequest {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
  readonly isNew?: boolean
  readonly revision?: string | undefined
}

async function sendRequest(
  key: string,
  request: AnyRequest,
  signal?: AbortSignal,
): Promise<unknown> {
  const [method = 'GET'] = key.split(' ')
  const { body } = request
  const isJson = body !== undefined && !(body instanceof FormData)
  const init = {
    method,
    credentials: 'same-origin' as const,
    headers: {
      'x-tributary-console': '1',
      ...(isJson ? { 'content-type': 'application/json' } : {}),
      ...(request.isNew ? { 'if-none-match': '*' } : {}),
      ...(request.revision === undefined ? {} : { 'if-match': `"${request.revision}"` }),
    },
    ...(isJson ? { body: JSON.stringify(body) } : {}),
    ...(body instanceof FormData ? { body } : {}),
  }
  const response = await fetchInTime(adminUrl(key, request), init, signal)
  noteStatus(response.status)
  if (!response.ok) throw await readError(response)
  if (response.status === 204) return undefined
  return readSuccess(response, signal)
}

/** Gives up a read whose answer does not begin in time; a change may take as long as it needs. */
async function fetchInTime(url: string, init: RequestInit, signal?: AbortSignal) {
  const limit = new AbortController()
  const giveUp = () => limit.abort()
  const timer = init.method === 'GET' ? setTimeout(giveUp, READ_MS_MAX) : undefined
  signal?.addEventListener('abort', giveUp)
  try {
    return await fetch(url, { ...init, signal: limit.signal })
  } catch (error) {
    if (signal?.aborted) throw error
    if (limit.signal.aborted) throw unanswered(READ_MS_MAX)
    noteStatus(0)
    throw unreachable()
  } finally {
    clearTimeout(timer)
  }
}

/** Returns the URL of a route, for downloads and event streams. */
export function adminUrl(key: string, { params = {}, query = {} }: AnyRequest): string {
  const [, path = ''] = key.split(' ')
  const filled = path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue
    search.set(name, value instanceof Date ? value.toISOString() : String(value))
  }
  return `${BASE}${filled}${search.size > 0 ? `?${search}` : ''}`
}
