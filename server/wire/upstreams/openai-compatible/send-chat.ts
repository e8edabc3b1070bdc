/**
 * Sends a translated chat request. Some vendors refuse calls of tools without the reasoning that
 * led to them, or without its signature (docs/protocols/openai.md#reasoning-text); others refuse
 * the fields themselves. A refusal that names one is answered by the same request with the field:
 * nothing was done or billed.
 */
import { type ChatQuirks, limitFieldOf } from '../../dialects/chat/quirks.ts'
import type { UpstreamFailure } from '../failure.ts'
import type { CallRequest } from '../upstream.ts'
import type { Wire, WireResponse } from '../wire.ts'
import { demandedLimit } from './output-limit.ts'
import { readCompatibleFailure } from './read-failure.ts'
import { buildCompatibleRequest } from './request.ts'
import type { OpenaiCompatibleSettings } from './settings.ts'

const REASONING_FIELD = 'reasoning_content'
const SIGNATURE_FIELD = 'thought_signature'

interface Translated<Context> {
  readonly body: Buffer
  readonly context: Context
  readonly ignored: readonly string[]
}

interface Answered<Context> {
  readonly response: WireResponse
  readonly context: Context
  readonly ignored: readonly string[]
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
    const { body, context, ignored } = translate(quirks)
    const request = buildCompatibleRequest(settings, '/chat/completions', body, stream)
    const response = await wire.send(request)
    if (response.status < 400) return { response, context, ignored }
    return { failure: await readCompatibleFailure(response, value) }
  }
  const { quirks } = settings
  const first = await send(quirks)
  if (!('failure' in first)) return first
  const demanded = readDemand(first.failure, quirks)
  if (!demanded) throw first.failure
  const second = await send({ ...quirks, ...demanded })
  if ('failure' in second) throw second.failure
  return second
}

/** Returns the quirks that meet a refusal; undefined for a refusal of another kind. */
function readDemand(failure: UpstreamFailure, quirks: ChatQuirks): Partial<ChatQuirks> | undefined {
  const { max_tokens_field: limitField, reasoning_field: reasoningField } = quirks
  const limit = limitField ? undefined : demandedLimit(failure, limitFieldOf(quirks))
  if (limit) return { max_tokens_field: limit }
  const { kind, details } = failure
  const { message = '' } = details
  if (kind !== 'rejected') return undefined
  if (message.includes(SIGNATURE_FIELD)) return { signsCalls: true }
  if (reasoningField !== undefined || !message.includes(REASONING_FIELD)) return undefined
  return { reasoning_field: REASONING_FIELD, reasoningBesideCalls: true }
}
