/** Builds requests to such a vendor, with the credentials of the channel alone. */
import { joinUrl } from '../../lib/text/base-url.ts'
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

export function buildCompatibleRequest(
  settings: OpenaiCompatibleSettings,
  path: string,
  body: Buffer,
  stream: boolean,
): WireRequest {
  return {
    method: 'POST',
    url: buildUrl(settings, path),
    headers: {
      ...identityHeaders(settings),
      'content-type': 'application/json',
      accept: stream ? 'text/event-stream' : 'application/json',
    },
    body,
  }
}

/** Lists the models of the account (https://platform.openai.com/docs/api-reference/models/list). */
export function listCompatibleModels(
  wire: Wire,
  settings: OpenaiCompatibleSettings,
): Promise<WireResponse> {
  const url = buildUrl(settings, '/models')
  return wire.send({ method: 'GET', url, headers: identityHeaders(settings) })
}
