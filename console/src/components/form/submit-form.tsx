/** A form with one action, which reads its own fields and shows why it was refused. */
import { Button, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from '../messages.ts'
import { CheckedForm } from './checked-form.tsx'
import { readFields, useSubmit } from './use-submit.ts'

interface SubmitButtonsProps {
  /** Label of the button. */
  readonly act: string
  /** Adds a cancel button, for a form in a dialog. */
  readonly onCancel?: (() => void) | undefined
  /** For a form on a page: a button of its own width, below the fields. */
  readonly isInline?: boolean
}

interface SubmitFormProps extends SubmitButtonsProps {
  /** Receives the named fields; a thrown error is shown. */
  readonly onSend: (fields: Readonly<Record<string, string>>) => Promise<void>
  readonly children?: ReactNode
}

export function SubmitForm({ onSend, children, ...buttons }: SubmitFormProps) {
  const { isBusy, failure, submit } = useSubmit(onSend)
  return (
    <CheckedForm
      failure={failure}
      isBusy={isBusy}
      onSubmit={(form) => submit(readFields(form))}
      actions={<SubmitButtons {...buttons} isBusy={isBusy} />}
    >
      {children}
    </CheckedForm>
  )
}

export function SubmitButtons({
  act,
  isBusy,
  onCancel,
  isInline = false,
}: SubmitButtonsProps & { readonly isBusy: boolean }) {
  const t = useMessages(messages)
  return (
    <Group justify={isInline ? 'flex-start' : 'flex-end'} gap="xs">
      {onCancel ? (
        <Button variant="default" disabled={isBusy} onClick={onCancel}>
          {t('cancel')}
        </Button>
      ) : null}
      <Button type="submit" loading={isBusy} fullWidth={!onCancel && !isInline}>
        {act}
      </Button>
    </Group>
  )
}
