/** Settlement of a call from its usage record: held, charged, returned, calculated. */
import { Group, Loader, Stack, Text } from '@mantine/core'
import { TextLink } from '../../../../components/links.tsx'
import { Panel } from '../../../../components/page/panel.tsx'
import { Arithmetic } from '../../../../components/prices/arithmetic.tsx'
import { ErrorState } from '../../../../components/state/error-state.tsx'
import { MoneyText } from '../../../../components/text/money-text.tsx'
import { type AdminAnswer, ApiError } from '../../../../lib/api.ts'
import { formatMoney, isZero } from '../../../../lib/format.ts'
import { useLanguage, useMessages } from '../../../../lib/i18n.tsx'
import { useAccount } from '../../../../lib/session.tsx'
import { useAdmin } from '../../../../lib/use-admin.ts'
import { messages } from '../messages.ts'
import classes from './cost-after.module.css'

const KEY = 'GET /accounts/:account_id/usage/:request_id'
type Record = AdminAnswer<typeof KEY>
const POLL_INTERVAL_MS = 1_500

export function CostAfter({ requestId }: { readonly requestId: string }) {
  const t = useMessages(messages)
  const account = useAccount()
  const { data, error, refetch } = useAdmin(
    KEY,
    { params: { account_id: account.id, request_id: requestId } },
    {
      live: ['usage', 'tasks'],
      refetchWhile: { everyMs: POLL_INTERVAL_MS, holds: ({ status }) => status === 'running' },
    },
  )
  // A call refused before its hold has no record.
  if (error instanceof ApiError && error.status === 404) return null
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <Panel title={t('costTitle')} aside={data ? <Explain record={data} /> : undefined}>
      {data ? <Settled record={data} /> : <Settling />}
    </Panel>
  )
}

function Explain({ record }: { readonly record: Record }) {
  const t = useMessages(messages)
  return (
    <TextLink to="/usage" search={{ id: record.request_id }} size="sm">
      {t('explain')}
    </TextLink>
  )
}

function Settling() {
  const t = useMessages(messages)
  return (
    <Group gap="xs">
      <Loader size={14} />
      <Text size="sm" c="dimmed">
        {t('settling')}
      </Text>
    </Group>
  )
}

function Settled({ record }: { readonly record: Record }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { held, charged, returned, debt, currency, lines, status } = record
  if (status === 'running') {
    const amount = formatMoney(held, { currency, language })
    return <Text size="sm">{t('stillRunning', { amount })}</Text>
  }
  const figures = [
    [t('held'), held],
    [t('charged'), charged],
    [t('returned'), returned],
    ...(isZero(debt) ? [] : [[t('debt'), debt]]),
  ] as const
  return (
    <Stack gap="sm">
      <dl className={classes.figures}>
        {figures.map(([label, amount]) => (
          <div key={label}>
            <dt className={classes.label}>{label}</dt>
            <dd className={classes.amount}>
              <MoneyText amount={amount ?? '0'} currency={currency} places="exact" />
            </dd>
          </div>
        ))}
      </dl>
      {lines.length > 0 ? (
        <Arithmetic label={t('cost')} lines={lines} total={charged} currency={currency} />
      ) : (
        <Text size="sm" c="dimmed">
          {t('noLines')}
        </Text>
      )}
    </Stack>
  )
}
