/** The entries of a list: a rule for all models, and one for each that it names. */
import { Select, Stack, TextInput } from '@mantine/core'
import { memo } from 'react'
import { CheckedRow } from '../../components/fields/checked-row.tsx'
import { useFieldErrors } from '../../components/fields/refused-fields.ts'
import { NEW_PRICE } from '../../components/form/prices/price-draft.ts'
import { PriceRows, replaceAt } from '../../components/form/prices/price-rows.tsx'
import { AddRow, RemoveRow } from '../../components/form/prices/row-buttons.tsx'
import { useStable } from '../../lib/hooks/use-stable.ts'
import { useMessages } from '../../lib/i18n.tsx'
import {
  type EntryDraft,
  entryParam,
  KINDS,
  NEW_ENTRY,
  type RuleDraft,
  type RuleKind,
  type TermsDraft,
} from './draft.ts'
import { messages } from './messages.ts'
import { ModelSelect } from './model-select.tsx'

interface TermsFieldsProps {
  /** Before the server's names of fields: '' or `planned_prices[0].`. */
  readonly at: string
  readonly terms: TermsDraft
  readonly onChange: (changes: Partial<TermsDraft>) => void
}

export function TermsFields({ at, terms, onChange }: TermsFieldsProps) {
  const t = useMessages(messages)
  const { entries } = terms
  const set = useStable((index: number, entry: EntryDraft) =>
    onChange({ entries: replaceAt(entries, index, entry) }),
  )
  const remove = useStable((index: number) =>
    onChange({ entries: entries.filter((_, place) => place !== index) }),
  )
  return (
    <Stack gap="xs">
      <CheckedRow fields={[{ param: `${at}default`, label: t('default') }]} gap={6}>
        <RuleFields
          param={`${at}default`}
          label={t('default')}
          rule={terms.default}
          kinds={KINDS.filter((kind) => kind !== 'prices')}
          same={at === '' ? t('asParent') : t('asOtherwise')}
          onChange={(rule) => onChange({ default: { ...terms.default, ...rule } })}
        />
      </CheckedRow>
      {entries.map((entry, index) => (
        <EntryFields
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place while it is edited
          key={index}
          param={entryParam(at, entry.model, index)}
          index={index}
          entry={entry}
          set={set}
          remove={remove}
        />
      ))}
      <AddRow label={t('addEntry')} onAdd={() => onChange({ entries: [...entries, NEW_ENTRY] })} />
    </Stack>
  )
}

interface EntryFieldsProps {
  readonly param: string
  readonly index: number
  readonly entry: EntryDraft
  readonly set: (index: number, entry: EntryDraft) => void
  readonly remove: (index: number) => void
}

/** A list may name every model: typing in one entry renders no other. */
const EntryFields = memo(function EntryFields(props: EntryFieldsProps) {
  const { param, index, entry, set, remove } = props
  const t = useMessages(messages)
  const onChange = (change: Partial<EntryDraft>) => set(index, { ...entry, ...change })
  const error = useFieldErrors()(param, true)
  return (
    <>
      <CheckedRow
        fields={[
          { param, label: entry.model || t('model'), isExact: true },
          { param: `${param}.factor`, label: t('factor') },
        ]}
        gap={6}
      >
        <ModelSelect
          label={t('model')}
          error={error}
          value={entry.model}
          onChange={(model) => onChange({ model })}
        />
        <RuleFields
          param={param}
          label={t('prices')}
          rule={entry}
          kinds={KINDS.filter((kind) => kind !== 'same')}
          same={t('asParent')}
          onChange={(change) => {
            const isFirst = change.kind === 'prices' && entry.prices.length === 0
            onChange(isFirst ? { ...change, prices: [NEW_PRICE] } : change)
          }}
        />
        <RemoveRow onRemove={() => remove(index)} />
      </CheckedRow>
      {entry.kind === 'prices' ? (
        <PriceRows
          param={param}
          title={t('pricesOf', { model: entry.model || t('model') })}
          act={t('addPrice')}
          rows={entry.prices}
          onChange={(prices) => onChange({ prices })}
        />
      ) : null}
    </>
  )
})

interface RuleFieldsProps {
  readonly param: string
  readonly label: string
  readonly rule: RuleDraft
  readonly kinds: readonly RuleKind[]
  /** The word for no rule. */
  readonly same: string
  readonly onChange: (rule: Partial<RuleDraft>) => void
}

function RuleFields({ param, label, rule, kinds, same, onChange }: RuleFieldsProps) {
  const t = useMessages(messages)
  const error = useFieldErrors()(`${param}.factor`)
  const words = {
    same,
    parent: t('byParent'),
    cost: t('byCost'),
    prices: t('byPrices'),
    hidden: t('hidden'),
  }
  const hasFactor = rule.kind === 'parent' || rule.kind === 'cost'
  return (
    <>
      <Select
        label={label}
        size="xs"
        w={200}
        allowDeselect={false}
        data={kinds.map((value) => ({ value, label: words[value] }))}
        value={rule.kind}
        onChange={(chosen) => {
          const kind = kinds.find((one) => one === chosen)
          if (kind !== undefined) onChange({ kind })
        }}
      />
      {hasFactor ? (
        <TextInput
          label={t('factor')}
          size="xs"
          w={90}
          placeholder="0.9"
          inputMode="decimal"
          error={error}
          value={rule.factor}
          onChange={({ currentTarget }) => onChange({ factor: currentTarget.value })}
        />
      ) : null}
    </>
  )
}
