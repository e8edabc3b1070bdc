/** Confirms an irreversible action, and stays open until it succeeds or fails. */
import { Button, type ButtonProps, Group, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useIsShown } from '../../lib/hooks/use-is-shown.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from '../messages.ts'
import { Dialog } from './dialog.tsx'
import { Refusal } from './refusal.tsx'
import { useSubmit } from './use-submit.ts'

interface ConfirmDialogProps {
  readonly isOpen: boolean
  readonly title: string
  readonly children?: ReactNode
  /** Label of the button: the action, never "OK". */
  readonly act: string
  readonly isDangerous?: boolean
  /** A thrown error is shown; otherwise the dialog closes. */
  readonly onConfirm: () => Promise<unknown>
  readonly onClose: () => void
}

export function ConfirmDialog({ isOpen, title, onClose, ...question }: ConfirmDialogProps) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title}>
      <Question {...question} onClose={onClose} />
    </Dialog>
  )
}

/** Mounted each time the dialog opens: an error of before is not of this action. */
function Question(props: Omit<ConfirmDialogProps, 'isOpen' | 'title'>) {
  const { children, act, isDangerous = false, onConfirm, onClose } = props
  const t = useMessages(messages)
  const isShown = useIsShown()
  const { isBusy, failure, submit } = useSubmit(async () => {
    await onConfirm()
    // Closed meanwhile, the dialog may be open for another row by now.
    if (isShown.current) onClose()
  })
  return (
    <>
      <Text size="sm" component="div" mb="md">
        {children}
      </Text>
      <Refusal failure={failure} />
      <Group justify="flex-end" gap="xs" mt="md">
        <Button variant="default" disabled={isBusy} onClick={onClose}>
          {t('cancel')}
        </Button>
        <Button
          loading={isBusy}
          onClick={() => submit(undefined)}
          {...(isDangerous ? { color: 'red.8' } : {})}
        >
          {act}
        </Button>
      </Group>
    </>
  )
}

interface ConfirmButtonProps
  extends Omit<ConfirmDialogProps, 'isOpen' | 'onClose'>,
    Pick<ButtonProps, 'size' | 'leftSection'> {}

/** A button whose action is confirmed. */
export function ConfirmButton({ size, leftSection, ...dialog }: ConfirmButtonProps) {
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Button
        variant="default"
        size={size}
        leftSection={leftSection}
        onClick={() => setAsking(true)}
      >
        {dialog.act}
      </Button>
      <ConfirmDialog {...dialog} isOpen={isAsking} onClose={() => setAsking(false)} />
    </>
  )
}
