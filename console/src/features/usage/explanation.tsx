/** Explains one charge: its lines, its attempts and its ledger entries. */

import { Loader, Stack, Text } from '@mantine/core'
import { TextLink } from '../../components/links.tsx'
import { Arithmetic } from '../../components/prices/arithmetic.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { Notice } from '../../components/state/notice.tsx'
import { WorkStatus } from '../../components/state/work-status.tsx'
import { CopyText } from '../../components/text/copy-button.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { MoneyText } from '../../components/text/money-text.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
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

const BASES = ['usage', 'estimate', 'partial', 'params', 'checkpoint', 'none'] as const
type Basis = (typeof BASES)[number]
const isBasis = (text: string | null): text is Basis => BASES.some((one) => one === text)

function Explained({ call }: { readonly call: ExplainedCall }) {
  const t = useMessages(messages)
  const money = (amount: string) => (
    <MoneyText amount={amount} currency={call.currency} places="exact" />
  )
  const { basis, error, task_id: taskId } = call
  return (
    <Stack gap="lg">
      {call.review ? <Notice tone="warning" title={t('review')} /> : null}
      <KeyValue
        facts={[
          { label: t('request'), value: <CopyText value={call.request_id} /> },
          { label: t('status'), value: <WorkStatus status={call.status} /> },
          { label: t('model'), value: call.model },
          { label: t('endpoint'), value: call.endpoint },
          {
            label: t('key'),
            value: (
              <TextLink to="/keys" search={{ id: call.key_id }} size="sm">
                {call.key_id}
              </TextLink>
            ),
          },
          {
            label: t('task'),
            value: taskId ? (
              <TextLink to="/tasks" search={{ id: taskId }} size="sm">
                {taskId}
              </TextLink>
            ) : undefined,
          },
          { label: t('time'), value: <TimeText time={call.created_at} form="full" /> },
          { label: t('held'), value: money(call.held) },
          { label: t('charged'), value: money(call.charged) },
          { label: t('returned'), value: money(call.returned) },
          { label: t('debt'), value: Number(call.debt) > 0 ? money(call.debt) : undefined },
          { label: t('basis'), value: isBasis(basis) ? t(`basis_${basis}`) : (basis ?? undefined) },
          { label: t('error'), value: error },
        ]}
      />
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
