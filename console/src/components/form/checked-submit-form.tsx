/** A form with one action, which marks the field that is refused. */
import type { ReactNode } from 'react'
import { CheckedForm } from './checked-form.tsx'
import { SubmitButtons } from './submit-form.tsx'
import { useSubmit } from './use-submit.ts'

interface CheckedSubmitFormProps {
  /** Label of the button. */
  readonly act: string
  /** A thrown error is shown beside its field. */
  readonly onSend: () => Promise<void>
  readonly onCancel?: () => void
  readonly children: ReactNode
}

export function CheckedSubmitForm({ act, onSend, onCancel, children }: CheckedSubmitFormProps) {
  const { isBusy, failure, submit } = useSubmit<undefined>(onSend)
  return (
    <CheckedForm
      failure={failure}
      isBusy={isBusy}
      onSubmit={() => submit(undefined)}
      actions={<SubmitButtons act={act} isBusy={isBusy} onCancel={onCancel} />}
    >
      {children}
    </CheckedForm>
  )
}
