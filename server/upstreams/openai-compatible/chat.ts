/** Chat completions, same dialect at both ends: the model is replaced, all else passes. */
import { expectWhole } from '../../dialects/chat/expect-body.ts'
import { readChatBody } from '../../dialects/chat/read-body.ts'
import { createChatRelay } from '../../dialects/chat/relay.ts'
import type { RelayReport } from '../../dialects/relay.ts'
import { spliceJson } from '../../dialects/splice.ts'
import { createBodyTap } from '../../dialects/tap.ts'
import { member } from '../../lib/json.ts'
import { UpstreamFailure } from '../failure.ts'
import type { CallRequest, UpstreamAnswer, UpstreamCall } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { readCompatibleFailure } from './read-failure.ts'
import { readChatUsageOptions } from './read-usage-options.ts'
import { buildCompatibleRequest } from './request.ts'
import type { OpenaiCompatibleSettings } from './settings.ts'

export async function chat(
  wire: Wire,
  { settings, upstreamModel, request }: UpstreamCall<OpenaiCompatibleSettings>,
): Promise<UpstreamAnswer> {
  const body = prepareBody(request, upstreamModel)
  const response = await wire.send(
    buildCompatibleRequest(settings, '/chat/completions', body, request.stream),
  )
  if (response.status >= 400) throw await readCompatibleFailure(response, request.value)
  const usage = readChatUsageOptions(request.value, upstreamModel)
  const relay = request.stream
    ? createChatRelay({
        usage,
        includeUsage: wantsUsage(request),
        legacyFunctions: request.value.functions !== undefined,
      })
    : expectWhole(
        createBodyTap((document) => readChatBody(document, usage)),
        usage,
      )
  return {
    status: 200,
    headers: chatAnswerHeaders(request.stream),
    body: response.body,
    relay,
    stream: request.stream,
    stopsOnCancel: settings.stops_on_cancel,
    refusal: chatRefusal,
  }
}

/** Requests usage for each stream: without it only an estimate could be charged. */
function prepareBody(request: CallRequest, upstreamModel: string): Buffer {
  const set = { model: JSON.stringify(upstreamModel) }
  if (!request.stream) return spliceJson(request.body, request.fields, { set })
  const setInside = { stream_options: { include_usage: 'true' } }
  return spliceJson(request.body, request.fields, { set, setInside })
}

function wantsUsage(request: CallRequest): boolean {
  return member(member(request.value, 'stream_options'), 'include_usage') === true
}

export function chatAnswerHeaders(stream: boolean): Record<string, string> {
  if (!stream) return { 'content-type': 'application/json' }
  return { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
}

/** Returns the failure for an error in place of a first chunk or of an answer, under status 200. */
export function chatRefusal(report: RelayReport): UpstreamFailure | undefined {
  if (!report.error) return undefined
  const { message, code } = report.error
  return new UpstreamFailure('failed', { status: 200, message, ...(code ? { code } : {}) })
}
