/** The details of one row, beside its list. The URL names the open row. */
import { Drawer } from '@mantine/core'
import type { ReactNode } from 'react'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from '../messages.ts'
import { useCloseBeside, useIsOnTop } from '../state/on-top.ts'

interface DetailDrawerProps {
  readonly isOpen: boolean
  readonly title: ReactNode
  readonly onClose: () => void
  readonly children: ReactNode
}

export function DetailDrawer({ isOpen, title, onClose, children }: DetailDrawerProps) {
  const t = useMessages(messages)
  const { onInput, onClickBeside } = useCloseBeside(onClose)
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      closeOnEscape={useIsOnTop(isOpen)}
      closeOnClickOutside={false}
      onInput={onInput}
      position="right"
      size={560}
      title={title}
      closeButtonProps={{ 'aria-label': t('close') }}
      attributes={{ header: { role: 'presentation' } }}
      overlayProps={{ backgroundOpacity: 0.2, onClick: onClickBeside }}
      transitionProps={{ duration: 120 }}
      styles={{ title: { fontWeight: 600, fontSize: 16 } }}
    >
      {children}
    </Drawer>
  )
}
