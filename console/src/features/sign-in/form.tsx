/** A form with one button, which reads its own fields and says why it was refused. */
import { Button, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { Refusal } from './refusal.tsx'
import { readFields, useSubmit } from './use-submit.ts'

interface FormProps {
  readonly act: string
  readonly onSend: (fields: Readonly<Record<string, string>>) => Promise<void>
  readonly children?: ReactNode
}

export function Form({ act, onSend, children }: FormProps) {
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
        <Button type="submit" loading={isBusy} fullWidth>
          {act}
        </Button>
      </Stack>
    </form>
  )
}
