/** The tools that a model's requests offer in vain, with the way to sell them. */
import { Button, Group, Stack, Text, Title } from '@mantine/core'
import {
  NEW_PRICE,
  type PriceDraft,
  toPriceDraft,
} from '../../components/form/prices/price-draft.ts'
import { PriceLines } from '../../components/prices/price-list.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

type Model = AdminAnswer<'GET /operator/models/:model_id'>
type Tool = Model['tools_taken_out'][number]

interface OfferedToolsProps {
  readonly model: Model
  /** Opens the form with these prices beside those of the model. */
  readonly onAdd: (prices: readonly PriceDraft[]) => void
}

export function OfferedTools({ model, onAdd }: OfferedToolsProps) {
  const t = useMessages(messages)
  if (model.tools_taken_out.length === 0) return null
  return (
    <section>
      <Title order={3} size="h4">
        {t('takenOut')}
      </Title>
      <Text size="xs" c="dimmed" mb="xs">
        {t('takenOutText')}
      </Text>
      <Stack gap="sm">
        {model.tools_taken_out.map((one) => (
          <OfferedTool key={one.tool} one={one} currency={model.currency} onAdd={onAdd} />
        ))}
      </Stack>
    </section>
  )
}

/** Returns a function that names a kind of tool. */
export function useToolName() {
  const t = useMessages(messages)
  return (tool: string) => (tool === 'other' ? t('otherTools') : tool)
}

interface OfferedToolProps extends Pick<OfferedToolsProps, 'onAdd'> {
  readonly one: Tool
  readonly currency: string | null
}

function OfferedTool({ one, currency, onAdd }: OfferedToolProps) {
  const t = useMessages(messages)
  const nameOf = useToolName()
  const { language } = useLanguage()
  const { unit, list } = one
  return (
    <div>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {nameOf(one.tool)}
        </Text>
        <Text size="xs" c="dimmed">
          {t('answers', { count: formatNumber(one.answers, language) })}{' '}
          <TimeText time={one.first_at} /> · {t('last')} <TimeText time={one.last_at} />
        </Text>
      </Group>
      <Text size="xs" c="dimmed">
        {unit === null ? t('noUnit') : null}
        {unit !== null && list ? t('listPrice', { vendor: list.vendor }) : null}
        {unit !== null && !list ? t('noListPrice') : null}
      </Text>
      {list ? <PriceLines currency={list.currency} prices={list.prices} /> : null}
      {unit === null ? null : (
        <AddPrice unit={unit} list={list?.currency === currency ? list : null} onAdd={onAdd} />
      )}
    </div>
  )
}

interface AddPriceProps extends Pick<OfferedToolsProps, 'onAdd'> {
  readonly unit: string
  /** Null if it is unknown, or in another currency. */
  readonly list: Tool['list']
}

function AddPrice({ unit, list, onAdd }: AddPriceProps) {
  const t = useMessages(messages)
  const prices = list?.prices.map(toPriceDraft) ?? [{ ...NEW_PRICE, unit, per: '1000' }]
  return (
    <Button size="compact-xs" variant="default" mt={4} onClick={() => onAdd(prices)}>
      {list ? t('addListPrice') : t('addToolPrice')}
    </Button>
  )
}
