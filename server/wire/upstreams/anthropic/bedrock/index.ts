/** Claude on Amazon Bedrock, by InvokeModel (docs/protocols/bedrock.md). */
import { Readable } from 'node:stream'
import { asString, member } from '../../../../base/lib/json.ts'
import { joinUrl } from '../../../../base/lib/text/base-url.ts'
import { eachKey } from '../../key-header.ts'
import { readJsonAnswer } from '../../read-json.ts'
import { readPriceFacts } from '../../shared-settings.ts'
import { defineUpstream } from '../../upstream.ts'
import type { Wire, WireResponse } from '../../wire.ts'
import { editCloudBody } from '../cloud-body.ts'
import type { MessagesHost } from '../host.ts'
import { forwardClient } from '../request.ts'
import { serveMessages } from '../serve-messages.ts'
import { readBedrockFailure, refuseByException } from './read-failure.ts'
import { type BedrockSettings, bedrockSettings, readBaseUrl, readControlUrl } from './settings.ts'
import { signRequest } from './sign.ts'
import { unframe } from './unframe.ts'

const PROFILES_MAX = 1000
const IN_BODY = { inPath: ['model', 'stream'], betasInside: true }

const host: MessagesHost<BedrockSettings> = {
  async send(wire, { settings, upstreamModel, request, body }) {
    const { headers, stream, value } = request
    const { anthropic_version: version, betas: allowed } = settings
    const betas = headers['anthropic-beta']
    const edited = editCloudBody(body, { version, betas, allowed, ...IN_BODY })
    const operation = stream ? 'invoke-with-response-stream' : 'invoke'
    const path = `/model/${encodeURIComponent(upstreamModel)}/${operation}`
    const unsigned = {
      method: 'POST' as const,
      url: joinUrl(readBaseUrl(settings), path),
      headers: {
        ...forwardClient(headers),
        'content-type': 'application/json',
        accept: stream ? 'application/vnd.amazon.eventstream' : 'application/json',
      },
      body: edited.body,
    }
    const signed = await signRequest(unsigned, settings, wire.now())
    const response = await wire.send({ ...unsigned, headers: signed })
    if (response.status >= 400) throw await readBedrockFailure(response, value)
    return { response, ignored: edited.ignored }
  },
  unframe,
  refusal: refuseByException,
}

export const bedrock = defineUpstream({
  name: 'bedrock',
  provider: 'aws.bedrock',
  settings: bedrockSettings,
  secrets: ['api_key', 'api_keys', 'secret_access_key', 'session_token'],
  eachKey,
  concurrency: ({ max_concurrent_calls: calls }) => calls,
  priceFacts: readPriceFacts,
  address: readControlUrl,
  probe: (wire, settings) => listProfiles(wire, settings, 1),
  listModels: async (wire, settings) =>
    namedAsModels(await listProfiles(wire, settings, PROFILES_MAX)),
  ...serveMessages(host),
})

async function listProfiles(
  wire: Wire,
  settings: BedrockSettings,
  most: number,
): Promise<WireResponse> {
  const url = joinUrl(readControlUrl(settings), `/inference-profiles?maxResults=${most}`)
  const request = { method: 'GET' as const, url, headers: { accept: 'application/json' } }
  return wire.send({ ...request, headers: await signRequest(request, settings, wire.now()) })
}

/** A bare model id is refused by the vendor, so that its profiles are the models. */
async function namedAsModels(response: WireResponse): Promise<WireResponse> {
  if (response.status >= 300) return response
  const { inferenceProfileSummaries: profiles } = await readJsonAnswer(response)
  const data = (Array.isArray(profiles) ? profiles : []).flatMap((profile) => {
    const id = asString(member(profile, 'inferenceProfileId'))
    return id?.includes('anthropic.') ? [{ id }] : []
  })
  return { ...response, body: Readable.from([Buffer.from(JSON.stringify({ data }))]) }
}
