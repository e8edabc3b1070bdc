/**
 * Volcengine's two search products (docs/protocols/volcengine-search.md). The result passes
 * unchanged.
 */
import { z } from 'zod'
import { asString, isObject, member, tryParseJson } from '../../../base/lib/json.ts'
import { joinUrl } from '../../../base/lib/text/base-url.ts'
import { type BodyReading, createBodyTap } from '../../dialects/tap.ts'
import { classifyStatus, type FailureKind, readErrorBody, UpstreamFailure } from '../failure.ts'
import { baseUrl } from '../shared-settings.ts'
import { defineUpstream, type UpstreamAnswer, type UpstreamCall } from '../upstream.ts'
import type { Wire, WireResponse } from '../wire.ts'
import { buildSearchBody } from './request.ts'

const settings = z.strictObject({
  base_url: baseUrl().default('https://open.feedcoopapi.com'),
  api_key: z.string().min(1),
  /** A free label that the vendor shows in its statistics. */
  traffic_tag: z.string().optional(),
})
type Settings = z.infer<typeof settings>

/** `upstream_model` names the product: `web_search` or `global_search`. */
async function search(
  wire: Wire,
  { settings: channel, upstreamModel, request }: UpstreamCall<Settings>,
): Promise<UpstreamAnswer> {
  let error: SearchError | undefined
  const response = await wire.send({
    method: 'POST',
    url: joinUrl(channel.base_url, `/search_api/${encodeURIComponent(upstreamModel)}`),
    headers: {
      authorization: `Bearer ${channel.api_key}`,
      'content-type': 'application/json',
      ...(channel.traffic_tag ? { 'x-traffic-tag': channel.traffic_tag } : {}),
    },
    body: buildSearchBody(upstreamModel, request),
  })
  if (response.status >= 400) throw await readFailure(response)
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: response.body,
    relay: createBodyTap((document) => {
      const reading = readSearchBody(document)
      error = reading.failure
      return reading
    }),
    stream: false,
    refusal: () =>
      error && new UpstreamFailure(kindOf(error.code), { status: 200, ...describe(error) }),
  }
}

async function readFailure(response: WireResponse): Promise<UpstreamFailure> {
  const body = await readErrorBody(response)
  const { failure } = readSearchBody(tryParseJson(body))
  const contentType = asString(response.headers['content-type']) ?? 'application/json'
  const status = response.status
  const byStatus = classifyStatus(status)
  // A 400 without the vendor's envelope is the page of a proxy, and no verdict about the request.
  const unstated = byStatus === 'rejected' && !failure?.isStated ? 'failed' : byStatus
  const kind = failure && failure.code !== 0 ? kindOf(failure.code) : unstated
  const details = { status, answer: { contentType, body }, ...(failure ? describe(failure) : {}) }
  return new UpstreamFailure(kind, details)
}

function describe({ code, message }: SearchError) {
  return { message, code: String(code) }
}

const REJECTED = new Set([10400, 10402])
const BUSY = new Set([700429])
const FAILED = new Set([10500])

/** Codes that are not listed are about the channel: its key, quota or permission. */
function kindOf(code: number): FailureKind {
  if (REJECTED.has(code)) return 'rejected'
  if (BUSY.has(code)) return 'busy'
  if (FAILED.has(code) || code === 0) return 'failed'
  return 'channel_fault'
}

export const volcSearch = defineUpstream({
  name: 'volc-search',
  settings,
  secrets: ['api_key'],
  calls: { search },
})

export interface SearchError {
  /** The vendor's code (docs/protocols/volcengine-search.md#errors); 0 where it states none. */
  readonly code: number
  readonly message: string
  /** True if the vendor's own envelope states it. */
  readonly isStated?: boolean
}

function readSearchBody(document: unknown): BodyReading & { failure?: SearchError } {
  const failure = findError(document)
  if (!failure) return { outputBytes: 1, usage: { call: 1 } }
  const { message, code } = failure
  return { outputBytes: 0, failure, error: { type: 'server_error', message, code: String(code) } }
}

function findError(document: unknown): SearchError | undefined {
  if (!isObject(document)) return { code: 0, message: 'the answer is not a JSON object' }
  const metadata = member(member(document, 'ResponseMetadata'), 'Error')
  if (isObject(metadata)) {
    const code = Number(metadata.CodeN ?? metadata.Code ?? 0)
    return {
      code: Number.isFinite(code) ? code : 0,
      message: asString(metadata.Message) ?? 'error',
      isStated: true,
    }
  }
  const result = member(document, 'Result')
  const code = Number(member(result, 'ErrorCode') ?? 0)
  if (code !== 0) {
    return { code, message: asString(member(result, 'ErrorMsg')) ?? 'error', isStated: true }
  }
  return isObject(result) ? undefined : { code: 0, message: 'the answer has no Result' }
}
