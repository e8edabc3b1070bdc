/** Paths of protocols that the gateway does not serve, each with what to use instead. */
import type { Envelope } from '../../base/http/envelope.ts'
import type { PathHint } from '../../base/http/router.ts'

const STATEFUL = 'send the whole conversation to POST /v1/responses or /v1/chat/completions'

/** Paths of Google's API beside models, under either version and below the path of uploads. */
const GOOGLES =
  /^\/(?:upload\/v1|v1beta\/files|v1(?:beta)?\/(?:cached|fileSearch|tuned|interactions))/

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
  hint(
    /^\/v1\/chat\/completions\/./,
    'stored completions are not offered',
    'keep the answer, or send POST /v1/responses, which stores it',
  ),
  hint(
    /^\/v1\/videos(?:\/(?!generations\b|erase-subtitle\b)|$)/,
    'this form of videos is not offered',
    'use POST /v1/videos/generations',
  ),
  hint(
    GOOGLES,
    'this service of a vendor is not offered',
    'send the content itself in each request',
  ),
  hint(/^\/v1\/realtime\b/, 'realtime sessions are not offered', 'use the paths below /v1/audio'),
  hint(
    /^\/v1\/(?:fine_tuning|fine-tunes|evals|vector_stores|uploads|containers|skills|chatkit)\b/,
    'this service of a vendor is not offered',
    'GET /docs lists what is',
  ),
  hint(
    /^\/(?:v1\/)?(?:dashboard|organization|credits|generation|spend|key|auth\/key)\b/,
    'this is not offered',
    'use GET /v1/balance and /v1/usage',
  ),
  hint(/^\/(?:v1\/)?model(?:_group)?\/info\b/, 'this is not offered', 'use GET /v1/models'),
]

/** Returns the form of errors that the clients of a path read which no endpoint has. */
export function envelopeOfMiss(url: string): Envelope {
  const [path = ''] = url.split('?')
  if (path.startsWith('/v1beta/') || GOOGLES.test(path)) return 'google'
  const isVendors = path.startsWith('/v1/') && UNSUPPORTED_PATHS.some(matches)
  return isVendors ? 'nested' : 'flat'

  function matches({ pattern }: PathHint): boolean {
    return pattern.test(path)
  }
}

function hint(pattern: RegExp, what: string, instead: string): PathHint {
  return { pattern, message: `${what}: ${instead}` }
}
