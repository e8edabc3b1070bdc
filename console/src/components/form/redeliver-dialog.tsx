/** A button whose dialog sends the dropped webhooks of a time again, at first those filtered. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { fromLocalField, toLocalField } from '../../lib/format.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { notifyDone } from '../state/notify.ts'
import { Dialog } from './dialog.tsx'
import { messages } from './redeliver-messages.ts'
import { SubmitForm } from './submit-form.tsx'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

export interface DroppedSpan {
  /** ISO 8601 */
  readonly from: string
  readonly to: string
  readonly host?: string
}

interface RedeliverDroppedProps {
  /** The filters of the list; '' where nothing is chosen. */
  readonly filters: { readonly from: string; readonly to: string; readonly host: string }
  readonly onSend: (
    span: DroppedSpan,
  ) => Promise<{ readonly redelivered: number; readonly remaining: number }>
}

export function RedeliverDropped({ filters, onSend }: RedeliverDroppedProps) {
  const t = useMessages(messages)
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <>
      <Button variant="default" miw="max-content" onClick={() => setOpen(true)}>
        {t('title')}
      </Button>
      <Dialog isOpen={isOpen} title={t('title')} onClose={close}>
        <SubmitForm
          act={t('act')}
          onCancel={close}
          onSend={async ({ from = '', to = '', host = '' }) => {
            const span = { from: fromLocalField(from), to: fromLocalField(to) }
            const name = host.trim()
            const answer = await onSend({ ...span, ...(name === '' ? {} : { host: name }) })
            const { redelivered: count, remaining } = answer
            notifyDone(t('done', { count, remaining }))
            close()
          }}
        >
          <Fields {...filters} />
        </SubmitForm>
      </Dialog>
    </>
  )
}

/** Without a filter, the last hour. */
function Fields({ from, to, host }: RedeliverDroppedProps['filters']) {
  const t = useMessages(messages)
  const now = new Date()
  // A field has whole minutes: the running one belongs to the hour.
  const end = to === '' ? new Date(now.getTime() + MINUTE_MS) : new Date(to)
  const start = from === '' ? new Date(end.getTime() - HOUR_MS) : new Date(from)
  return (
    <Stack gap="sm">
      <Text size="sm">{t('text')}</Text>
      <Group grow align="flex-end">
        <TextInput
          name="from"
          type="datetime-local"
          label={t('from')}
          required
          defaultValue={toLocalField(start)}
          data-autofocus
        />
        <TextInput
          name="to"
          type="datetime-local"
          label={t('to')}
          required
          defaultValue={toLocalField(end)}
        />
      </Group>
      <TextInput name="host" label={t('host')} maxLength={300} defaultValue={host} />
    </Stack>
  )
}
