/** Reads, lists, cancels and deletes responses that the vendor stores or still generates. */
import { readResponseBody } from '../../dialects/responses/read-response.ts'
import { createResponsesTap } from '../../dialects/responses/tap.ts'
import type { Background, StoredAction, StoredRequest } from '../upstream.ts'
import type { Wire, WireRequest, WireResponse } from '../wire.ts'
import { readChatUsageOptions } from './read-usage-options.ts'
import { buildUrl, identityHeaders } from './request.ts'
import type { OpenaiCompatibleSettings } from './settings.ts'

const ACTIONS: Readonly<
  Record<StoredAction, { readonly method: WireRequest['method']; readonly suffix: string }>
> = {
  get: { method: 'GET', suffix: '' },
  delete: { method: 'DELETE', suffix: '' },
  items: { method: 'GET', suffix: '/input_items' },
  cancel: { method: 'POST', suffix: '/cancel' },
}

export function stored(
  wire: Wire,
  settings: OpenaiCompatibleSettings,
  { action, id, query, stream = false }: StoredRequest,
): Promise<WireResponse> {
  const { method, suffix } = ACTIONS[action]
  const path = `/responses/${encodeURIComponent(id)}${suffix}`
  return wire.send({
    method,
    url: buildUrl(settings, query ? `${path}?${query}` : path),
    headers: {
      ...identityHeaders(settings),
      accept: stream ? 'text/event-stream' : 'application/json',
    },
  })
}

/** Offered by `pass` alone: chat completions, which serve `translate`, have no background. */
export const background: Background<OpenaiCompatibleSettings> = {
  offeredBy: ({ responses }) => responses === 'pass',
  read: (document, value) => readResponseBody(document, readChatUsageOptions(value)),
  watch: (value, countAfter) =>
    createResponsesTap(readChatUsageOptions(value), { backgroundAfter: countAfter }),
}
