/**
 * Chat completions, same dialect at both ends: the model is replaced, and the name of the output
 * limit where the channel wants the other one; all else passes.
 */

import { member } from '../../../base/lib/json.ts'
import { expectWhole } from '../../dialects/chat/expect-body.ts'
import { readChatBody } from '../../dialects/chat/read-body.ts'
import { createChatRelay } from '../../dialects/chat/relay.ts'
import { createLargeBodyTap } from '../../dialects/tap.ts'
import type { CallRequest, UpstreamAnswer } from '../upstream.ts'
import type { Wire } from '../wire.ts'
import { answerCall, type Call, sendBody } from './forward.ts'
import { readChatUsageOptions } from './read-usage-options.ts'

export async function chat(wire: Wire, call: Call): Promise<UpstreamAnswer> {
  const { request, upstreamModel, settings } = call
  const { stream } = request
  const response = await sendBody(wire, call, '/chat/completions', stream, {
    setInside: stream ? USAGE : undefined,
    rename: RENAMED[settings.quirks.max_tokens_field ?? 'none'],
  })
  const usage = readChatUsageOptions(request.value, upstreamModel)
  const relay = stream
    ? createChatRelay({
        usage,
        includeUsage: wantsUsage(request),
        legacyFunctions: request.value.functions !== undefined,
      })
    : expectWhole(
        createLargeBodyTap((document) => readChatBody(document, usage)),
        usage,
      )
  return answerCall(call, response, relay, stream)
}

/** Requested for each stream: without usage only an estimate could be charged. */
const USAGE = { stream_options: { include_usage: 'true' } }

/** The other name of the output limit, by the one that the channel wants. */
const RENAMED = {
  max_tokens: { max_completion_tokens: 'max_tokens' },
  max_completion_tokens: { max_tokens: 'max_completion_tokens' },
  none: undefined,
} as const

function wantsUsage(request: CallRequest): boolean {
  return member(member(request.value, 'stream_options'), 'include_usage') === true
}
