/** One key: its limits, its use, and its actions. */
import { Loader, Text } from '@mantine/core'
import { DetailDrawer } from '../../components/list/detail-drawer.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { StatusBadge } from '../../components/state/status-badge.tsx'
import { CopyText } from '../../components/text/copy-button.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import { formatNumber } from '../../lib/format.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { type ApiKey, STATE_TONES } from './api-key.ts'
import { Spend } from './columns.tsx'
import { KeyActions } from './key-actions.tsx'
import { messages } from './messages.ts'

interface KeyDrawerProps {
  /** '' while none is open. */
  readonly id: string
  readonly currency: string
  readonly onClose: () => void
}

export function KeyDrawer({ id, currency, onClose }: KeyDrawerProps) {
  const t = useMessages(messages)
  const account = useAccount()
  const key = useAdmin(
    'GET /accounts/:account_id/keys/:key_id',
    { params: { account_id: account.id, key_id: id } },
    { enabled: id !== '', live: ['usage'] },
  )
  const title = key.data ? key.data.name || t('unnamed') : t('key')
  return (
    <DetailDrawer isOpen={id !== ''} title={title} onClose={onClose}>
      {key.data ? (
        <>
          <KeyActions apiKey={key.data} currency={currency} />
          <KeyFacts apiKey={key.data} currency={currency} />
        </>
      ) : null}
      {key.isPending ? <Loader size="sm" /> : null}
      {key.error ? <ErrorState error={key.error} onRetry={() => void key.refetch()} /> : null}
    </DetailDrawer>
  )
}

interface KeyFactsProps {
  readonly apiKey: ApiKey
  readonly currency: string
}

function KeyFacts({ apiKey, currency }: KeyFactsProps) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { limits, held } = apiKey
  const limit = (value: number | null | undefined) =>
    value ? formatNumber(value, language) : t('noLimit')
  return (
    <KeyValue
      facts={[
        {
          label: t('state'),
          value: <StatusBadge tone={STATE_TONES[apiKey.state]} label={t(apiKey.state)} />,
        },
        {
          label: t('key'),
          value: (
            <Text ff="monospace" size="xs">
              {apiKey.display}
            </Text>
          ),
        },
        { label: 'ID', value: <CopyText value={apiKey.id} /> },
        {
          label: t('spend'),
          value: <Spend apiKey={apiKey} currency={currency} align="flex-start" />,
        },
        {
          label: t('held'),
          value:
            held === null ? undefined : (
              <MoneyText amount={held} currency={currency} places="exact" />
            ),
        },
        { label: t('calls'), value: formatNumber(apiKey.calls, language) },
        { label: t('models'), value: apiKey.models?.join(', ') ?? t('everyModel') },
        { label: t('requestsPerMinute'), value: limit(limits.requests_per_minute) },
        { label: t('tokensPerMinute'), value: limit(limits.tokens_per_minute) },
        { label: t('concurrentCalls'), value: limit(limits.concurrent_calls) },
        {
          label: t('lastUsed'),
          value: <TimeText time={apiKey.last_used_at} form="full" absent={t('neverUsed')} />,
        },
        {
          label: t('expires'),
          value: <TimeText time={apiKey.expires_at} form="full" absent={t('never')} />,
        },
        { label: t('created'), value: <TimeText time={apiKey.created_at} form="full" /> },
        {
          label: t('replacedBy'),
          value: apiKey.replaced_by ? <CopyText value={apiKey.replaced_by} /> : undefined,
        },
      ]}
    />
  )
}
