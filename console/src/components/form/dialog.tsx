/** A dialog for one action. Its content is mounted each time it opens. */
import { Modal } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from '../messages.ts'
import { useCloseBeside, useIsOnTop } from '../state/on-top.ts'

interface DialogProps {
  readonly isOpen: boolean
  readonly title: string
  readonly onClose: () => void
  /** True for content that is shown once, such as a key: only its own buttons close it. */
  readonly isSticky?: boolean
  /** True while such content is on its way: nothing closes it. */
  readonly isBusy?: boolean
  readonly size?: string | number
  readonly children: ReactNode
}

export function Dialog(props: DialogProps) {
  const { isOpen, title, onClose, isSticky = false, isBusy = false, size = 'md', children } = props
  const t = useMessages(messages)
  const isOnTop = useIsOnTop(isOpen)
  const content = useRef<HTMLDivElement>(null)
  // A click outside, Escape, "back" and a reload would lose it.
  const isKept = isOpen && (isSticky || isBusy)
  const { onInput, onClickBeside } = useCloseBeside(onClose)
  useBlocker({
    shouldBlockFn: () => true,
    enableBeforeUnload: isOpen && isSticky,
    disabled: !isKept,
  })
  useLayoutEffect(() => {
    // A form that gives way to its result takes the focus with it.
    if (isOpen && document.activeElement === document.body) content.current?.focus()
  })
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      size={size}
      closeOnClickOutside={false}
      overlayProps={{ backgroundOpacity: 0.4, ...(isKept ? {} : { onClick: onClickBeside }) }}
      onInput={onInput}
      closeOnEscape={!isKept && isOnTop}
      attributes={{ header: { role: 'presentation' } }}
      closeButtonProps={{ 'aria-label': t('close'), disabled: isBusy }}
      styles={{ title: { fontWeight: 600, fontSize: 16 } }}
    >
      <div ref={content} tabIndex={-1} style={{ outline: 'none' }}>
        {children}
      </div>
    </Modal>
  )
}
