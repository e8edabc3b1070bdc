/** Calls, tasks and deliveries of all accounts. */

import { toPage } from '../../../../base/http/page.ts'
import { catchUp } from '../../../endpoints/account/usage.ts'
import { readDroppedFilter } from '../../../endpoints/webhooks/webhook-schemas.ts'
import type { HandlersOf } from '../../handler.ts'
import type { operatorWorkContract } from './contract.ts'
import { selectCallPage, selectDeliveryPage, selectTaskPage } from './store.ts'

export const operatorWorkHandlers: HandlersOf<typeof operatorWorkContract> = {
  async 'GET /operator/calls'({ query }, services) {
    await catchUp(services)
    return toPage(await selectCallPage(services.sql, query), query.limit, 'request_id')
  },

  async 'GET /operator/tasks'({ query }, { sql }) {
    return toPage(await selectTaskPage(sql, query), query.limit, 'id')
  },

  async 'GET /operator/deliveries'({ query }, { sql }) {
    return toPage(await selectDeliveryPage(sql, query), query.limit, 'id')
  },

  async 'POST /operator/deliveries/redeliver'({ body, note }, { webhooks }) {
    const filter = { ...readDroppedFilter(body), accountId: body.account || undefined }
    const answer = await webhooks.redeliverDropped(filter, body.dry_run === true)
    note({ ...body, redelivered: answer.redelivered })
    return answer
  },
}
