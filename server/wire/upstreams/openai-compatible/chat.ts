/**
 * Chat completions, same dialect at both ends: the model is replaced, the name of the output limit
 * where the channel or its vendor wants the other one, and a role that its vendor refuses; all else
 * passes.
 */

import { member } from '../../../base/lib/json.ts'
import { expectWhole } from '../../dialects/chat/expect-body.ts'
import { readChatBody } from '../../dialects/chat/read-body.ts'
import { createChatRelay } from '../../dialects/chat/relay.ts'
import { createLargeBodyTap } from '../../dialects/tap.ts'
import type { CallRequest, UpstreamAnswer } from '../upstream.ts'
import type { Wire, WireResponse } from '../wire.ts'
import { demandedMessages } from './developer-role.ts'
import { answerCall, type Call, sendBody } from './forward.ts'
import { demandedLimit, type LimitField, readLimitField, renameLimit } from './output-limit.ts'
import { readChatUsageOptions } from './read-usage-options.ts'

export async function chat(wire: Wire, call: Call): Promise<UpstreamAnswer> {
  const { request, upstreamModel } = call
  const { stream } = request
  const response = await send(wire, call)
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

/** The changes that a vendor's refusals have demanded so far. */
interface Demanded {
  readonly limit?: LimitField | undefined
  readonly messages?: string | undefined
}

/** Rejects with the vendor's refusal. */
async function send(
  wire: Wire,
  call: Call,
  { limit = call.settings.quirks.max_tokens_field, messages }: Demanded = {},
): Promise<WireResponse> {
  const { stream, value } = call.request
  try {
    return await sendBody(wire, call, '/chat/completions', stream, {
      setInside: stream ? USAGE : undefined,
      rename: renameLimit(limit),
      set: messages === undefined ? undefined : { messages },
    })
  } catch (failure) {
    const sent = limit ? undefined : readLimitField(value)
    const otherLimit = sent && demandedLimit(failure, sent)
    if (otherLimit) return await send(wire, call, { limit: otherLimit, messages })
    const others = messages === undefined ? demandedMessages(failure, call.request) : undefined
    if (others === undefined) throw failure
    return await send(wire, call, { limit, messages: others })
  }
}

/** Requested for each stream: without usage only an estimate could be charged. */
const USAGE = { stream_options: { include_usage: 'true' } }

function wantsUsage(request: CallRequest): boolean {
  return member(member(request.value, 'stream_options'), 'include_usage') === true
}
