/** Builds requests to such a vendor, with the credentials of the channel alone. */
import { joinUrl } from '../../../base/lib/text/base-url.ts'
import { readErrorBody } from '../failure.ts'
import { keyHeader } from '../key-header.ts'
import type { Wire, WireRequest, WireResponse } from '../wire.ts'
import type { OpenaiCompatibleSettings } from './settings.ts'

/** Returns the headers that identify the channel. */
export function identityHeaders(settings: OpenaiCompatibleSettings): Record<string, string> {
  return {
    ...settings.headers,
    ...keyHeader(settings),
    ...(settings.organization ? { 'openai-organization': settings.organization } : {}),
    ...(settings.project ? { 'openai-project': settings.project } : {}),
  }
}

/** Returns the address of `path` with the query parameters of the channel. */
export function buildUrl(
  { base_url: base, query }: OpenaiCompatibleSettings,
  path: string,
): string {
  return joinUrl(base, path, new URLSearchParams(query).toString())
}

/** `path` is one of the adapters' own: what is built for it is kept as long as the settings. */
export function buildCompatibleRequest(
  settings: OpenaiCompatibleSettings,
  path: string,
  body: Buffer,
  stream: boolean,
): WireRequest {
  const { url, whole, streamed } = prepare(settings, path)
  return { method: 'POST', url, headers: stream ? streamed : whole, body }
}

/** The parts of requests that depend on the channel alone. */
interface Prepared {
  readonly url: string
  readonly whole: Readonly<Record<string, string>>
  readonly streamed: Readonly<Record<string, string>>
}

const prepared = new WeakMap<OpenaiCompatibleSettings, Map<string, Prepared>>()

function prepare(settings: OpenaiCompatibleSettings, path: string): Prepared {
  let ofChannel = prepared.get(settings)
  if (!ofChannel) {
    ofChannel = new Map()
    prepared.set(settings, ofChannel)
  }
  let found = ofChannel.get(path)
  if (!found) {
    const shared = { ...identityHeaders(settings), 'content-type': 'application/json' }
    found = {
      url: buildUrl(settings, path),
      whole: { ...shared, accept: 'application/json' },
      streamed: { ...shared, accept: 'text/event-stream' },
    }
    ofChannel.set(path, found)
  }
  return found
}

/**
 * Lists the models of the account (https://platform.openai.com/docs/api-reference/models/list).
 * Where there is no such list, asks at the address of chat calls: a 404 there too means that the
 * base URL is wrong.
 */
export async function listCompatibleModels(
  wire: Wire,
  settings: OpenaiCompatibleSettings,
): Promise<WireResponse> {
  const get = (path: string) => askCompatible(wire, settings, path)
  const models = await get('/models')
  if (models.status !== 404) return models
  await readErrorBody(models)
  return get('/chat/completions')
}

/** Sends a GET with the channel's key to a path of its address. */
export function askCompatible(
  wire: Wire,
  settings: OpenaiCompatibleSettings,
  path: string,
): Promise<WireResponse> {
  return wire.send({
    method: 'GET',
    url: buildUrl(settings, path),
    headers: identityHeaders(settings),
  })
}
