/** GET /v1/usage and /v1/usage/{request_id}: usage records, with an explanation of each charge. */
import { z } from 'zod'
import { checkQuery } from '../../../base/http/check-shape.ts'
import type { Context } from '../../../base/http/context.ts'
import { toPage } from '../../../base/http/page.ts'
import { sendJson } from '../../../base/http/reply.ts'
import { GatewayError } from '../../../base/lib/errors.ts'
import { withinTime } from '../../../base/lib/queues/within-time.ts'
import type { UsageFilter } from '../../../money/usage/store.ts'
import type { UsageReader } from '../../../money/usage/usage.ts'
import { encode, givenTime, page } from '../codecs.ts'
import type { AccountEndpoint, PlainServices } from '../endpoint.ts'
import { EXPLAINED_EXAMPLE, explainedUsage, explainUsage, usageRecord } from './usage-schemas.ts'

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 500
/** Maximum wait for settlements that are not committed yet. */
const FLUSH_MS = 2_000

const REQUEST_ID = /^req_[0-9A-Za-z]{1,64}$/
const filterText = z.string().max(300)

const listQuery = z.strictObject({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(LIMIT_MAX)
    .default(LIMIT_DEFAULT)
    .describe('Records per page.'),
  cursor: z
    .string()
    .regex(REQUEST_ID, 'not a cursor of this list')
    .optional()
    .describe('next_cursor of the previous page.'),
  from: givenTime.optional().describe('Records created at or after this time.'),
  to: givenTime.optional().describe('Records created before this time.'),
  model: filterText.optional().describe('Only calls to this model.'),
  endpoint: filterText.optional().describe('Only calls of this endpoint.'),
  key: filterText.optional().describe('A key id.'),
  tag: filterText.optional().describe('Only calls with this tag.'),
  end_user: filterText.optional().describe('Only calls that named this end user.'),
  status: usageRecord.shape.status
    .optional()
    .describe('Only calls of this status; by default those that have ended.'),
})

function readFilter(context: Context, accountId: string): UsageFilter {
  const { cursor, key, end_user: endUser, ...rest } = checkQuery(listQuery, context.query)
  return { ...rest, accountId, after: cursor, keyIds: key ? [key] : undefined, endUser }
}

/**
 * Waits until this process has committed its settlements of the account, or of all accounts, within
 * a limit: a caller that has its answer sees its charge, while an outage delays no page.
 */
export async function catchUp(
  { ledger }: Pick<PlainServices, 'ledger'>,
  accountId?: string,
): Promise<void> {
  const late = () => new Error('settlements take longer')
  await withinTime(ledger.flushed(accountId), FLUSH_MS, late).catch(() => undefined)
}

const usagePage = page(usageRecord)

export const listUsage: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/usage'],
  envelope: 'flat',
  documentation: {
    summary: 'List usage records',
    description:
      'Newest first, without calls in progress: `status=running` lists those, with their holds.',
    tag: 'Billing',
    query: listQuery,
    answer: usagePage,
    example: () => ({ path: '/v1/usage?limit=2' }),
    errors: [400, 403, 503],
  },
  async handle(context, caller, services) {
    const filter = readFilter(context, caller.accountId)
    await catchUp(services, caller.accountId)
    const rows = await services.usage.list({ ...filter, limit: filter.limit + 1 })
    sendJson(context, 200, encode(usagePage, toPage(rows, filter.limit, 'request_id')))
  },
}

/** Describes a request that was not found. The text depends only on the time in the id. */
export async function nameMissing(
  usage: Pick<UsageReader, 'isArchived'>,
  id: string,
): Promise<string> {
  const isArchived = REQUEST_ID.test(id) && (await usage.isArchived(id))
  return isArchived ? 'request: the calls of its time are archived' : 'request'
}

export const getUsage: AccountEndpoint = {
  kind: 'account',
  method: 'GET',
  paths: ['/v1/usage/:request_id'],
  envelope: 'flat',
  documentation: {
    summary: 'Explain one charge',
    description: 'The request id is the X-Request-Id header of the response.',
    tag: 'Billing',
    answer: explainedUsage,
    example: () => ({
      path: `/v1/usage/${EXPLAINED_EXAMPLE.request_id}`,
      answer: EXPLAINED_EXAMPLE,
    }),
    errors: [403, 404, 503],
  },
  async handle(context, caller, services) {
    await catchUp(services, caller.accountId)
    const id = context.params.request_id ?? ''
    // Malformed and foreign ids get the same answer as unknown ones.
    const row = REQUEST_ID.test(id) && (await services.usage.find(caller.accountId, id))
    if (!row) {
      const noun = await nameMissing(services.usage, id)
      throw new GatewayError('not_found', { message: `no such ${noun}` })
    }
    const entries = await services.usage.entries(caller.accountId, row.hold_id)
    sendJson(context, 200, encode(explainedUsage, explainUsage(row, entries)))
  },
}
