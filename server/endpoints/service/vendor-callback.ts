/**
 * POST /v1/hooks/upstream/{token}: where vendors report on tasks by themselves. It is not metered,
 * nobody signs in to it, and it stands in no reference: each address is made for one vendor.
 */

import { readBody } from '../../http/body.ts'
import { sendJson } from '../../http/reply.ts'
import { GatewayError } from '../../lib/errors.ts'
import { tryParseJson } from '../../lib/json.ts'
import { HOOK_PATH } from '../../tasks/callbacks/callback-addresses.ts'
import type { PlainEndpoint } from '../endpoint.ts'

const BODY_BYTES_MAX = 64 * 1024
/** For one address. */
const REPORTS_PER_MINUTE = 60

export const upstreamHook: PlainEndpoint = {
  kind: 'plain',
  method: 'POST',
  paths: [`${HOOK_PATH}/:token`],
  envelope: 'flat',
  documentation: { summary: 'Receive a vendor callback', tag: 'Tasks', credential: 'none' },
  async handle(context, { hooks, limiter, tasks }) {
    const attemptId = hooks.attemptOf(context.params.token ?? '')
    if (attemptId === undefined) throw new GatewayError('not_found')
    const limits = { requests_per_minute: REPORTS_PER_MINUTE }
    const left = limiter.enter([{ subject: `hook:${attemptId}`, limits }])
    if (typeof left !== 'function') throw new GatewayError('rate_limited', left)
    left()
    const document = tryParseJson(await readBody(context.request, BODY_BYTES_MAX))
    const reply = await tasks.hear(attemptId, document)
    if (!reply) throw new GatewayError('not_found')
    sendJson(context, 200, reply)
  },
}
