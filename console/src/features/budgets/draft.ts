/** The fields of a budget while they are edited, their check, and the request body. */
import type { RefusedField } from '../../components/fields/refused-fields.ts'
import type { RequestOf } from '../../lib/api.ts'
import { plainNumber } from '../../lib/nanos.ts'
import type { AccountBudget } from './budget.ts'
import type { messages } from './messages.ts'

type Body = RequestOf<'POST /accounts/:account_id/budgets'>['body']

export interface BudgetDraft {
  readonly scope: AccountBudget['scope']
  /** The id of a key, the address of a member, or a tag. */
  readonly subject: string
  readonly unit: AccountBudget['unit']
  readonly amount: string
  readonly period: AccountBudget['period']
  readonly timeZone: string
  readonly weekStart: number
  readonly models: readonly string[]
  readonly action: AccountBudget['action']
  /** Percentages as they were typed. */
  readonly thresholds: readonly string[]
  readonly maxEndUsers: string
}

export function newDraft(keyId: string): BudgetDraft {
  return {
    scope: keyId === '' ? 'account' : 'key',
    subject: keyId,
    unit: 'money',
    amount: '',
    period: 'month',
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    weekStart: 1,
    models: [],
    action: 'refuse',
    thresholds: ['50', '80', '100'],
    maxEndUsers: '',
  }
}

export function toDraft(budget: AccountBudget): BudgetDraft {
  return {
    scope: budget.scope,
    subject: budget.subject ?? '',
    unit: budget.unit,
    amount: budget.amount,
    period: budget.period,
    timeZone: budget.time_zone,
    weekStart: budget.week_start,
    models: budget.models ?? [],
    action: budget.action,
    thresholds: budget.thresholds.map(String),
    maxEndUsers: String(budget.max_end_users ?? ''),
  }
}

const needsSubject = ({ scope }: Pick<BudgetDraft, 'scope'>) =>
  scope === 'key' || scope === 'member' || scope === 'tag'

type Word = keyof (typeof messages)['en'] & `${'bad' | 'needed'}${string}`

const MOST_USERS = 1_000_000
const MOST_THRESHOLDS = 10
const MOST_PERCENT = 1_000

const isWithin = (text: string, most: number) =>
  /^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= most

/** Returns every field that is wrong, by the server's names, so that all are marked at once. */
export function checkDraft(
  draft: BudgetDraft,
  textOf: (word: Word) => string,
): readonly RefusedField[] {
  const amount = plainNumber(draft.amount)
  const isMoney = draft.unit === 'money'
  const isAmount = isMoney ? /^\d{1,9}(\.\d{1,9})?$/ : /^\d{1,18}$/
  const thresholds = draft.thresholds.map(plainNumber)
  const areThresholds =
    thresholds.length <= MOST_THRESHOLDS && thresholds.every((one) => isWithin(one, MOST_PERCENT))
  const most = plainNumber(draft.maxEndUsers)
  const checks: readonly (readonly [param: string, isWrong: boolean, word: Word])[] = [
    ['subject', needsSubject(draft) && draft.subject.trim() === '', 'needed'],
    ['amount', amount === '', 'needed'],
    ['amount', !isAmount.test(amount), isMoney ? 'badMoney' : 'badCount'],
    ['time_zone', !isZone(draft.timeZone), 'badZone'],
    ['thresholds', !areThresholds, 'badThresholds'],
    ['max_end_users', most !== '' && !isWithin(most, MOST_USERS), 'badMost'],
  ]
  const wrong = checks.filter(([, isWrong]) => isWrong)
  return wrong
    .filter(([param], at) => wrong.findIndex(([first]) => first === param) === at)
    .map(([param, , word]) => ({ param, text: textOf(word) }))
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return name !== ''
  } catch {
    return false
  }
}

/** The members that can be changed later. */
export function toChange(draft: BudgetDraft) {
  return {
    amount: plainNumber(draft.amount),
    action: draft.action,
    thresholds: draft.thresholds.map((one) => Number(plainNumber(one))),
  }
}

export function toBody(draft: BudgetDraft): Body {
  const most = plainNumber(draft.maxEndUsers)
  return {
    ...toChange(draft),
    scope: draft.scope,
    subject: needsSubject(draft) ? draft.subject : '',
    unit: draft.unit,
    period: draft.period,
    time_zone: draft.timeZone,
    week_start: draft.weekStart,
    models: draft.models.length > 0 ? [...draft.models] : null,
    ...(draft.scope === 'end_user' && most !== '' ? { max_end_users: Number(most) } : {}),
  }
}
