/** POST /v1/webhooks/test: sends an example webhook to a receiver. */
import { z } from 'zod'
import { readJsonBody } from '../../../base/http/body.ts'
import type { Context } from '../../../base/http/context.ts'
import { sendJson } from '../../../base/http/reply.ts'
import { invalidField } from '../../../base/lib/errors.ts'
import { asString, member, tryParseJson } from '../../../base/lib/json.ts'
import type { AccountEndpoint } from '../endpoint.ts'
import { deliverySchema, EXAMPLE_DELIVERY, showDelivery } from './webhook-schemas.ts'

const BODY_BYTES_MAX = 16 * 1024

async function readUrl(context: Context): Promise<string> {
  const body = tryParseJson(await readJsonBody(context, BODY_BYTES_MAX))
  const url = asString(member(body, 'url'))
  if (url === undefined) throw invalidField('url', 'is required')
  return url
}

export const testWebhook: AccountEndpoint = {
  kind: 'account',
  method: 'POST',
  paths: ['/v1/webhooks/test'],
  envelope: 'flat',
  documentation: {
    summary: 'Send a test webhook',
    description: 'Signed, retried and listed like any other delivery; its kind is `test`.',
    tag: 'Webhooks',
    body: z.object({ url: z.string().max(2_048).describe('The receiver’s URL; http or https.') }),
    answer: deliverySchema,
    example: () => ({
      body: { url: EXAMPLE_DELIVERY.url },
      answer: {
        ...EXAMPLE_DELIVERY,
        task_id: null,
        kind: 'test',
        status: 'pending',
        next_attempt_at: EXAMPLE_DELIVERY.created_at,
        finished_at: null,
        attempts: [],
      },
    }),
    errors: [400, 403, 413, 415, 429, 503],
  },
  async handle(context, caller, { webhooks, guard }) {
    const url = await readUrl(context)
    const refusal = await guard.checkUrl(url)
    if (refusal !== undefined) throw invalidField('url', refusal)
    const row = await webhooks.test(caller.accountId, url)
    sendJson(context, 200, showDelivery(row))
  },
}
