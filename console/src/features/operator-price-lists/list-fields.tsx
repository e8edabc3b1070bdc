/** The prices of a list, and its planned changes. */
import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { CheckedRow } from '../../components/fields/checked-row.tsx'
import { useFieldErrors } from '../../components/fields/refused-fields.ts'
import { replaceAt } from '../../components/form/prices/price-rows.tsx'
import { AddRow } from '../../components/form/prices/row-buttons.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { type ListDraft, NEW_PLAN, type PlanDraft } from './draft.ts'
import { messages } from './messages.ts'
import { TermsFields } from './terms-fields.tsx'

interface ListFieldsProps {
  readonly list: ListDraft
  readonly onChange: (list: ListDraft) => void
}

export function ListFields({ list, onChange }: ListFieldsProps) {
  const t = useMessages(messages)
  const { plans } = list
  return (
    <>
      <TermsFields at="" terms={list} onChange={(changes) => onChange({ ...list, ...changes })} />
      <Stack gap="xs">
        <Title order={3} size="h4">
          {t('planned')}
        </Title>
        <Text size="xs" c="dimmed">
          {t('plannedText')}
        </Text>
        {plans.map((plan, index) => (
          <PlanFields
            // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place while it is edited
            key={index}
            index={index}
            plan={plan}
            onChange={(change) =>
              onChange({ ...list, plans: replaceAt(plans, index, { ...plan, ...change }) })
            }
            onRemove={() =>
              onChange({ ...list, plans: plans.filter((_, place) => place !== index) })
            }
          />
        ))}
        <AddRow
          label={t('addPlan')}
          onAdd={() => onChange({ ...list, plans: [...plans, NEW_PLAN] })}
        />
      </Stack>
    </>
  )
}

interface PlanFieldsProps {
  readonly index: number
  readonly plan: PlanDraft
  readonly onChange: (change: Partial<PlanDraft>) => void
  readonly onRemove: () => void
}

function PlanFields({ index, plan, onChange, onRemove }: PlanFieldsProps) {
  const t = useMessages(messages)
  const errorOf = useFieldErrors()
  const at = `planned_prices[${index}].`
  const time = (name: 'from' | 'until', label: string) => (
    <TextInput
      type="datetime-local"
      label={label}
      size="xs"
      w={190}
      error={errorOf(at + name)}
      value={plan[name]}
      onChange={({ currentTarget }) => onChange({ [name]: currentTarget.value })}
    />
  )
  return (
    <Stack gap={4} role="group" aria-label={t('plan', { number: index + 1 })}>
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          {t('plan', { number: index + 1 })}
        </Text>
        <Button variant="subtle" color="gray" size="compact-xs" onClick={onRemove}>
          {t('remove')}
        </Button>
      </Group>
      <CheckedRow
        fields={[
          { param: `${at}from`, label: t('planFrom') },
          { param: `${at}until`, label: t('planUntil') },
        ]}
        gap={6}
      >
        {time('from', t('planFrom'))}
        {time('until', t('planUntil'))}
      </CheckedRow>
      <TermsFields at={at} terms={plan} onChange={onChange} />
    </Stack>
  )
}
