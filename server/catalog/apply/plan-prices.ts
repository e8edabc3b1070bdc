/** Planned prices that operators add and withdraw one at a time; see apply-plans.ts for files. */
import type { Sql, TransactionSql } from 'postgres'
import { formatAmount, parseAmount } from '../../lib/money.ts'
import { OperatorError } from '../../lib/operator-error.ts'
import { describeFileProblems } from '../mistakes.ts'
import {
  bumpRevision,
  listPlanned,
  lockCatalog,
  type ModelRow,
  readMoment,
  type StoredPrice,
  selectModels,
  withdrawPrice,
} from '../store.ts'
import { applyPlans } from './apply-plans.ts'
import { CatalogError } from './file.ts'
import { type FilePlan, planOf } from './file-schema.ts'

/** The source of prices planned outside of any file. */
const SOURCE = 'console'

/**
 * Plans prices for a model, replacing a plan for the same time. `plan` has the members of an entry
 * of `planned_prices` in a catalog file. Throws OperatorError, or CatalogError with the path of
 * each mistake.
 */
export async function planPrices(sql: Sql, modelId: string, plan: unknown): Promise<void> {
  await sql.begin(async (transaction) => {
    await lockCatalog(transaction)
    const model = (await selectModels(transaction)).find(({ id }) => id === modelId)
    if (model?.status !== 'active') throw new OperatorError(`there is no model ${modelId}`)
    if (model.free)
      throw new OperatorError('a free model cannot have planned prices: give it prices first')
    const { effective_from: from, prices } = readPlan(model, plan)
    const effectiveFrom = new Date(from)
    await refusePast(transaction, effectiveFrom)
    const others = await listPlanned(transaction)
    const atOnce = others.filter(
      (row) => row.model_id === modelId && row.effective_from.getTime() === effectiveFrom.getTime(),
    )
    await applyPlans(
      transaction,
      {
        modelId,
        currency: model.currency,
        source: SOURCE,
        plans: [{ effectiveFrom, prices: prices.map(store) }],
      },
      atOnce,
    )
    await bumpRevision(transaction)
  })
}

function readPlan(model: Pick<ModelRow, 'type' | 'details'>, plan: unknown): FilePlan {
  const parsed = planOf(model).safeParse(plan)
  if (parsed.success) return parsed.data
  throw new CatalogError(describeFileProblems('the request', parsed.error))
}

async function refusePast(sql: TransactionSql, effectiveFrom: Date): Promise<void> {
  const { at } = await readMoment(sql)
  if (effectiveFrom.getTime() > at.getTime()) return
  const problem = 'must be in the future: to change the current prices, edit the model'
  throw new CatalogError([{ file: 'the request', path: 'effective_from', problem }])
}

function store({ unit, per, amount, when }: FilePlan['prices'][number]): StoredPrice {
  const stored = { unit, per, amount: formatAmount(parseAmount(amount) ?? 0n), when }
  return JSON.parse(JSON.stringify(stored))
}

/** Withdraws a planned price. Returns false if it does not exist or has taken effect. */
export async function withdrawPlan(sql: Sql, modelId: string, version: bigint): Promise<boolean> {
  return await sql.begin(async (transaction) => {
    await lockCatalog(transaction)
    const withdrawn = await withdrawPrice(transaction, modelId, version)
    if (withdrawn) await bumpRevision(transaction)
    return withdrawn
  })
}
