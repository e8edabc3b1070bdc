/** Shorthands for the tests of the request's translation. */
import assert from 'node:assert/strict'
import { type ChatQuirks, DEFAULT_CHAT_QUIRKS } from '../../../server/wire/dialects/chat/quirks.ts'
import { InvalidRequest } from '../../../server/wire/dialects/invalid-request.ts'
import { translateResponseRequest } from '../../../server/wire/dialects/responses-over-chat/request.ts'

export type ChatBody = Readonly<Record<string, unknown>> & {
  readonly messages: readonly Readonly<Record<string, unknown>>[]
}

export function translate(request: object, quirks: Partial<ChatQuirks> = {}) {
  return translateResponseRequest(
    { model: 'caller-model', ...request },
    {
      upstreamModel: 'upstream-model',
      stream: 'stream' in request && request.stream === true,
      quirks: { ...DEFAULT_CHAT_QUIRKS, ...quirks },
    },
  )
}

export function toChat(request: object, quirks?: Partial<ChatQuirks>): ChatBody {
  return JSON.parse(translate(request, quirks).body.toString())
}

/** The messages that an input becomes. */
export function toMessages(input: unknown, quirks?: Partial<ChatQuirks>) {
  return toChat({ input }, quirks).messages
}

export function refusal(request: object, quirks?: Partial<ChatQuirks>): string {
  try {
    translate(request, quirks)
  } catch (error) {
    assert.ok(error instanceof InvalidRequest)
    return error.param
  }
  throw new Error('the request should have been refused')
}
