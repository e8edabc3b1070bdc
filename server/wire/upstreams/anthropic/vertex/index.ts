/** Claude on Google's Vertex AI, by rawPredict (docs/protocols/google.md#claude-on-vertex-ai). */
import { Readable } from 'node:stream'
import { asString, member } from '../../../../base/lib/json.ts'
import { joinUrl } from '../../../../base/lib/text/base-url.ts'
import { buildMessagesError } from '../../../dialects/messages/error.ts'
import { UpstreamFailure } from '../../failure.ts'
import {
  createTokenCache,
  readGoogleFailure,
  readPlaceUrl,
  sendWithToken,
} from '../../google-service.ts'
import { readJsonAnswer } from '../../read-json.ts'
import { readPriceFacts } from '../../shared-settings.ts'
import { defineUpstream } from '../../upstream.ts'
import type { Wire, WireResponse } from '../../wire.ts'
import { editCloudBody } from '../cloud-body.ts'
import type { MessagesHost } from '../host.ts'
import { anthropicHost, forwardClient } from '../request.ts'
import { serveMessages } from '../serve-messages.ts'
import { type VertexSettings, vertexSettings } from './settings.ts'

const tokens = createTokenCache()
const MODELS_MAX = 1000
const TOO_LONG = /prompt is too long/i

const host: MessagesHost<VertexSettings> = {
  async send(wire, { settings, upstreamModel, request, body }) {
    const { headers, stream, value } = request
    const { anthropic_version: version, betas: allowed, service_account: account } = settings
    const betas = headers['anthropic-beta']
    const edited = editCloudBody(body, { version, betas, allowed, ...IN_HEADER })
    const response = await sendWithToken(wire, tokens, account, {
      method: 'POST',
      url: joinUrl(readPlaceUrl(settings), pathOf(settings, upstreamModel, stream)),
      headers: {
        ...forwardClient(headers),
        ...(edited.betas.length > 0 ? { 'anthropic-beta': edited.betas.join(',') } : {}),
        'content-type': 'application/json',
        accept: stream ? 'text/event-stream' : 'application/json',
      },
      body: edited.body,
    })
    if (response.status >= 400) throw inOwnForm(await readGoogleFailure(response, value))
    return { response, ignored: edited.ignored }
  },
  refusal: anthropicHost.refusal,
}

const IN_HEADER = { inPath: ['model'], betasInside: false }

function pathOf(settings: VertexSettings, model: string, stream: boolean): string {
  const { project, location, service_account: account } = settings
  const place = `projects/${project ?? account.project_id}/locations/${location}`
  const id = encodeURIComponent(model).replaceAll('%40', '@')
  const method = stream ? 'streamRawPredict' : 'rawPredict'
  return `/v1/${place}/publishers/anthropic/models/${id}:${method}`
}

/** Google's form of errors is none that clients of messages read. */
function inOwnForm({ kind, details }: UpstreamFailure): UpstreamFailure {
  if (kind !== 'rejected') return new UpstreamFailure(kind, details)
  const { message = 'the vendor refused it' } = details
  const document = buildMessagesError({ type: 'invalid_request_error', message })
  const body = Buffer.from(JSON.stringify(document))
  return new UpstreamFailure(kind, {
    ...details,
    ...(TOO_LONG.test(message) ? { code: 'context_length_exceeded' } : {}),
    answer: { contentType: 'application/json', body },
  })
}

async function listPublished(
  wire: Wire,
  settings: VertexSettings,
  most: number,
): Promise<WireResponse> {
  const path = `/v1beta1/publishers/anthropic/models?pageSize=${most}`
  return sendWithToken(wire, tokens, settings.service_account, {
    method: 'GET',
    url: joinUrl(readPlaceUrl(settings), path),
    headers: { accept: 'application/json' },
  })
}

/** The ids as calls name them: with the version where it is a date. */
async function namedAsModels(response: WireResponse): Promise<WireResponse> {
  if (response.status >= 300) return response
  const { publisherModels: models } = await readJsonAnswer(response)
  const data = (Array.isArray(models) ? models : []).flatMap((model) => {
    const id = asString(member(model, 'name'))?.split('/').at(-1)
    const version = asString(member(model, 'versionId')) ?? ''
    return id ? [{ id: /^\d{8}$/.test(version) ? `${id}@${version}` : id }] : []
  })
  return { ...response, body: Readable.from([Buffer.from(JSON.stringify({ data }))]) }
}

export const anthropicVertex = defineUpstream({
  name: 'anthropic-vertex',
  provider: 'gcp.vertex_ai',
  settings: vertexSettings,
  secrets: ['service_account'],
  concurrency: ({ max_concurrent_calls: calls }) => calls,
  priceFacts: ({ location, ...settings }) => readPriceFacts({ ...settings, region: location }),
  address: readPlaceUrl,
  probe: (wire, settings) => listPublished(wire, settings, 1),
  listModels: async (wire, settings) =>
    namedAsModels(await listPublished(wire, settings, MODELS_MAX)),
  ...serveMessages(host),
})
