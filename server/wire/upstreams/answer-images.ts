/** Describes an answer with images: one document, or events where the vendor streams. */

import { asString } from '../../base/lib/json.ts'
import { createImagesBody } from '../dialects/images/body.ts'
import { countImagesMost } from '../dialects/images/read-request.ts'
import { createImagesTap } from '../dialects/images/tap.ts'
import type { RelayReport } from '../dialects/relay.ts'
import { UPSTREAM_ERROR } from '../dialects/reported-error.ts'
import { UpstreamFailure } from './failure.ts'
import type { CallRequest, UpstreamAnswer } from './upstream.ts'
import type { WireResponse } from './wire.ts'

/** Uses the answer's content type: a model that cannot stream answers with a document. */
export function answerImages(
  response: WireResponse,
  { value, stream: isStreamRequested }: CallRequest,
): UpstreamAnswer {
  const type = asString(response.headers['content-type'])
  const stream = type === undefined ? isStreamRequested : /event-stream/i.test(type)
  return {
    status: 200,
    headers: stream
      ? { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
      : { 'content-type': 'application/json' },
    body: response.body,
    relay: stream ? createImagesTap(countImagesMost(value)) : createImagesBody(),
    stream,
    refusal,
  }
}

/**
 * Returns the failure for an error in place of the first image, under status 200. An answer that
 * has neither images nor an error of the vendor's says nothing: the images may have been made.
 */
function refusal({ error }: RelayReport): UpstreamFailure | undefined {
  if (!error) return undefined
  const { message, code } = error
  const kind = error === UPSTREAM_ERROR ? 'unknown' : 'failed'
  return new UpstreamFailure(kind, { status: 200, message, ...(code ? { code } : {}) })
}
