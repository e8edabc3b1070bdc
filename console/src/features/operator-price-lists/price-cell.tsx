/** The price of a model on a list, its origin and its margin. */
import { Stack, Text } from '@mantine/core'
import { MarginShare, smallestMargin } from '../../components/prices/margins.tsx'
import { PriceLines } from '../../components/prices/price-list.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

export type PriceShown = Omit<
  AdminAnswer<'GET /operator/accounts/:account_id/prices'>['data'][number],
  'model' | 'type'
>

export const BASE_LIST = 'base'

/** Words the origin of a price; `on` is the list that is shown. */
export function useOriginWords() {
  const t = useMessages(messages)
  return ({ is_sold: isSold, origin, list }: PriceShown, on?: string): string => {
    const name = list === BASE_LIST || list === null ? t('base_short') : list
    if (!isSold) {
      return origin && 'hidden' in origin ? t('origin_hidden', { list: name }) : t('notSold')
    }
    if (list === null) return t('free')
    if (origin === null) return t('origin_base')
    const words =
      'of' in origin
        ? t(origin.of === 'parent' ? 'origin_parent' : 'origin_cost', { factor: origin.factor })
        : t('origin_prices')
    return list === on ? words : `${words} · ${t('of', { list })}`
  }
}

interface PriceCellProps {
  readonly shown: PriceShown
  /** The list of the column. */
  readonly on?: string
}

export const LINES_SHOWN = 2

export function PriceCell({ shown, on }: PriceCellProps) {
  const words = useOriginWords()
  return (
    <Stack gap={2}>
      {shown.is_sold && shown.prices.length > 0 ? (
        <PriceLines currency={shown.currency} prices={shown.prices} most={LINES_SHOWN} />
      ) : null}
      <Text size="xs" c="dimmed" component="span">
        {words(shown, on)}
      </Text>
    </Stack>
  )
}

/** The smallest margin of a price, or a loss as a warning. */
export function PriceMargin({ shown }: { readonly shown: PriceShown }) {
  const t = useMessages(messages)
  if (!shown.is_sold || shown.prices.length === 0) return '–'
  const { margin = null, margin_share: share = null } = smallestMargin(shown.margins) ?? {}
  if (shown.is_below_cost && !margin?.startsWith('-')) {
    return <StatusBadge tone="bad" label={t('belowCost')} />
  }
  return <MarginShare margin={margin} share={share} />
}
