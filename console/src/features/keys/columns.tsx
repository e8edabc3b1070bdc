/** Columns of the key list. */
import { Progress, Stack, Text } from '@mantine/core'
import type { Column } from '../../components/list/data-table.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { formatMoney, formatNumber, SUM_PLACES } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { type ApiKey, STATE_TONES } from './api-key.ts'
import { messages } from './messages.ts'

export function useKeyColumns(currency: string): readonly Column<ApiKey>[] {
  const t = useMessages(messages)
  const { language } = useLanguage()
  return [
    { key: 'name', header: t('name'), render: (key) => <Name apiKey={key} /> },
    {
      key: 'state',
      header: t('state'),
      render: ({ state }) => <StatusBadge tone={STATE_TONES[state]} label={t(state)} />,
    },
    {
      key: 'models',
      header: t('models'),
      minor: true,
      render: ({ models }) => {
        if (!models) return <Text inherit>{t('everyModel')}</Text>
        const [only] = models
        return models.length === 1 && only ? only : t('modelCount', { count: models.length })
      },
    },
    {
      key: 'spent',
      header: t('spend'),
      align: 'right',
      render: (key) => <Spend apiKey={key} currency={currency} />,
    },
    {
      key: 'calls',
      header: t('calls'),
      align: 'right',
      minor: true,
      render: ({ calls }) => formatNumber(calls, language),
    },
    {
      key: 'used',
      header: t('lastUsed'),
      minor: true,
      render: ({ last_used_at }) => (
        <TimeText time={last_used_at} form="relative" absent={t('neverUsed')} />
      ),
    },
    {
      key: 'expires',
      header: t('expires'),
      minor: true,
      render: ({ expires_at }) => <TimeText time={expires_at} absent={t('never')} />,
      isTime: true,
    },
  ]
}

function Name({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useMessages(messages)
  return (
    <Stack gap={0}>
      <Text inherit fw={500} component="span">
        {apiKey.name || t('unnamed')}
      </Text>
      <Text size="xs" c="dimmed" ff="monospace" component="span">
        {apiKey.display}
      </Text>
    </Stack>
  )
}

const FULL = 100
const NEARLY = 80

interface SpendProps {
  readonly apiKey: ApiKey
  readonly currency: string
  readonly align?: 'flex-start' | 'flex-end'
}

/** The spend of a key; with a limit, a bar that warns before calls are refused. */
export function Spend({ apiKey, currency, align = 'flex-end' }: SpendProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { spent, spend_limit: limit } = apiKey
  if (limit === null) return <MoneyText amount={spent} currency={currency} places={SUM_PLACES} />
  // A limit of zero is used up from the start.
  const share = Number(limit) > 0 ? Math.min(FULL, (Number(spent) / Number(limit)) * FULL) : FULL
  const money = (amount: string) => formatMoney(amount, { currency, language, places: SUM_PLACES })
  return (
    <Stack gap={4} align={align}>
      <span>{t('spendOf', { spent: money(spent), limit: money(limit) })}</span>
      <Progress
        value={share}
        size={4}
        w={110}
        color={share >= NEARLY ? 'red' : 'river'}
        aria-label={t('spendLimit')}
      />
    </Stack>
  )
}
