/** Planned prices that operators add and withdraw one at a time; see apply-plans.ts for files. */
import { isDeepStrictEqual } from 'node:util'
import type { Sql, TransactionSql } from 'postgres'
import { OperatorError } from '../../../base/lib/operator-error.ts'
import { inOrder, type PricePlan, pricePlanOf } from '../definition.ts'
import { describeFileProblems } from '../mistakes.ts'
import {
  bumpRevision,
  listPlanned,
  lockCatalog,
  type ModelRow,
  type PlannedRow,
  readBegunPrices,
  readMoment,
  selectModels,
  withdrawPrice,
} from '../store.ts'
import { derivePrices } from './apply-lists.ts'
import { comparePlans, isAtOnce, savePlans } from './apply-plans.ts'
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
    const read = readPlan(model, plan)
    await refusePast(transaction, read)
    const all = (await listPlanned(transaction)).filter((row) => row.model_id === modelId)
    const before = findEnd(read, model, all)
    const earlier = [
      ...(await readBegunPrices(transaction, modelId)),
      ...all.filter((row) => row.effective_from < new Date(read.effective_from)).map(pricesOf),
    ]
    const replaced = all.find((row) => isAtOnce(read, row))
    // Prices that would return at the start, as another plan ends then, return at the end.
    const isReturn = replaced !== undefined && includes(earlier, replaced)
    const others = all.filter((row) => row !== before && (isReturn || row !== replaced))
    refuseReturn(read, replaced ? [...earlier, replaced.prices] : earlier, others)
    const plans = withEnd(read, model, others)
    const atOnce = all.filter((row) => row === before || plans.some((plan) => isAtOnce(plan, row)))
    const { currency } = model
    const desired = { modelId, currency, source: SOURCE, plans }
    await savePlans(transaction, desired, comparePlans(desired, atOnce))
    await derivePrices(transaction, [])
    await bumpRevision(transaction)
  })
}

/**
 * Returns the end of the plan that is replaced: from then on, prices are as if there were neither
 * plan.
 */
function findEnd(
  plan: FilePlan,
  model: ModelRow,
  planned: readonly PlannedRow[],
): PlannedRow | undefined {
  const rows = planned.toSorted((a, b) => a.effective_from.getTime() - b.effective_from.getTime())
  const index = rows.findIndex((row) => isAtOnce(plan, row))
  if (index === -1) return undefined
  const before = rows[index - 1]?.prices ?? model.prices ?? []
  const next = rows[index + 1]
  return next && isDeepStrictEqual(next.prices, before) ? next : undefined
}

/** Returns the plan, followed at its end by the prices that would then be in force without it. */
function withEnd(
  { until, ...plan }: FilePlan,
  model: ModelRow,
  planned: readonly PlannedRow[],
): PricePlan[] {
  if (until === undefined || planned.some((row) => row.effective_from.toISOString() === until)) {
    return [plan]
  }
  const last = inOrder(planned.map(pricePlanOf)).findLast(
    ({ effective_from: from }) => from < until,
  )
  return [plan, { effective_from: until, prices: last?.prices ?? model.prices ?? [] }]
}

function readPlan(model: Pick<ModelRow, 'type' | 'details'>, plan: unknown): FilePlan {
  const parsed = planOf(model).safeParse(plan)
  if (parsed.success) return parsed.data
  throw new CatalogError(describeFileProblems('the request', parsed.error))
}

async function refusePast(sql: TransactionSql, plan: FilePlan): Promise<void> {
  const { at } = await readMoment(sql)
  if (Date.parse(plan.effective_from) > at.getTime()) return
  const problem = 'must be in the future: to change the current prices, edit the model'
  throw new CatalogError([{ file: 'the request', path: 'effective_from', problem }])
}

/**
 * Throws if earlier prices return while the plan is to run, as at the end of another plan: a plan
 * is stored as two changes of price, so its end would end this one, too.
 */
function refuseReturn(
  { effective_from: from, until }: FilePlan,
  earlier: readonly PriceList[],
  planned: readonly PlannedRow[],
): void {
  const next = inOrder(planned.map(pricePlanOf)).find((change) => {
    const { effective_from: at } = change
    const isDuring = at > from && (until === undefined || at < until)
    return isDuring && includes(earlier, change)
  })
  if (!next) return
  const problem =
    `earlier prices return at ${next.effective_from}: end this plan then or before, ` +
    'or withdraw that change first'
  throw new CatalogError([{ file: 'the request', path: 'until', problem }])
}

type PriceList = PricePlan['prices']

const pricesOf = ({ prices }: { readonly prices: PriceList }) => prices

function includes(
  lists: readonly PriceList[],
  { prices }: { readonly prices: PriceList },
): boolean {
  return lists.some((one) => isDeepStrictEqual(one, prices))
}

/** Withdraws a planned price. Returns false if it does not exist or has taken effect. */
export async function withdrawPlan(sql: Sql, modelId: string, version: bigint): Promise<boolean> {
  return await sql.begin(async (transaction) => {
    await lockCatalog(transaction)
    const withdrawn = await withdrawPrice(transaction, modelId, version)
    if (withdrawn) {
      await derivePrices(transaction, [])
      await bumpRevision(transaction)
    }
    return withdrawn
  })
}
