/** A price list as form values: its check, and its conversion to a request. */
import type { RefusedField } from '../../components/fields/refused-fields.ts'
import {
  type PriceDraft,
  toPriceDraft,
  toPrices,
} from '../../components/form/prices/price-draft.ts'
import type { AdminAnswer } from '../../lib/api.ts'
import { fromLocalField, toLocalField } from '../../lib/format.ts'
import { plainNumber } from '../../lib/nanos.ts'
import type { messages } from './messages.ts'

export type EditedList = AdminAnswer<'GET /operator/price-lists/:list_id'>
export type ListTerms = Pick<EditedList, 'default' | 'prices' | 'planned_prices'>
type Entry = ListTerms['prices'][string]
type Rule = NonNullable<ListTerms['default']>

/** `same` is no entry: the parent's prices. */
export const KINDS = ['same', 'parent', 'cost', 'prices', 'hidden'] as const
export type RuleKind = (typeof KINDS)[number]

export interface RuleDraft {
  readonly kind: RuleKind
  readonly factor: string
}

export interface EntryDraft extends RuleDraft {
  readonly model: string
  readonly prices: readonly PriceDraft[]
}

/** The entries of a list, for good or for a time. */
export interface TermsDraft {
  readonly default: RuleDraft
  readonly entries: readonly EntryDraft[]
}

export interface PlanDraft extends TermsDraft {
  /** Local times without a zone, the format of the browser's input. */
  readonly from: string
  readonly until: string
  /** As they were read, to the second: what is not edited is sent as it was. */
  readonly stored?: { readonly from: string; readonly until?: string | undefined }
}

export interface ListDraft extends TermsDraft {
  readonly plans: readonly PlanDraft[]
}

const NO_RULE: RuleDraft = { kind: 'same', factor: '' }
export const NEW_ENTRY: EntryDraft = { model: '', kind: 'parent', factor: '', prices: [] }
export const NEW_PLAN: PlanDraft = { from: '', until: '', default: NO_RULE, entries: [NEW_ENTRY] }
export const NEW_LIST: ListDraft = {
  default: { kind: 'parent', factor: '' },
  entries: [],
  plans: [],
}
export const NO_TERMS: ListDraft = { default: NO_RULE, entries: [], plans: [] }

export function toListDraft(list: ListTerms): ListDraft {
  return {
    ...toTermsDraft(list),
    plans: (list.planned_prices ?? []).map((plan) => ({
      ...toTermsDraft(plan),
      from: toLocalField(new Date(plan.from)),
      until: plan.until ? toLocalField(new Date(plan.until)) : '',
      stored: { from: plan.from, until: plan.until },
    })),
  }
}

function toTermsDraft(terms: Pick<ListTerms, 'default' | 'prices'>): TermsDraft {
  return {
    default: terms.default === undefined ? NO_RULE : toRuleDraft(terms.default),
    entries: Object.entries(terms.prices).map(([model, entry]) => ({
      model,
      ...toRuleDraft(entry),
      prices: Array.isArray(entry) ? entry.map(toPriceDraft) : [],
    })),
  }
}

function toRuleDraft(entry: Entry | Rule): RuleDraft {
  if (entry === 'hidden') return { kind: 'hidden', factor: '' }
  if (Array.isArray(entry)) return { kind: 'prices', factor: '' }
  return { kind: entry.of, factor: entry.factor }
}

/** Returns the members of a request. */
export function toListBody({ plans, ...terms }: ListDraft) {
  return {
    ...toTerms(terms),
    planned_prices: plans.map(({ from, until, stored, ...planned }) => ({
      from: toTime(from, stored?.from),
      ...(until === '' ? {} : { until: toTime(until, stored?.until) }),
      ...toTerms(planned),
    })),
  }
}

function toTime(field: string, stored: string | undefined): string {
  const isEdited = stored === undefined || toLocalField(new Date(stored)) !== field
  return isEdited ? fromLocalField(field) : stored
}

function toTerms({ default: rule, entries }: TermsDraft) {
  const all = rule.kind === 'same' ? {} : { default: toEntry({ ...NEW_ENTRY, ...rule }) }
  const named = entries.map((entry) => [entry.model, toEntry(entry)] as const)
  return { ...all, prices: Object.fromEntries(named) }
}

function toEntry({ kind, factor, prices }: EntryDraft) {
  if (kind === 'hidden') return 'hidden'
  if (kind === 'prices') return toPrices(prices)
  // What is as the parent's is once the parent's.
  return kind === 'same' ? { of: 'parent', factor: '1' } : { of: kind, factor: plainNumber(factor) }
}

type Word = 'needed' | 'badFactor' | 'badAmount' | 'noPrices' | 'badTime' | 'badUntil' | 'twice'
type Mistake = readonly [param: string, word: Word & keyof (typeof messages)['en']]

/** Returns every field that is wrong, by the server's names, so that all are marked at once. */
export function checkList(
  list: ListDraft,
  textOf: (word: Word) => string,
): readonly RefusedField[] {
  const mistakes = [...checkTerms(list, ''), ...list.plans.flatMap(checkPlan)]
  return mistakes.map(([param, word]) => ({ param, text: textOf(word) }))
}

function checkPlan(plan: PlanDraft, index: number): Mistake[] {
  const at = `planned_prices[${index}]`
  const isBackward = plan.until !== '' && plan.until <= plan.from
  return [
    ...(plan.from === '' ? [[`${at}.from`, 'badTime'] as const] : []),
    ...(isBackward ? [[`${at}.until`, 'badUntil'] as const] : []),
    ...checkTerms(plan, `${at}.`),
  ]
}

function checkTerms({ default: rule, entries }: TermsDraft, at: string): Mistake[] {
  const names = entries.map(({ model }) => model)
  return [
    ...checkFactor(rule, `${at}default.factor`),
    ...entries.flatMap((entry, index): Mistake[] => {
      const place = entryParam(at, entry.model, index)
      if (entry.model === '') return [[place, 'needed']]
      if (names.indexOf(entry.model) < index) return [[place, 'twice']]
      if (entry.kind !== 'prices') return checkFactor(entry, `${place}.factor`)
      if (entry.prices.length === 0) return [[place, 'noPrices']]
      return entry.prices.flatMap(({ amount }, row): Mistake[] =>
        isAmount(amount) ? [] : [[`${place}[${row}].amount`, 'badAmount']],
      )
    }),
  ]
}

/** The server's name of an entry; without a model it has none. */
export function entryParam(at: string, model: string, index: number): string {
  return `${at}prices.${model === '' ? `#${index}` : model}`
}

const isAmount = (text: string) => /^\d{1,9}(\.\d{1,9})?$/.test(plainNumber(text))

function checkFactor({ kind, factor }: RuleDraft, param: string): Mistake[] {
  if (kind !== 'parent' && kind !== 'cost') return []
  const given = plainNumber(factor)
  if (given === '') return [[param, 'needed']]
  return /^\d{1,6}(\.\d{1,6})?$/.test(given) ? [] : [[param, 'badFactor']]
}
