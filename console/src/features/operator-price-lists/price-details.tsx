/** One price in full: compared with the base price, its origin, the cost and the margins. */
import { Stack, Title } from '@mantine/core'
import { Margins } from '../../components/prices/margins.tsx'
import { PriceComparison } from '../../components/prices/price-comparison.tsx'
import { PriceLines } from '../../components/prices/price-list.tsx'
import { Notice } from '../../components/state/notice.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { useMessages, useServerText } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'
import { BASE_LIST, type PriceShown, useOriginWords } from './price-cell.tsx'

interface PriceDetailsProps {
  /** The list, or what the account pays. */
  readonly title: string
  readonly shown: PriceShown
  readonly on?: string
}

export function PriceDetails({ title, shown, on }: PriceDetailsProps) {
  const t = useMessages(messages)
  const textOf = useServerText()
  const words = useOriginWords()
  const { currency, prices, base_prices: base, cost, cost_problem: problem } = shown
  return (
    <Stack gap="sm" component="section" aria-label={title}>
      <Title order={3} size="h4">
        {title}
      </Title>
      {shown.is_below_cost ? <Notice tone="bad" title={t('belowCost')} /> : null}
      <KeyValue
        facts={[
          { label: t('why'), value: words(shown, on) },
          { label: t('version'), value: shown.version },
          {
            label: t('cost'),
            value: cost ? (
              <PriceLines currency={currency} prices={cost} />
            ) : (
              t('unknownCost', { reason: textOf(problem ?? '–') })
            ),
          },
        ]}
      />
      {shown.is_sold && prices.length > 0 ? (
        <>
          {on === BASE_LIST ? null : (
            <PriceComparison
              label={title}
              before={{ title: t('basePrice'), currency, prices: base ?? [] }}
              after={{ title, currency, prices }}
            />
          )}
          <Margins margins={shown.margins} currency={currency} />
        </>
      ) : null}
    </Stack>
  )
}
