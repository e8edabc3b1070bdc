/**
 * Chat completions, same dialect at both ends: the model is replaced, and the name of the output
 * limit where the channel or its vendor wants the other one; all else passes.
 */

import { member } from '../../../base/lib/json.ts'
import { expectWhole } from '../../dialects/chat/expect-body.ts'
import { readChatBody } from '../../dialects/chat/read-body.ts'
import { createChatRelay } from '../../dialects/chat/relay.ts'
import { createLargeBodyTap } from '../../dialects/tap.ts'
import type { CallRequest, UpstreamAnswer } from '../upstream.ts'
import type { Wire, WireResponse } from '../wire.ts'
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

/** Rejects with the vendor's refusal. */
async function send(wire: Wire, call: Call): Promise<WireResponse> {
  const { stream, value } = call.request
  const sendAs = (field: LimitField | undefined) => {
    const edits = { setInside: stream ? USAGE : undefined, rename: renameLimit(field) }
    return sendBody(wire, call, '/chat/completions', stream, edits)
  }
  const stated = call.settings.quirks.max_tokens_field
  try {
    return await sendAs(stated)
  } catch (failure) {
    const sent = stated ? undefined : readLimitField(value)
    const demanded = sent && demandedLimit(failure, sent)
    if (!demanded) throw failure
    return await sendAs(demanded)
  }
}

/** Requested for each stream: without usage only an estimate could be charged. */
const USAGE = { stream_options: { include_usage: 'true' } }

function wantsUsage(request: CallRequest): boolean {
  return member(member(request.value, 'stream_options'), 'include_usage') === true
}
