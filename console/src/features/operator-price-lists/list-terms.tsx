/** The entries of a list as it is, and those that are planned. */
import { Stack, Text, Title } from '@mantine/core'
import { PriceLines } from '../../components/prices/price-list.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import type { ListTerms } from './draft.ts'
import { messages } from './messages.ts'

type Entry = ListTerms['prices'][string]

interface ListTermsFactsProps {
  readonly list: ListTerms & { readonly currency: string }
}

export function ListTermsFacts({ list }: ListTermsFactsProps) {
  const t = useMessages(messages)
  const { currency, planned_prices: plans = [] } = list
  return (
    <Stack gap="md">
      <Entries terms={list} currency={currency} absent={t('asParent')} />
      {plans.length > 0 ? (
        <Title order={3} size="h4">
          {t('planned')}
        </Title>
      ) : null}
      {plans.map((plan) => (
        <div key={`${plan.from} ${plan.until}`}>
          <Text size="sm" fw={500}>
            {t('planFrom')} <TimeText time={plan.from} form="full" />
            {plan.until ? (
              <>
                {' · '}
                {t('planUntil')} <TimeText time={plan.until} form="full" />
              </>
            ) : null}
          </Text>
          <Entries terms={plan} currency={currency} />
        </div>
      ))}
    </Stack>
  )
}

interface EntriesProps {
  readonly terms: Pick<ListTerms, 'default' | 'prices'>
  readonly currency: string
  /** Shown where there is no rule for all other models. */
  readonly absent?: string
}

function Entries({ terms, currency, absent }: EntriesProps) {
  const t = useMessages(messages)
  const show = (entry: Entry) => {
    if (entry === 'hidden') return t('hidden')
    if (Array.isArray(entry)) return <PriceLines currency={currency} prices={entry} />
    return t(entry.of === 'parent' ? 'origin_parent' : 'origin_cost', { factor: entry.factor })
  }
  return (
    <KeyValue
      facts={[
        ...Object.entries(terms.prices).map(([model, entry]) => ({
          label: model,
          value: show(entry),
        })),
        {
          label: t('default'),
          value: terms.default ? show(terms.default) : absent,
        },
      ]}
    />
  )
}
