/** Account and credit management of operators. */

import { toPage } from '../../../../base/http/page.ts'
import { invalidField } from '../../../../base/lib/errors.ts'
import { newId } from '../../../../base/lib/ids.ts'
import {
  AMOUNT_PROBLEM,
  formatAmount,
  type Nanos,
  parseAmount,
} from '../../../../base/lib/money.ts'
import {
  createAccount,
  mergeLimits,
  setAccountLimits,
  setAccountStatus,
  showAccount,
} from '../../../../money/accounts/manage-accounts.ts'
import { postCredit } from '../../../../money/ledger/store.ts'
import { describeChange } from '../../describe-change.ts'
import type { HandlersOf } from '../../handler.ts'
import { refuseAs, withOperatorErrors } from '../../operator-failure.ts'
import { noSuch } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import type { operatorAccountsContract } from './contract.ts'
import { renameAccount, selectAccountPage, selectCredits } from './store.ts'

function findAccount({ sql }: AdminServices, id: string) {
  return refuseAs(showAccount(sql, id), () => noSuch('account'))
}

function readAmount(text: string, name: string): Nanos {
  const nanos = parseAmount(text)
  if (nanos === undefined) throw invalidField(name, AMOUNT_PROBLEM)
  return nanos
}

/** PostgreSQL's check_violation: a balance would become negative. */
function isCheckViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23514'
}

/** Absent members stay unchanged, null removes a limit. */
function readLimits(change: Readonly<Record<string, number | null | undefined>>) {
  const named = Object.entries(change).filter(([, limit]) => limit !== undefined)
  return Object.fromEntries(named) as Record<string, number | null>
}

export const operatorAccountsHandlers: HandlersOf<typeof operatorAccountsContract> = {
  async 'GET /operator/accounts'({ query }, { sql }) {
    return toPage(await selectAccountPage(sql, query), query.limit, 'id')
  },

  async 'POST /operator/accounts'({ body, session, note }, { sql }) {
    const { name, currency, balance = '0', limits = {}, price_list: priceList } = body
    const openingBalanceNanos = readAmount(balance, 'balance')
    const newAccount = {
      name,
      currency,
      openingBalanceNanos,
      limits: mergeLimits({}, readLimits(limits)),
      ...(priceList === undefined ? {} : { priceList }),
    }
    const row = await withOperatorErrors(
      createAccount(sql, { ...newAccount, actor: session.user.email }),
    )
    note({ account: row.id, name, balance, currency, price_list: row.price_list })
    return row
  },

  async 'GET /operator/accounts/:account_id'({ params }, services) {
    return await findAccount(services, params.account_id)
  },

  async 'PATCH /operator/accounts/:account_id'({ params, body, note }, services) {
    const { account_id: id } = params
    const before = await findAccount(services, id)
    note(describeChange(before, body))
    if (body.name !== undefined) await renameAccount(services.sql, id, body.name)
    if (body.limits) await setAccountLimits(services.sql, id, readLimits(body.limits))
    return await findAccount(services, id)
  },

  async 'POST /operator/accounts/:account_id/suspend'({ params, body, note }, services) {
    await findAccount(services, params.account_id)
    note({ reason: body.reason })
    return await setAccountStatus(services.sql, params.account_id, 'suspended')
  },

  async 'POST /operator/accounts/:account_id/resume'({ params }, services) {
    await findAccount(services, params.account_id)
    return await setAccountStatus(services.sql, params.account_id, 'active')
  },

  async 'GET /operator/accounts/:account_id/credits'({ params, query }, services) {
    await findAccount(services, params.account_id)
    const filter = { accountId: params.account_id, after: query.cursor, limit: query.limit + 1 }
    return toPage(await selectCredits(services.sql, filter), query.limit, 'id')
  },

  async 'POST /operator/accounts/:account_id/credits'({ params, body, session, note }, services) {
    const { kind, reason, event_id: eventId = null } = body
    const amountNanos = readAmount(body.amount, 'amount')
    if (amountNanos === 0n) throw invalidField('amount', 'zero changes nothing')
    if (amountNanos < 0n && kind !== 'adjustment') {
      throw invalidField('amount', 'only an adjustment can be negative')
    }
    const before = await findAccount(services, params.account_id)
    note({ amount: body.amount, currency: before.currency, kind, reason })
    const credit = { accountId: params.account_id, kind, amountNanos, reason, eventId }
    const posting = postCredit(services.sql, {
      ...credit,
      id: newId('cred'),
      actor: session.user.email,
    }).catch((error) => {
      if (!isCheckViolation(error)) throw error
      const most = kind === 'forgiveness' ? before.debt : before.available
      const limit = `at most ${formatAmount(most)} ${before.currency}`
      throw invalidField(
        'amount',
        kind === 'forgiveness' ? `${limit} is owed` : `${limit} can be taken`,
      )
    })
    const posted = await withOperatorErrors(posting)
    return { posted, account: await findAccount(services, params.account_id) }
  },
}
