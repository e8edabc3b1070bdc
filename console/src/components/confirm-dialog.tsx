/** Asks before something that cannot be undone, and stays open until it is done or refused. */
import { Button, Group, Modal, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useMessages } from '../lib/i18n.tsx'
import { ErrorState } from './error-state.tsx'
import { messages } from './messages.ts'

interface ConfirmDialogProps {
  readonly isOpen: boolean
  readonly title: string
  readonly children?: ReactNode
  /** What the button says: the act, never "OK". */
  readonly act: string
  readonly isDangerous?: boolean
  readonly onConfirm: () => Promise<unknown>
  readonly onClose: () => void
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { isOpen, title, children, act, isDangerous = false, onConfirm, onClose } = props
  const t = useMessages(messages)
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Error>()
  const confirm = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      await onConfirm()
      onClose()
    } catch (error) {
      setFailure(error instanceof Error ? error : new Error(String(error)))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <Text size="sm" component="div" mb="md">
        {children}
      </Text>
      {failure ? <ErrorState error={failure} /> : null}
      <Group justify="flex-end" gap="xs" mt="md">
        <Button variant="default" onClick={onClose}>
          {t('cancel')}
        </Button>
        <Button
          loading={isBusy}
          onClick={() => void confirm()}
          {...(isDangerous ? { color: 'red.8' } : {})}
        >
          {act}
        </Button>
      </Group>
    </Modal>
  )
}
