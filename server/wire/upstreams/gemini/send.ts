/** Requests to Gemini at both of its addresses, and their refusals (docs/protocols/google.md). */
import { Readable } from 'node:stream'
import { asString, member } from '../../../base/lib/json.ts'
import { joinUrl } from '../../../base/lib/text/base-url.ts'
import {
  CONTEXT_LENGTH_CODE,
  isContextLength,
} from '../../dialects/messages-over-chat/context-length.ts'
import { UpstreamFailure } from '../failure.ts'
import { createTokenCache, readGoogleFailure, sendWithToken } from '../google-service.ts'
import { readJsonAnswer } from '../read-json.ts'
import type { Wire, WireRequest, WireResponse } from '../wire.ts'
import { type GeminiSettings, readGeminiUrl } from './settings.ts'

const tokens = createTokenCache()
const MODELS_MAX = 1000

export interface GeminiRequest {
  readonly settings: GeminiSettings
  readonly upstreamModel: string
  /** For example `generateContent`. */
  readonly method: string
  readonly body: Buffer
  /** The vendor's name of the tier, if the request names one. */
  readonly tier?: string | undefined
  /** The caller's request, whose own words do not classify a refusal. */
  readonly value: unknown
}

/** Sends one request. Throws the vendor's refusal. */
export async function sendToGemini(wire: Wire, request: GeminiRequest): Promise<WireResponse> {
  const { settings, upstreamModel, method, body, tier, value } = request
  const isStream = method === 'streamGenerateContent'
  const path = `${pathOf(settings, upstreamModel)}:${method}`
  const response = await send(wire, settings, {
    method: 'POST',
    url: joinUrl(readGeminiUrl(settings), isStream ? `${path}?alt=sse` : path),
    headers: {
      'content-type': 'application/json',
      accept: isStream ? 'text/event-stream' : 'application/json',
      // At the other address the tier is a member of the body.
      ...(tier && settings.service_account ? { [TIER_HEADER]: tier } : {}),
    },
    body,
  })
  if (response.status >= 400) throw refine(await readGoogleFailure(response, value), value)
  return response
}

const TIER_HEADER = 'x-vertex-ai-llm-shared-request-type'

/** Returns the tier that a header of the answer states. */
export function readServedHeader({ headers }: WireResponse): string | undefined {
  return asString(headers['x-gemini-service-tier'])
}

function send(
  wire: Wire,
  { service_account: account, api_key: key }: GeminiSettings,
  request: WireRequest,
): Promise<WireResponse> {
  if (account) return sendWithToken(wire, tokens, account, request)
  const headers = { ...request.headers, ...(key === undefined ? {} : { 'x-goog-api-key': key }) }
  return wire.send({ ...request, headers })
}

function pathOf(settings: GeminiSettings, model: string): string {
  const id = model.split('/').map(encodeURIComponent).join('/')
  const { service_account: account, project, location } = settings
  if (!account) return `/v1beta/${id.includes('/') ? id : `models/${id}`}`
  const place = `/v1beta1/projects/${project ?? account.project_id}/locations/${location}`
  return `${place}/${id.includes('/') ? id : `publishers/google/models/${id}`}`
}

/**
 * Matches messages about an object that the request names, whose words otherwise concern the
 * channel.
 */
const OF_CALLER = /\b(?:file|cachedcontents?|cached content)\b/i
const NAMES = /"(?:file_?uri|cached_?content|url)"/i

/**
 * A conversation that exceeds the context window gets its own code, and missing files of a caller
 * are not the channel's fault.
 */
function refine(failure: UpstreamFailure, value: unknown): UpstreamFailure {
  const { kind, details } = failure
  const { message = '', status } = details
  if (kind === 'rejected' && isContextLength({ message })) {
    return new UpstreamFailure(kind, { ...details, code: CONTEXT_LENGTH_CODE })
  }
  const isOfFile = (status === 403 || status === 404) && OF_CALLER.test(message)
  if (!isOfFile || !NAMES.test(JSON.stringify(value) ?? '')) return failure
  return new UpstreamFailure('rejected', details)
}

/** True for the refusal of a signature that was lost, altered, or another model's. */
export function refusesSignature(error: unknown): boolean {
  if (!(error instanceof UpstreamFailure) || error.kind !== 'rejected') return false
  return /thought[ _]?signature/i.test(error.details.message ?? '')
}

export function listPublished(
  wire: Wire,
  settings: GeminiSettings,
  most: number,
): Promise<WireResponse> {
  const path = settings.service_account ? '/v1beta1/publishers/google/models' : '/v1beta/models'
  return send(wire, settings, {
    method: 'GET',
    url: joinUrl(readGeminiUrl(settings), `${path}?pageSize=${most}`),
    headers: { accept: 'application/json' },
  })
}

/** Lists the ids as calls name them. */
export async function listGeminiModels(
  wire: Wire,
  settings: GeminiSettings,
): Promise<WireResponse> {
  const response = await listPublished(wire, settings, MODELS_MAX)
  if (response.status >= 300) return response
  const { models, publisherModels } = await readJsonAnswer(response)
  const list = [models, publisherModels].find(Array.isArray) ?? []
  const data = list.flatMap((model: unknown) => {
    const id = asString(member(model, 'name'))?.split('/').at(-1)
    return id ? [{ id }] : []
  })
  return { ...response, body: Readable.from([Buffer.from(JSON.stringify({ data }))]) }
}
