/**
 * Webhooks of an account. Showing the secret requires a step-up and is recorded in the audit log.
 */

import { toPage } from '../../../../base/http/page.ts'
import { invalidField } from '../../../../base/lib/errors.ts'
import { maskSecret } from '../../../../base/lib/secrets/secrets.ts'
import type { WebhookSecret } from '../../../../work/webhooks/secrets.ts'
import {
  noDelivery,
  readDelivery,
  readDroppedFilter,
} from '../../../endpoints/webhooks/webhook-schemas.ts'
import type { HandlersOf } from '../../handler.ts'
import { found } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import { selectAccountCurrency } from '../account-store.ts'
import type { webhooksContract } from './contract.ts'
import { readDeliveryBody, selectDeliveryList } from './store.ts'

const BODY_BYTES_MAX = 64 * 1024

function describeSecret({ current, previousUntil }: WebhookSecret) {
  return { secret: current, previous_valid_until: previousUntil ?? null }
}

async function readSecret({ sql, webhooks }: AdminServices, accountId: string) {
  found(await selectAccountCurrency(sql, accountId), 'account')
  return await webhooks.secret(accountId)
}

export const webhooksHandlers: HandlersOf<typeof webhooksContract> = {
  async 'GET /accounts/:account_id/webhooks/secret'({ params }, services) {
    const secret = await readSecret(services, params.account_id)
    return describeSecret({ ...secret, current: `whsec_${maskSecret(secret.current)}` })
  },
  async 'POST /accounts/:account_id/webhooks/secret/reveal'({ params }, services) {
    return describeSecret(await readSecret(services, params.account_id))
  },
  async 'POST /accounts/:account_id/webhooks/secret/rotate'({ params }, services) {
    await readSecret(services, params.account_id)
    return describeSecret(await services.webhooks.rotate(params.account_id))
  },
  async 'GET /accounts/:account_id/webhooks/deliveries'({ params, query }, { sql }) {
    const { limit, cursor: after, status: state, task_id: taskId, ...rest } = query
    const filter = { ...rest, accountId: params.account_id, limit: limit + 1, after, state, taskId }
    return toPage(await selectDeliveryList(sql, filter), limit, 'id')
  },
  async 'GET /accounts/:account_id/webhooks/deliveries/:delivery_id'({ params }, services) {
    const { account_id: accountId, delivery_id: id } = params
    const row = await services.webhooks.find(accountId, id)
    if (!row) throw noDelivery()
    const body = await readDeliveryBody(services.sql, accountId, id, BODY_BYTES_MAX)
    return { ...readDelivery(row), body: body?.toString('utf8') ?? null }
  },
  async 'POST /accounts/:account_id/webhooks/deliveries/:delivery_id/redeliver'(
    { params, note },
    { webhooks },
  ) {
    const row = await webhooks.redeliver(params.account_id, params.delivery_id)
    if (!row) throw noDelivery()
    note({ new_delivery_id: row.id })
    return readDelivery(row)
  },
  async 'POST /accounts/:account_id/webhooks/deliveries/redeliver'(input, { webhooks }) {
    const { params, body, note } = input
    const filter = { ...readDroppedFilter(body), accountId: params.account_id }
    const answer = await webhooks.redeliverDropped(filter, body.dry_run === true)
    note({ ...body, redelivered: answer.redelivered })
    return answer
  },
  async 'POST /accounts/:account_id/webhooks/test'({ params, body, note }, { webhooks, guard }) {
    const refusal = await guard.checkUrl(body.url)
    if (refusal !== undefined) throw invalidField('url', refusal)
    const row = await webhooks.test(params.account_id, body.url)
    note({ delivery_id: row.id })
    return readDelivery(row)
  },
}
