/** Serves the gateway's copies of results, to which links of the gallery and the library point. */
import { sendBytes } from '../../../base/http/reply.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import type { PlainEndpoint } from '../endpoint.ts'
import { sendContent } from './send-content.ts'

export const getMedia: PlainEndpoint = {
  kind: 'plain',
  method: 'GET',
  paths: ['/media/:token/:filename'],
  envelope: 'nested',
  documentation: {
    summary: 'Get an image or a video by its URL',
    description:
      'No key is needed: the URL is the secret, until the entry is deleted. A single byte' +
      ' range gets 206. Until the copy is stored, 302 to the vendor’s URL.',
    tag: 'Library',
    answerType: 'application/octet-stream',
    example: () => ({ path: '/media/0J8s/video.mp4' }),
    errors: [404, 503],
  },
  async handle(context, { library }) {
    const asset = await library.findByToken(context.params.token ?? '')
    const isStored = asset?.state === 'stored'
    if (!asset || !(isStored || asset.source_lives)) {
      throw new GatewayError('not_found', { message: 'no such file' })
    }
    if (!isStored) {
      sendBytes(context, 302, redirectTo(asset.source_url), Buffer.alloc(0))
      return
    }
    await sendContent(context, {
      id: `${asset.token.slice(0, 12)}-${asset.bytes}`,
      length: Number(asset.bytes),
      contentType: asset.content_type ?? 'application/octet-stream',
      // The name in the gateway's link, not the one in the request.
      filename: library.linkOf(asset)?.split('/').at(-1) ?? asset.kind,
      modifiedAt: asset.stored_at ?? asset.created_at,
      read: (range) => library.read(asset, range),
    })
  },
}

/**
 * A temporary redirect, since the copy will soon be served here. A vendor's link may contain
 * characters that are not allowed in a header.
 */
function redirectTo(link: string) {
  return { location: new URL(link).href, 'cache-control': 'no-store' }
}
