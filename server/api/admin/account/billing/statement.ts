/**
 * A statement: the balance before and after a period, and what happened in between, from one
 * snapshot, so that it adds up while calls go on.
 */
import type { Sql } from 'postgres'
import { invalidField } from '../../../../base/lib/errors.ts'
import { readSeries, readTop } from '../../../../money/usage/figures-store.ts'
import { found } from '../../refusal.ts'
import { type StatementCredit, selectCreditsSince, selectTotal } from './statement-store.ts'

const DAY_MS = 86_400_000
const QUARTER_MS = 900_000
const DAYS_MAX = 400
const MODELS_MAX = 100

interface Period {
  readonly from: Date
  readonly to: Date
  readonly timeZone: string
}

export async function readStatement(sql: Sql, accountId: string, period: Period) {
  const { timeZone } = period
  // Charges are counted by the quarter of an hour, with which the days of every zone begin.
  const from = new Date(Math.floor(period.from.getTime() / QUARTER_MS) * QUARTER_MS)
  const to = new Date(Math.ceil(period.to.getTime() / QUARTER_MS) * QUARTER_MS)
  if (period.to.getTime() <= period.from.getTime()) throw invalidField('to', 'must be after from')
  if (period.to.getTime() - period.from.getTime() > DAYS_MAX * DAY_MS) {
    throw invalidField('from', `at most ${DAYS_MAX} days before to`)
  }
  return await sql.begin('isolation level repeatable read read only', async (transaction) => {
    // The transaction runs the same statements as a connection.
    const view = transaction as unknown as Sql
    const total = found(await selectTotal(view, accountId), 'account')
    const until = new Date(Math.max(Date.now(), to.getTime()) + QUARTER_MS)
    const by = { step: 'day', timeZone } as const
    const charges = await readSeries(view, { accountId, from, to }, by)
    const later = await readSeries(view, { accountId, from: to, to: until }, by)
    const models = await readTop(view, { accountId, from, to }, 'model', MODELS_MAX)
    const allCredits = await selectCreditsSince(view, { accountId, from, timeZone })
    const credits = allCredits.filter((one) => one.created_at < to)
    const sum = (rows: readonly { readonly amount: bigint }[]) =>
      rows.reduce((all, { amount }) => all + amount, 0n)
    const charged = (rows: readonly { readonly charged: bigint }[]) =>
      rows.reduce((all, row) => all + row.charged, 0n)
    const closing = total.total + charged(later) - (sum(allCredits) - sum(credits))
    const opening = closing + charged(charges) - sum(credits)
    return {
      currency: total.currency,
      from,
      to,
      opening,
      charged: charged(charges),
      credited: sum(credits),
      closing,
      days: listDays(opening, charges, credits),
      credits,
      models: models.map(({ name: model, ...row }) => ({ ...row, model })),
    }
  })
}

interface DayCharges {
  readonly at: Date
  readonly calls: bigint
  readonly charged: bigint
}

/** Newest first, each with the balance at its end. */
function listDays(
  opening: bigint,
  charges: readonly DayCharges[],
  credits: readonly StatementCredit[],
) {
  const days = new Map<number, { calls: bigint; charged: bigint; credited: bigint }>()
  const dayOf = (at: Date) => {
    const known = days.get(at.getTime()) ?? { calls: 0n, charged: 0n, credited: 0n }
    days.set(at.getTime(), known)
    return known
  }
  for (const { at, calls, charged } of charges) Object.assign(dayOf(at), { calls, charged })
  for (const { day, amount } of credits) dayOf(day).credited += amount
  let balance = opening
  return [...days]
    .sort(([one], [other]) => one - other)
    .map(([at, { calls, charged, credited }]) => {
      balance += credited - charged
      return { at: new Date(at), calls, charged, credited, balance_after: balance }
    })
    .reverse()
}
