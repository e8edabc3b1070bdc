/** The errors of the gateway's answers, and of answers that are not the gateway's. */

/** A field that the server refused, and why. */
interface FieldFault {
  readonly param: string
  readonly problem: string
}

interface ErrorParts {
  readonly requestId?: string | undefined
  readonly param?: string | undefined
  readonly problems?: readonly FieldFault[]
}

/** A response with an error status, or no response (`status` 0). */
export class ApiError extends Error {
  readonly status: number
  readonly type: string
  /** Request id to quote in a support request. */
  readonly requestId: string | undefined
  /** The invalid field, for example `prices[0].amount`. */
  readonly param: string | undefined
  /** All invalid fields, where the server names more than one. */
  readonly problems: readonly FieldFault[]

  constructor(
    status: number,
    type: string,
    message: string,
    { requestId, param, problems = [] }: ErrorParts = {},
  ) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.type = type
    this.requestId = requestId
    this.param = param
    this.problems = problems
  }
}

/** The error of a request without an answer. */
export function unreachable(): ApiError {
  return new ApiError(0, 'unreachable', 'the gateway cannot be reached')
}

/** The error of a read that was given up. Its status says that asking once more did not help. */
export function unanswered(milliseconds: number): ApiError {
  const message = `the gateway has not answered for ${milliseconds / 1000} seconds`
  return new ApiError(408, 'unanswered', message)
}

/** Words an answer that is not of the gateway's making; over HTTP/2 its status has no text. */
export function foreignAnswer(status: number): string {
  return `a proxy answered instead of the gateway, with status ${status}`
}

/** Reads the body of a success. Throws ApiError for one that is cut off or not the gateway's. */
export async function readSuccess(response: Response, signal?: AbortSignal): Promise<unknown> {
  return response.json().catch((error: unknown) => {
    if (signal?.aborted) throw error
    if (!(error instanceof SyntaxError)) throw unreachable()
    throw new ApiError(response.status, 'server_error', foreignAnswer(response.status))
  })
}

export async function readError(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined)
  const { error, type, param, problems } = isRecord(body) ? body : {}
  return new ApiError(
    response.status,
    typeof type === 'string' ? type : 'server_error',
    typeof error === 'string' ? error : foreignAnswer(response.status),
    {
      requestId: response.headers.get('x-request-id') ?? undefined,
      param: typeof param === 'string' ? param : undefined,
      problems: Array.isArray(problems) ? problems.filter(isFault) : [],
    },
  )
}

function isFault(value: unknown): value is FieldFault {
  return isRecord(value) && typeof value.param === 'string' && typeof value.problem === 'string'
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
