/** GET /v1/storage: the stored bytes of an account, and their limit. */
import { z } from 'zod'
import { sendJson } from '../../../base/http/reply.ts'
import type { AccountEndpoint } from '../endpoint.ts'

const answer = z.object({
  stored_bytes: z.int().describe('Bytes of unexpired uploads and copied media.'),
  limit_bytes: z.int().describe('Above it, uploads get 413 and results are not copied.'),
})

export const getStorage: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/storage'],
  envelope: 'flat',
  documentation: {
    summary: 'Get storage usage',
    description: 'Bytes of the account’s files and results, and the most that it may store.',
    tag: 'Files',
    answer,
    example: () => ({
      path: '/v1/storage',
      answer: { stored_bytes: 7_822_145, limit_bytes: 20_000_000_000 },
    }),
    errors: [403, 503],
  },
  async handle(context, { accountId }, { files }) {
    const { storedBytes, limitBytes } = await files.storage(accountId)
    sendJson(context, 200, { stored_bytes: storedBytes, limit_bytes: limitBytes })
  },
}
