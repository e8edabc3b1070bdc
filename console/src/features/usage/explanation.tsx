/** Explains one charge: its lines, its attempts and its ledger entries. */

import { Loader, Stack, Text } from '@mantine/core'
import { TextLink } from '../../components/links.tsx'
import { FieldFacts, type RowFields } from '../../components/list/fields.tsx'
import { Arithmetic } from '../../components/prices/arithmetic.tsx'
import { BasisText } from '../../components/prices/basis-text.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { Notice } from '../../components/state/notice.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { EXPLANATION_ROUTE, type ExplainedCall } from './explained-call.ts'
import { LedgerEntries } from './ledger.tsx'
import { messages } from './messages.ts'
import { Section } from './section.tsx'

interface ExplanationProps {
  readonly accountId: string
  readonly requestId: string
}

export function CallExplanation({ accountId, requestId }: ExplanationProps) {
  const params = { account_id: accountId, request_id: requestId }
  const { data, error, refetch } = useAdmin(EXPLANATION_ROUTE, { params }, { live: ['usage'] })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Loader size="sm" />
  return <Explained call={data} />
}

const FIELDS: RowFields<ExplainedCall, (typeof messages)['en']> = [
  { key: 'request_id', word: 'request', as: 'copy' },
  { key: 'status', as: 'status' },
  { key: 'model' },
  {
    word: 'servedModel',
    show: ({ model, served_model: served }) => (served === model ? undefined : served),
  },
  { key: 'endpoint' },
  { word: 'key', show: ({ key_id: id }) => <IdLink to="/keys" id={id} /> },
  { word: 'task', show: ({ task_id: id }) => id && <IdLink to="/tasks" id={id} /> },
  { key: 'created_at', word: 'time', as: 'time' },
  { key: 'held', as: 'money' },
  { key: 'charged', as: 'money' },
  { word: 'priceList', show: (call) => (isListed(call) ? call.price_list : undefined) },
  {
    word: 'listAmount',
    show: (call) =>
      isListed(call) && call.list_amount !== null ? (
        <MoneyText amount={call.list_amount} currency={call.currency} places="exact" />
      ) : undefined,
  },
  { key: 'returned', as: 'money' },
  {
    word: 'debt',
    show: ({ debt, currency }) =>
      Number(debt) > 0 ? <MoneyText amount={debt} currency={currency} places="exact" /> : undefined,
  },
  { word: 'basis', show: ({ basis }) => basis && <BasisText basis={basis} /> },
  { key: 'error', as: 'words' },
]

/** True if a price list applies: its lines have their amounts at the base prices, too. */
function isListed({ lines }: ExplainedCall): boolean {
  return lines.some((line) => line.list_amount !== undefined)
}

function IdLink({ to, id }: { readonly to: '/keys' | '/tasks'; readonly id: string }) {
  return (
    <TextLink to={to} search={{ id }} size="sm">
      {id}
    </TextLink>
  )
}

function Explained({ call }: { readonly call: ExplainedCall }) {
  const t = useMessages(messages)
  return (
    <Stack gap="lg">
      {call.review ? <Notice tone="warning" title={t('review')} /> : null}
      <FieldFacts messages={messages} fields={FIELDS} row={call} />
      <Lines call={call} />
      <LedgerEntries call={call} />
      <Attempts call={call} />
    </Stack>
  )
}

function Lines({ call }: { readonly call: ExplainedCall }) {
  const t = useMessages(messages)
  const { lines, charged, currency, price_version: version } = call
  if (lines.length === 0) {
    return (
      <Section title={t('arithmetic')}>
        <Text size="sm" c="dimmed">
          {t('noLines')}
        </Text>
      </Section>
    )
  }
  return (
    <Section title={t('arithmetic')}>
      <Arithmetic label={t('arithmetic')} lines={lines} total={charged} currency={currency} />
      {version ? (
        <Text size="xs" c="dimmed" mt={4}>
          {t('prices', { version })}
        </Text>
      ) : null}
    </Section>
  )
}

function Attempts({ call }: { readonly call: ExplainedCall }) {
  const t = useMessages(messages)
  if (call.attempts.length === 0) return null
  return (
    <Section title={t('attempts')}>
      {call.attempts.map((attempt, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an attempt is its place in the order
        <Text key={index} size="sm">
          {index + 1}. {attempt.outcome}
          {typeof attempt.milliseconds === 'number' ? ` · ${attempt.milliseconds} ms` : ''}
        </Text>
      ))}
    </Section>
  )
}
