/** A window for one act. Its content is made anew each time it opens. */
import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from '../messages.ts'

interface DialogProps {
  readonly isOpen: boolean
  readonly title: string
  readonly onClose: () => void
  /** For what must not be lost by a click beside it: a key that is shown once. */
  readonly isSticky?: boolean
  readonly size?: string | number
  readonly children: ReactNode
}

export function Dialog(props: DialogProps) {
  const { isOpen, title, onClose, isSticky = false, size = 'md', children } = props
  const t = useMessages(messages)
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      size={size}
      closeOnClickOutside={!isSticky}
      closeOnEscape={!isSticky}
      closeButtonProps={{ 'aria-label': t('close') }}
      styles={{ title: { fontWeight: 600, fontSize: 16 } }}
    >
      {children}
    </Modal>
  )
}
