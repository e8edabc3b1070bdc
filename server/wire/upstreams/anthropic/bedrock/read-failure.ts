/** The meaning of AWS's exceptions (docs/protocols/bedrock.md#errors). */
import { asString, member, tryParseJson } from '../../../../base/lib/json.ts'
import { buildMessagesError } from '../../../dialects/messages/error.ts'
import type { RelayReport } from '../../../dialects/relay.ts'
import { refineRejection } from '../../account-refusal.ts'
import {
  classifyStatus,
  type FailureKind,
  readErrorBody,
  readRetryAfter,
  UpstreamFailure,
} from '../../failure.ts'
import type { WireResponse } from '../../wire.ts'

interface Meaning {
  readonly kind: FailureKind
  /** The type of an error of the messages format. */
  readonly type: string
}

/** By the name of the exception in lower case: streams write it in another case than headers. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  validationexception: { kind: 'rejected', type: 'invalid_request_error' },
  conflictexception: { kind: 'rejected', type: 'invalid_request_error' },
  servicequotaexceededexception: { kind: 'channel_fault', type: 'billing_error' },
  accessdeniedexception: { kind: 'channel_fault', type: 'permission_error' },
  unrecognizedclientexception: { kind: 'channel_fault', type: 'authentication_error' },
  invalidsignatureexception: { kind: 'channel_fault', type: 'authentication_error' },
  incompletesignatureexception: { kind: 'channel_fault', type: 'authentication_error' },
  missingauthenticationtokenexception: { kind: 'channel_fault', type: 'authentication_error' },
  expiredtokenexception: { kind: 'channel_fault', type: 'authentication_error' },
  requestexpired: { kind: 'channel_fault', type: 'authentication_error' },
  resourcenotfoundexception: { kind: 'channel_fault', type: 'not_found_error' },
  modeltimeoutexception: { kind: 'unknown', type: 'timeout_error' },
  modelerrorexception: { kind: 'failed', type: 'api_error' },
  modelstreamerrorexception: { kind: 'failed', type: 'api_error' },
  throttlingexception: { kind: 'busy', type: 'rate_limit_error' },
  modelnotreadyexception: { kind: 'busy', type: 'overloaded_error' },
  serviceunavailableexception: { kind: 'busy', type: 'overloaded_error' },
  internalserverexception: { kind: 'failed', type: 'api_error' },
}

/** Returns the error type of the messages format for an exception inside a stream. */
export function typeOfException(name: string): string {
  return MEANINGS[name.toLowerCase()]?.type ?? 'api_error'
}

/** Faults of the route's model id; the vendor's sentences begin so, whatever a caller wrote. */
const NEEDS_PROFILE = /^Invocation of model ID \S{1,300} with on-demand throughput isn/
const NO_SUCH_MODEL = /^The provided model identifier is invalid/
const PER_DAY = /^Too many tokens per day/
const TOO_LONG = /^(?:Input is too long for requested model|prompt is too long)/

/** It comes first: what is kept of a reason is shorter than the vendor's sentence. */
const PROFILE_HINT =
  'set the upstream_model of the route to an inference profile, such as global.anthropic.…: '

export async function readBedrockFailure(
  response: WireResponse,
  value: unknown,
): Promise<UpstreamFailure> {
  const { status, headers } = response
  const document = tryParseJson(await readErrorBody(response))
  const message = asString(member(document, 'message')) ?? asString(member(document, 'Message'))
  const named = asString(headers['x-amzn-errortype'])?.split(':')[0]
  const name = named ?? asString(member(document, '__type'))?.split('#').at(-1)
  const stated = MEANINGS[name?.toLowerCase() ?? '']?.kind ?? classifyStatus(status)
  const retryAfterSeconds = readRetryAfter(headers)
  return describe(refineKind(stated, message, value), { status, message, retryAfterSeconds })
}

function refineKind(kind: FailureKind, message = '', value: unknown): FailureKind {
  if (NEEDS_PROFILE.test(message) || NO_SUCH_MODEL.test(message)) return 'channel_fault'
  if (PER_DAY.test(message)) return 'channel_fault'
  return refineRejection(kind, message, value)
}

interface Stated {
  readonly status: number
  readonly message: string | undefined
  readonly retryAfterSeconds?: number | undefined
}

function describe(kind: FailureKind, { message, ...stated }: Stated): UpstreamFailure {
  const hint = NEEDS_PROFILE.test(message ?? '') ? PROFILE_HINT : ''
  if (kind !== 'rejected') {
    return new UpstreamFailure(kind, { ...stated, message: message && hint + message })
  }
  const isTooLong = TOO_LONG.test(message ?? '')
  const error = { type: 'invalid_request_error', message: message ?? 'the vendor refused it' }
  return new UpstreamFailure(kind, {
    ...stated,
    message,
    ...(isTooLong ? { code: 'context_length_exceeded' } : {}),
    // AWS's own form of errors is none that clients of messages read.
    answer: {
      contentType: 'application/json',
      body: Buffer.from(JSON.stringify(buildMessagesError(error))),
    },
  })
}

const KINDS_BY_TYPE: ReadonlyMap<string, FailureKind> = new Map(
  Object.values(MEANINGS).map(({ kind, type }) => [type, kind]),
)

/** An exception before the first event is what the status would have said. */
export function refuseByException({ error }: RelayReport): UpstreamFailure | undefined {
  if (!error) return undefined
  const { type, message } = error
  const status = type === 'rate_limit_error' ? 429 : 200
  return describe(KINDS_BY_TYPE.get(type) ?? 'failed', { status, message })
}
