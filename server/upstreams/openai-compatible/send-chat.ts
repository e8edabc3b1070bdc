/**
 * Sends a translated chat request. Some vendors refuse calls of tools without the reasoning that
 * led to them (docs/protocols/openai.md#reasoning-text); others refuse the field itself. A refusal
 * that names it is answered by the same request with the field: nothing was done or billed.
 */
import type { ChatQuirks } from '../../dialects/chat/quirks.ts'
import type { UpstreamFailure } from '../failure.ts'
import type { CallRequest } from '../upstream.ts'
import type { Wire, WireResponse } from '../wire.ts'
import { readCompatibleFailure } from './read-failure.ts'
import { buildCompatibleRequest } from './request.ts'
import { type OpenaiCompatibleSettings, readQuirks } from './settings.ts'

const REASONING_FIELD = 'reasoning_content'

interface Translated<Context> {
  readonly body: Buffer
  readonly context: Context
}

interface Answered<Context> {
  readonly response: WireResponse
  readonly context: Context
}

type Sent<Context> = Answered<Context> | { readonly failure: UpstreamFailure }

/** Rejects with the vendor's refusal. */
export async function sendTranslated<Context>(
  wire: Wire,
  settings: OpenaiCompatibleSettings,
  { stream, value }: CallRequest,
  translate: (quirks: ChatQuirks) => Translated<Context>,
): Promise<Answered<Context>> {
  const send = async (quirks: ChatQuirks): Promise<Sent<Context>> => {
    const { body, context } = translate(quirks)
    const request = buildCompatibleRequest(settings, '/chat/completions', body, stream)
    const response = await wire.send(request)
    if (response.status < 400) return { response, context }
    return { failure: await readCompatibleFailure(response, value) }
  }
  const quirks = readQuirks(settings)
  const first = await send(quirks)
  if (!('failure' in first)) return first
  if (!demandsReasoning(first.failure, quirks)) throw first.failure
  const reasoning = { reasoningField: REASONING_FIELD, reasoningBesideCalls: true } as const
  const second = await send({ ...quirks, ...reasoning })
  if ('failure' in second) throw second.failure
  return second
}

function demandsReasoning(failure: UpstreamFailure, { reasoningField }: ChatQuirks): boolean {
  if (failure.kind !== 'rejected' || reasoningField !== undefined) return false
  return failure.details.message?.includes(REASONING_FIELD) ?? false
}
