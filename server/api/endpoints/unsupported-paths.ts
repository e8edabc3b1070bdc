/** Paths of protocols that the gateway does not serve, each with what to use instead. */
import type { PathHint } from '../../base/http/router.ts'

const STATEFUL = 'send the whole conversation to POST /v1/responses or /v1/chat/completions'

/** The first match explains why no endpoint has the path. */
export const UNSUPPORTED_PATHS: readonly PathHint[] = [
  hint(
    /:(?:stream)?(?:generate|raw)content$|:(?:predict|(?:async)?batch\w*|interact)$/i,
    'this method is not supported',
    'use POST /v1beta/models/{model}:generateContent, with the model as one segment of the path',
  ),
  hint(
    /:(?:count\w*tokens|embed\w*)$/i,
    'this path is not supported',
    'use POST /v1beta/models/{model}:countTokens or :embedContent',
  ),
  hint(
    /^\/api\/(?:chat|generate)\b/,
    'this protocol of local models is not supported',
    'use POST /v1/chat/completions with the base URL ending in /v1',
  ),
  hint(/^\/api\/embed(?:dings)?\b/, 'this protocol is not supported', 'use POST /v1/embeddings'),
  hint(
    /^\/api\/(?:tags|show|ps|version)\b/,
    'this protocol is not supported',
    'use GET /v1/models',
  ),
  hint(/^\/v1\/complete\b/, 'this old protocol is not supported', 'use POST /v1/messages'),
  hint(
    /^\/(?:v1\/engines|\w+\/deployments)\//,
    'models in the path are not supported',
    'use POST /v1/chat/completions with the model in the body',
  ),
  hint(
    /^\/v1\/(?:assistants|threads|conversations)\b/,
    'stored conversations are not offered',
    STATEFUL,
  ),
  hint(
    /^\/v1\/(?:messages\/batches|batches)\b/,
    'batches are not offered',
    'send single calls, or POST /v1/responses with background: true',
  ),
  hint(/^\/v1\/realtime\b/, 'realtime sessions are not offered', 'use the paths below /v1/audio'),
  hint(
    /^\/v1\/(?:fine_tuning|fine-tunes|evals|vector_stores|uploads|containers|skills|chatkit)\b/,
    'this service of a vendor is not offered',
    'GET /docs lists what is',
  ),
  hint(
    /^\/(?:v1\/)?(?:dashboard|organization|credits|key)\b/,
    'this is not offered',
    'use GET /v1/balance and /v1/usage',
  ),
]

function hint(pattern: RegExp, what: string, instead: string): PathHint {
  return { pattern, message: `${what}: ${instead}` }
}
