/** Serves the completions dialect by an upstream's chat adapter. */
import { chainAfterReading } from '../dialects/chain.ts'
import {
  createCompletionBody,
  createCompletionStream,
} from '../dialects/completions-over-chat/answer.ts'
import { translateCompletionRequest } from '../dialects/completions-over-chat/request.ts'
import { parseRequestJson } from '../dialects/request-json/parse.ts'
import { UpstreamFailure } from './failure.ts'
import type { CallAdapter, CallRequest } from './upstream.ts'

type MaxTokensField = Parameters<typeof translateCompletionRequest>[1]

/** Returns an adapter of completions; `fieldOf` names the output limit of a channel's chats. */
export function completeByChat<Settings>(
  chat: CallAdapter<Settings>,
  fieldOf: (settings: Settings) => MaxTokensField,
): CallAdapter<Settings> {
  return async (wire, call) => {
    const request = toChat(call.request, fieldOf(call.settings))
    const answer = await chat(wire, { ...call, request })
    const { model, stream } = request
    const translator = stream ? createCompletionStream({ model }) : createCompletionBody({ model })
    return { ...answer, relay: chainAfterReading(answer.relay, translator) }
  }
}

function toChat(request: CallRequest, maxTokensField: MaxTokensField): CallRequest {
  const value = translateCompletionRequest(request.value, maxTokensField)
  const body = Buffer.from(JSON.stringify(value))
  const parsed = parseRequestJson(body)
  if (!parsed.ok) throw new UpstreamFailure('rejected', { message: parsed.message })
  return { ...request, body, value, fields: parsed.fields }
}
