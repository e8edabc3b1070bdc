/** Lists, creates, changes and deletes budgets. */

import { invalidField } from '../../../../base/lib/errors.ts'
import { parseAmount } from '../../../../base/lib/money.ts'
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
import { withOperatorErrors } from '../../operator-failure.ts'
import { found } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
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

/** Throws a 400 for what is no amount of the unit. */
function readQuantity(unit: BudgetUnit, text: string): bigint {
  if (unit !== 'money' && /^\d+$/.test(text)) return BigInt(text)
  const nanos = unit === 'money' ? parseAmount(text) : undefined
  if (nanos !== undefined) return nanos
  throw invalidField('amount', unit === 'money' ? 'must be an amount' : 'must be a whole number')
}

export const budgetsHandlers: HandlersOf<typeof budgetsContract> = {
  async 'GET /accounts/:account_id/budgets'({ params }, { sql }) {
    const accountId = params.account_id
    const budgets = (await listBudgets(sql, { accountId })).map(describeBudget)
    return { data: [...budgets, ...(await listSpendLimits(sql, accountId))] }
  },
  async 'POST /accounts/:account_id/budgets'({ params, body, note, session }, { sql }) {
    const { amount, max_end_users: most, ...terms } = body
    const created = await withOperatorErrors(
      addBudget(sql, {
        ...terms,
        accountId: params.account_id,
        amount: readQuantity(body.unit, amount),
        end_users_max: most,
        setBy: setterOf({ session }),
      }),
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
    return describeBudget(await withOperatorErrors(changed))
  },
  async 'DELETE /accounts/:account_id/budgets/:budget_id'({ params, session }, services) {
    const { id } = await readBudget(services, params)
    const removed = removeBudget(services.sql, id, setterOf({ session }))
    return describeBudget(await withOperatorErrors(removed))
  },
}
