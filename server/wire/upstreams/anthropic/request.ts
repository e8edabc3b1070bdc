/** Requests to a messages-native vendor, and its errors (docs/protocols/anthropic.md#errors). */
import type { IncomingHttpHeaders } from 'node:http'
import { asString, member, tryParseJson } from '../../../base/lib/json.ts'
import { joinUrl } from '../../../base/lib/text/base-url.ts'
import { refineRejection } from '../account-refusal.ts'
import {
  classifyStatus,
  type FailureKind,
  readErrorBody,
  readRetryAfter,
  UpstreamFailure,
} from '../failure.ts'
import { keyHeader } from '../key-header.ts'
import type { Wire, WireResponse } from '../wire.ts'
import { nameBetas, readBetas } from './betas.ts'
import type { MessagesHost } from './host.ts'
import type { AnthropicSettings } from './settings.ts'

/** Headers of the caller's client that are forwarded to a native vendor. */
const FORWARDED = /^(user-agent|x-stainless-[a-z-]+)$/

/** The vendor's own API, or one that is built like it. */
export const anthropicHost: MessagesHost<AnthropicSettings> = {
  async send(wire, { settings, request, body }) {
    const betas = readBetas(request.headers['anthropic-beta'], settings.betas)
    const response = await wire.send({
      method: 'POST',
      url: joinUrl(settings.base_url, '/v1/messages'),
      headers: {
        ...forwardClient(request.headers),
        ...(betas.forwarded === undefined ? {} : { 'anthropic-beta': betas.forwarded }),
        ...keyHeader(settings),
        'anthropic-version': settings.anthropic_version,
        'content-type': 'application/json',
        accept: request.stream ? 'text/event-stream' : 'application/json',
      },
      body,
    })
    if (response.status >= 400) throw await readMessagesFailure(response, request.value)
    return { response, ignored: nameBetas(betas) }
  },
  refusal({ error }) {
    if (!error) return undefined
    const kind = error.type === 'overloaded_error' ? 'busy' : 'failed'
    return new UpstreamFailure(kind, { status: 200, message: error.message })
  },
}

export function forwardClient(headers: IncomingHttpHeaders): Record<string, string> {
  const forwarded = Object.entries(headers).flatMap(([name, value]) =>
    FORWARDED.test(name) && typeof value === 'string' ? [[name, value] as const] : [],
  )
  return Object.fromEntries(forwarded)
}

/** A conversation beyond the model's window, which callers of other dialects know by a code. */
const TOO_LONG = /prompt is too long|exceeds? (?:the )?context (?:limit|window)/i

/** `value` is the request, whose own words do not classify the answer. */
async function readMessagesFailure(
  response: WireResponse,
  value: unknown,
): Promise<UpstreamFailure> {
  const body = await readErrorBody(response)
  const error = member(tryParseJson(body), 'error')
  const message = asString(member(error, 'message'))
  const type = asString(member(error, 'type'))
  const retryAfterSeconds = readRetryAfter(response.headers)
  const contentType = asString(response.headers['content-type']) ?? 'application/json'
  const kind = refineRejection(kindOf(response.status, type), message, value)
  const isTooLong = kind === 'rejected' && TOO_LONG.test(message ?? '')
  return new UpstreamFailure(kind, {
    status: response.status,
    answer: { contentType, body },
    message,
    ...(isTooLong ? { code: 'context_length_exceeded' } : {}),
    retryAfterSeconds,
  })
}

/** A `billing_error` is about the channel's account, whatever its status. */
function kindOf(status: number, type: string | undefined): FailureKind {
  if (type === 'billing_error') return 'channel_fault'
  if (type === 'overloaded_error' || type === 'rate_limit_error') return 'busy'
  return classifyStatus(status)
}

/** Lists models of the account, 1000 at most (https://docs.anthropic.com/en/api/models-list). */
export function listVendorModels(
  wire: Wire,
  settings: AnthropicSettings,
  limit: number,
): Promise<WireResponse> {
  return wire.send({
    method: 'GET',
    url: joinUrl(settings.base_url, `/v1/models?limit=${limit}`),
    headers: { ...keyHeader(settings), 'anthropic-version': settings.anthropic_version },
  })
}
