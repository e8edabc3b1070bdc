/** The fields of a budget, for creating and for changing one. */

import { Select, TagsInput, TextInput } from '@mantine/core'
import {
  BUDGET_ACTIONS,
  BUDGET_PERIODS,
  BUDGET_SCOPES,
  BUDGET_UNITS,
} from '../../../../server/base/lib/kinds-and-states.ts'
import { CheckedRow } from '../../components/fields/checked-row.tsx'
import { ModelsInput } from '../../components/fields/models-input.tsx'
import { Advanced } from '../../components/form/advanced.tsx'
import { useFieldError } from '../../components/form/checked-form.tsx'
import { weekdayName } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import type { BudgetDraft } from './draft.ts'
import { messages } from './messages.ts'
import { SubjectField } from './subject-field.tsx'

const WEEK = [1, 2, 3, 4, 5, 6, 7] as const
const DEFAULT_THRESHOLDS = ['50', '80', '100']

interface FieldsProps {
  readonly draft: BudgetDraft
  readonly currency: string
  readonly onChange: (draft: BudgetDraft) => void
}

/** The fields of a new budget. */
export function BudgetFields({ draft, currency, onChange }: FieldsProps) {
  const t = useMessages(messages)
  const change = (changes: Partial<BudgetDraft>) => onChange({ ...draft, ...changes })
  return (
    <>
      <OneOf
        label={t('who')}
        names={BUDGET_SCOPES}
        word={(scope) => t(`scope_${scope}`)}
        value={draft.scope}
        onChange={(scope) =>
          // Thousands of end users would send as many alerts.
          change({ scope, subject: '', thresholds: scope === 'end_user' ? [] : DEFAULT_THRESHOLDS })
        }
      />
      <SubjectField draft={draft} onChange={(subject) => change({ subject })} />
      <OneOf
        label={t('unit')}
        names={BUDGET_UNITS}
        word={(unit) => t(`unit_${unit}`)}
        value={draft.unit}
        onChange={(unit) => change({ unit })}
      />
      <AmountField draft={draft} currency={currency} onChange={change} />
      <PeriodFields draft={draft} onChange={change} />
      <ActionFields draft={draft} onChange={change} />
      <ModelsInput
        label={t('models')}
        description={t('modelsHint')}
        placeholder={t('everyModel')}
        error={useFieldError('models')}
        value={draft.models}
        onChange={(models) => change({ models })}
      />
      {draft.scope === 'end_user' ? (
        <Advanced>
          <MostUsersField draft={draft} onChange={change} />
        </Advanced>
      ) : null}
    </>
  )
}

interface PartProps {
  readonly draft: BudgetDraft
  readonly onChange: (changes: Partial<BudgetDraft>) => void
}

export function AmountField(props: PartProps & { readonly currency: string }) {
  const { draft, currency, onChange } = props
  const t = useMessages(messages)
  const isMoney = draft.unit === 'money'
  return (
    <TextInput
      label={t(draft.scope === 'end_user' ? 'limitEach' : 'limit')}
      description={isMoney ? t('amountHint', { currency }) : t(`unit_${draft.unit}`)}
      withAsterisk
      inputMode={isMoney ? 'decimal' : 'numeric'}
      error={useFieldError('amount')}
      value={draft.amount}
      onChange={({ currentTarget }) => onChange({ amount: currentTarget.value })}
    />
  )
}

/** The fields of what happens at the end of a budget, and before it. */
export function ActionFields({ draft, onChange }: PartProps) {
  const t = useMessages(messages)
  return (
    <>
      <OneOf
        label={t('beyond')}
        description={t('beyondHint')}
        names={BUDGET_ACTIONS}
        word={t}
        value={draft.action}
        onChange={(action) => onChange({ action })}
      />
      <TagsInput
        label={t('thresholds')}
        description={t('thresholdsHint')}
        splitChars={[',', ' ', '，', '、']}
        acceptValueOnBlur
        inputMode="numeric"
        error={useFieldError('thresholds')}
        value={[...draft.thresholds]}
        onChange={(thresholds) => onChange({ thresholds })}
      />
    </>
  )
}

function PeriodFields({ draft, onChange }: PartProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const error = useFieldError('time_zone')
  return (
    <>
      <CheckedRow fields={[{ param: 'time_zone', label: t('zone') }]} grow>
        <OneOf
          label={t('period')}
          names={BUDGET_PERIODS}
          word={(period) => t(`period_${period}`)}
          value={draft.period}
          onChange={(period) => onChange({ period })}
        />
        <Select
          label={t('zone')}
          searchable
          limit={100}
          allowDeselect={false}
          disabled={draft.period === 'total'}
          data={zonesWith(draft.timeZone)}
          error={error}
          value={draft.timeZone}
          onChange={(timeZone) => onChange({ timeZone: timeZone ?? 'UTC' })}
        />
      </CheckedRow>
      {draft.period === 'week' ? (
        <OneOf
          label={t('weekStart')}
          names={WEEK.map(String)}
          word={(day) => weekdayName(Number(day), language)}
          value={String(draft.weekStart)}
          onChange={(day) => onChange({ weekStart: Number(day) })}
        />
      ) : null}
    </>
  )
}

function MostUsersField({ draft, onChange }: PartProps) {
  const t = useMessages(messages)
  return (
    <TextInput
      label={t('mostUsers')}
      description={t('mostUsersHint')}
      placeholder="10000"
      inputMode="numeric"
      error={useFieldError('max_end_users')}
      value={draft.maxEndUsers}
      onChange={({ currentTarget }) => onChange({ maxEndUsers: currentTarget.value })}
    />
  )
}

/** The zones that the browser knows, UTC first. */
function zonesWith(chosen: string): readonly string[] {
  return [...new Set(['UTC', chosen, ...Intl.supportedValuesOf('timeZone')])]
}

interface OneOfProps<Name extends string> {
  readonly label: string
  readonly description?: string
  readonly names: readonly Name[]
  readonly word: (name: Name) => string
  readonly value: Name
  readonly onChange: (name: Name) => void
}

/** A choice of one of a few names. */
function OneOf<Name extends string>({ names, word, onChange, ...props }: OneOfProps<Name>) {
  return (
    <Select
      {...props}
      allowDeselect={false}
      data={names.map((value) => ({ value, label: word(value) }))}
      onChange={(chosen) => {
        const name = names.find((one) => one === chosen)
        if (name !== undefined) onChange(name)
      }}
    />
  )
}
