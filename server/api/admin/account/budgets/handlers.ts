/** Lists, creates, changes and deletes budgets. */

import { toPage } from '../../../../base/http/page.ts'
import { GatewayError, invalidField } from '../../../../base/lib/errors.ts'
import { AMOUNT_PROBLEM, parseAmount } from '../../../../base/lib/money.ts'
import type { OperatorError } from '../../../../base/lib/operator-error.ts'
import type { BudgetUnit, SetBy } from '../../../../money/ledger/budgets/budget.ts'
import {
  addBudget,
  changeBudget,
  listBudgets,
  removeBudget,
} from '../../../../money/ledger/budgets/budgets.ts'
import { describeBudget } from '../../../../money/ledger/budgets/describe.ts'
import { listSpendLimits } from '../../../../money/ledger/budgets/spend-limits.ts'
import type { HandlersOf } from '../../handler.ts'
import { refuseAs } from '../../operator-failure.ts'
import { found } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import { refuseUnlistedModels } from '../unlisted-models.ts'
import type { budgetsContract } from './contract.ts'

interface BudgetParams {
  readonly account_id: string
  readonly budget_id: string
}

interface Signed {
  readonly session: { readonly user: { readonly operator: boolean } }
}

/** Throws the 404 that foreign and unknown ids share. */
async function readBudget({ sql }: AdminServices, params: BudgetParams) {
  const rows = await listBudgets(sql, { id: params.budget_id, accountId: params.account_id })
  return found(rows[0], 'budget')
}

function setterOf({ session }: Signed): SetBy {
  return session.user.operator ? 'operator' : 'owner'
}

/** Throws a 400 for a value that is not an amount of the unit. */
function readQuantity(unit: BudgetUnit, text: string): bigint {
  if (unit !== 'money' && /^\d+$/.test(text)) return BigInt(text)
  const nanos = unit === 'money' ? parseAmount(text) : undefined
  if (nanos !== undefined) return nanos
  throw invalidField('amount', unit === 'money' ? AMOUNT_PROBLEM : 'must be a whole number')
}

const isKeyId = (id: string) => id.startsWith('key_')

/** Field names in OperatorError messages, with their names in this API. */
const PARAMS: Readonly<Record<string, string>> = { tag: 'subject' }

/**
 * Returns the 400 of a refusal. It names the field if the message begins with one: `thresholds: at
 * most …`.
 */
function refuse(error: OperatorError): GatewayError {
  const [, name, problem] = /^([a-z_]+): (.+)$/s.exec(error.message) ?? []
  if (name === undefined || problem === undefined) {
    return new GatewayError('invalid_request', { message: error.message, cause: error })
  }
  return invalidField(PARAMS[name] ?? name, problem)
}

export const budgetsHandlers: HandlersOf<typeof budgetsContract> = {
  async 'GET /accounts/:account_id/budgets'({ params, query }, { sql }) {
    const { limit, cursor, scope, key: keyId, search, full: isFull } = query
    const accountId = params.account_id
    const filter = { search, keyId, isFull }
    const isBehind = cursor !== undefined && isKeyId(cursor)
    const budgets = isBehind
      ? []
      : await listBudgets(sql, { ...filter, accountId, scope, limit: limit + 1, after: cursor })
    const rows = budgets.map(describeBudget)
    // The spend limits of keys are listed after the last budget.
    if (rows.length <= limit && (scope === undefined || scope === 'key')) {
      const after = isBehind ? cursor : undefined
      const more = { ...filter, after, limit: limit + 1 - rows.length }
      rows.push(...(await listSpendLimits(sql, accountId, more)))
    }
    return toPage(rows, limit, 'id')
  },
  async 'GET /accounts/:account_id/budgets/:budget_id'({ params }, services) {
    const { account_id: accountId, budget_id: id } = params
    if (!isKeyId(id)) return describeBudget(await readBudget(services, params))
    return found((await listSpendLimits(services.sql, accountId, { id }))[0], 'budget')
  },
  async 'POST /accounts/:account_id/budgets'({ params, body, note, session }, { sql }) {
    const { amount, max_end_users: most, ...terms } = body
    await refuseUnlistedModels(sql, body.models)
    const created = await refuseAs(
      addBudget(sql, {
        ...terms,
        accountId: params.account_id,
        amount: readQuantity(body.unit, amount),
        end_users_max: most,
        setBy: setterOf({ session }),
      }),
      refuse,
    )
    note({ budget_id: created.id })
    return describeBudget(created)
  },
  async 'PATCH /accounts/:account_id/budgets/:budget_id'(request, services) {
    const { params, body, note, session } = request
    const stored = await readBudget(services, params)
    const { amount, ...rest } = body
    const change = {
      ...rest,
      ...(amount === undefined ? {} : { amount: readQuantity(stored.unit, amount) }),
    }
    note({ ...body })
    const setBy = setterOf({ session })
    const changed = changeBudget(services.sql, stored.id, { change, setBy })
    return describeBudget(await refuseAs(changed, refuse))
  },
  async 'DELETE /accounts/:account_id/budgets/:budget_id'({ params, session }, services) {
    const { id } = await readBudget(services, params)
    const removed = removeBudget(services.sql, id, setterOf({ session }))
    return describeBudget(await refuseAs(removed, refuse))
  },
}
