/** The members of a key, in the list and beside it. */
import { Progress, Stack, Text } from '@mantine/core'
import type { RowFields, Wording } from '../../components/list/fields.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { formatMoney, formatNumber, SUM_PLACES } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { type ApiKey, STATE_TONES } from './api-key.ts'
import { messages } from './messages.ts'

export const KEY_FIELDS: RowFields<ApiKey, (typeof messages)['en']> = [
  { word: 'name', in: 'list', show: (key) => <Name apiKey={key} /> },
  {
    word: 'state',
    show: ({ state }, { t }) => <StatusBadge tone={STATE_TONES[state]} label={t(state)} />,
  },
  { word: 'models', in: 'list', minor: true, show: ({ models }) => <Models models={models} /> },
  {
    word: 'belongsTo',
    minor: true,
    show: ({ member }, { t }) => member?.name || member?.email || t('theAccount'),
  },
  { key: 'display', word: 'key', as: 'mono', in: 'details' },
  { key: 'id', as: 'copy', in: 'details' },
  {
    word: 'spend',
    align: 'right',
    show: (key, { currency }) => <Spend apiKey={key} currency={currency} />,
  },
  { key: 'held', as: 'money', in: 'details' },
  { key: 'calls', as: 'count', minor: true },
  {
    word: 'models',
    in: 'details',
    show: ({ models }, { t }) => models?.join(', ') ?? t('everyModel'),
  },
  { word: 'requestsPerMinute', in: 'details', show: showLimit('requests_per_minute') },
  { word: 'tokensPerMinute', in: 'details', show: showLimit('tokens_per_minute') },
  { word: 'concurrentCalls', in: 'details', show: showLimit('concurrent_calls') },
  { word: 'tags', in: 'details', show: ({ tags }) => tags.join(', ') || '–' },
  {
    word: 'requiredTags',
    in: 'details',
    show: ({ required_tags: required }) => required.join(', ') || '–',
  },
  {
    word: 'allowedIps',
    in: 'details',
    show: ({ allowed_ips: networks }, { t }) => networks.join(', ') || t('everywhere'),
  },
  { key: 'last_used_at', word: 'lastUsed', as: 'ago', minor: true, absent: 'neverUsed' },
  { key: 'expires_at', word: 'expires', as: 'time', minor: true, absent: 'never' },
  { key: 'created_at', word: 'created', as: 'time', in: 'details' },
  { key: 'replaced_by', word: 'replacedBy', as: 'copy', in: 'details' },
]

function showLimit(name: keyof ApiKey['limits']) {
  return ({ limits }: ApiKey, { t, language }: Wording<(typeof messages)['en']>) => {
    const limit = limits[name]
    return limit ? formatNumber(limit, language) : t('noLimit')
  }
}

function Models({ models }: Pick<ApiKey, 'models'>) {
  const t = useMessages(messages)
  if (!models) return <Text inherit>{t('everyModel')}</Text>
  const [only] = models
  return models.length === 1 && only ? only : t('modelCount', { count: models.length })
}

function Name({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useMessages(messages)
  return (
    <Stack gap={0} maw={320}>
      <Text inherit fw={500} component="span" style={{ overflowWrap: 'anywhere' }}>
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
}

/** The spend of a key; with a limit, a bar that warns before calls are refused. */
function Spend({ apiKey, currency }: SpendProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { spent, spend_limit: limit } = apiKey
  if (limit === null) return <MoneyText amount={spent} currency={currency} places={SUM_PLACES} />
  // A limit of zero is used up from the start.
  const share = Number(limit) > 0 ? Math.min(FULL, (Number(spent) / Number(limit)) * FULL) : FULL
  const money = (amount: string) => formatMoney(amount, { currency, language, places: SUM_PLACES })
  return (
    <Stack gap={4} display="inline-flex" maw="100%">
      <span>{t('spendOf', { spent: money(spent), limit: money(limit) })}</span>
      <Progress
        value={share}
        size={4}
        color={share >= NEARLY ? 'red' : 'river'}
        aria-label={t('spendLimit')}
      />
    </Stack>
  )
}
