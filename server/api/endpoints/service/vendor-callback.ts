/**
 * POST /v1/hooks/upstream/{token}: receives vendor callbacks about tasks. It is not metered, needs
 * no credentials and is not in the reference: each address belongs to one submission.
 */

import { readBody } from '../../../base/http/body.ts'
import { sendJson } from '../../../base/http/reply.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { tryParseJson } from '../../../base/lib/json.ts'
import { VENDOR_CALLBACK_PATH } from '../../../work/tasks/callbacks/callback-addresses.ts'
import type { PlainEndpoint } from '../endpoint.ts'

const BODY_BYTES_MAX = 64 * 1024
/** Limit per address, in each process. */
const CALLBACKS_PER_MINUTE = 60

export const receiveVendorCallback: PlainEndpoint = {
  kind: 'plain',
  method: 'POST',
  paths: [`${VENDOR_CALLBACK_PATH}/:token`],
  envelope: 'flat',
  documentation: { summary: 'Receive a vendor callback', tag: 'Tasks', credential: 'none' },
  async handle(context, { callbackAddresses, limiter, tasks }) {
    const attemptId = callbackAddresses.attemptOf(context.params.token ?? '')
    if (attemptId === undefined) throw new GatewayError('not_found')
    const retryAfterSeconds = limiter.enter(attemptId, CALLBACKS_PER_MINUTE)
    if (retryAfterSeconds > 0) throw new GatewayError('rate_limited', { retryAfterSeconds })
    const document = tryParseJson(await readBody(context, BODY_BYTES_MAX))
    const reply = await tasks.receiveCallback(attemptId, document)
    if (!reply) throw new GatewayError('not_found')
    sendJson(context, 200, reply)
  },
}
