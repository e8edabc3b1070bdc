/** A form with one action, which reads its own fields and shows why it was refused. */
import { Button, Group, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from '../messages.ts'
import { Refusal } from './refusal.tsx'
import { readFields, useSubmit } from './use-submit.ts'

interface SubmitFormProps {
  /** Label of the button. */
  readonly act: string
  /** Receives the named fields; a thrown error is shown. */
  readonly onSend: (fields: Readonly<Record<string, string>>) => Promise<void>
  /** Adds a cancel button, for a form in a dialog. */
  readonly onCancel?: () => void
  /** For a form on a page: a button of its own width, below the fields. */
  readonly isInline?: boolean
  readonly children?: ReactNode
}

export function SubmitForm({ act, onSend, onCancel, isInline = false, children }: SubmitFormProps) {
  const t = useMessages(messages)
  const { isBusy, failure, submit } = useSubmit(onSend)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        submit(readFields(event.currentTarget))
      }}
    >
      <Stack gap="sm">
        {children}
        <Refusal failure={failure} />
        <Group justify={isInline ? 'flex-start' : 'flex-end'} gap="xs">
          {onCancel ? (
            <Button variant="default" onClick={onCancel}>
              {t('cancel')}
            </Button>
          ) : null}
          <Button type="submit" loading={isBusy} fullWidth={!onCancel && !isInline}>
            {act}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
