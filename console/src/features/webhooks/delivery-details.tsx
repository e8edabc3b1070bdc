/** One delivery: the sent body, and the answer to each attempt. */
import { Button, Loader, Stack, Table, Text } from '@mantine/core'
import { useSubmit } from '../../components/form/use-submit.ts'
import { TextLink } from '../../components/links.tsx'
import { FieldFacts, type RowFields } from '../../components/list/fields.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { CodeSnippet } from '../../components/text/code-snippet.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages, useServerText } from '../../lib/i18n.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const ONE = 'GET /accounts/:account_id/webhooks/deliveries/:delivery_id'
type Delivery = AdminAnswer<typeof ONE>

const FIELDS: RowFields<Delivery, (typeof messages)['en']> = [
  { key: 'id', as: 'copy' },
  { key: 'status', as: 'status' },
  { key: 'kind', as: 'kind' },
  { key: 'url', as: 'copy' },
  { word: 'task', show: ({ task_id: id }) => id && <TaskLink id={id} /> },
  { key: 'created_at', word: 'created', as: 'time' },
  { key: 'next_attempt_at', word: 'next', as: 'time' },
]

interface DeliveryDetailsProps {
  readonly accountId: string
  readonly deliveryId: string
  /** Opens another delivery. */
  readonly onOpen: (id: string) => void
}

export function DeliveryDetails({ accountId, deliveryId, onOpen }: DeliveryDetailsProps) {
  const t = useMessages(messages)
  const params = { account_id: accountId, delivery_id: deliveryId }
  const { data, error, refetch } = useAdmin(ONE, { params }, { live: ['deliveries'] })
  const again = useAdminChange(
    'POST /accounts/:account_id/webhooks/deliveries/:delivery_id/redeliver',
  )
  const { isBusy, failure, submit } = useSubmit<undefined>(async () => {
    const { id } = await again.mutateAsync({ params })
    notifyDone(t('redelivered'))
    onOpen(id)
  })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Loader size="sm" />
  return (
    <Stack gap="lg">
      <FieldFacts messages={messages} fields={FIELDS} row={data} />
      <Again delivery={data} isBusy={isBusy} onSend={() => submit(undefined)} onOpen={onOpen} />
      {failure ? <ErrorState error={failure} /> : null}
      <Attempts delivery={data} />
      {data.body ? (
        <section>
          <Text fw={600} size="sm" mb={6}>
            {t('body')}
          </Text>
          <CodeSnippet code={data.body} />
        </section>
      ) : null}
    </Stack>
  )
}

interface AgainProps {
  readonly delivery: Delivery
  readonly isBusy: boolean
  readonly onSend: () => void
  readonly onOpen: (id: string) => void
}

/** A delivery is sent again once, after its end; then the new one is a click away. */
function Again({ delivery, isBusy, onSend, onOpen }: AgainProps) {
  const t = useMessages(messages)
  const { status, redelivered_as: next } = delivery
  if (status === 'pending') return null
  return (
    <div>
      <Button variant="default" loading={isBusy} onClick={next ? () => onOpen(next) : onSend}>
        {t(next ? 'openNext' : 'redeliver')}
      </Button>
    </div>
  )
}

function TaskLink({ id }: { readonly id: string }) {
  return (
    <TextLink to="/tasks" search={{ id }} size="sm">
      {id}
    </TextLink>
  )
}

function Attempts({ delivery }: { readonly delivery: Delivery }) {
  const t = useMessages(messages)
  const textOf = useServerText()
  if (delivery.attempts.length === 0) return null
  return (
    <Table aria-label={t('attempts')} fz="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('number')}</Table.Th>
          <Table.Th>{t('at')}</Table.Th>
          <Table.Th>{t('outcome')}</Table.Th>
          <Table.Th ta="right">{t('latency')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {delivery.attempts.map((attempt) => (
          <Table.Tr key={attempt.number}>
            <Table.Td valign="top">{attempt.number}</Table.Td>
            <Table.Td valign="top">
              <TimeText time={attempt.started_at} />
            </Table.Td>
            <Table.Td valign="top">
              {t(attempt.outcome ?? 'sending')}
              {attempt.status === null ? '' : ` (${attempt.status})`}
              <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                {attempt.error ? textOf(attempt.error) : attempt.answer}
              </Text>
            </Table.Td>
            <Table.Td valign="top" ta="right">
              {attempt.latency_ms === null ? '–' : `${attempt.latency_ms} ms`}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
