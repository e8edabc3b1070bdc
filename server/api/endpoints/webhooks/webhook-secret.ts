/** GET /v1/webhooks/secret and POST /v1/webhooks/secret/rotate: the signing secret. */
import { z } from 'zod'
import { sendJson } from '../../../base/http/reply.ts'
import type { WebhookSecret } from '../../../work/webhooks/secrets.ts'
import type { AccountEndpoint } from '../endpoint.ts'

const answer = z.object({
  secret: z.string().describe('Starts with `whsec_`; signs every webhook of the account.'),
  previous_valid_until: z.iso
    .datetime()
    .nullable()
    .describe('Until then the previous secret signs too, in X-Service-Signature-Previous.'),
})

const EXAMPLE = { secret: 'whsec_5h2Jq…', previous_valid_until: null }
/** Forbids caching. */
const PRIVATE = { 'cache-control': 'no-store' }

function describe({ current, previousUntil }: WebhookSecret): z.infer<typeof answer> {
  return { secret: current, previous_valid_until: previousUntil?.toISOString() ?? null }
}

export const getWebhookSecret: AccountEndpoint = {
  kind: 'account',
  isForOwners: true,
  method: 'GET',
  paths: ['/v1/webhooks/secret'],
  envelope: 'flat',
  documentation: {
    summary: 'Get the webhook secret',
    description: 'It signs every webhook of this account.',
    tag: 'Webhooks',
    answer,
    example: () => ({ answer: EXAMPLE }),
    errors: [403, 503],
  },
  async handle(context, caller, { webhooks }) {
    sendJson(context, 200, describe(await webhooks.secret(caller.accountId)), PRIVATE)
  },
}

export const rotateWebhookSecret: AccountEndpoint = {
  kind: 'account',
  isForOwners: true,
  method: 'POST',
  paths: ['/v1/webhooks/secret/rotate'],
  envelope: 'flat',
  documentation: {
    summary: 'Rotate the webhook secret',
    description: 'The previous secret keeps signing beside the new one for 24 hours.',
    tag: 'Webhooks',
    answer,
    example: () => ({
      answer: { ...EXAMPLE, previous_valid_until: '2026-11-22T09:30:00.000Z' },
    }),
    errors: [403, 503],
  },
  async handle(context, caller, { webhooks }) {
    sendJson(context, 200, describe(await webhooks.rotate(caller.accountId)), PRIVATE)
  },
}
