/** The part of a form that few need, on demand. */
import { Button, Group } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useMessages } from '../../lib/i18n.tsx'
import { Icon } from '../icon.tsx'
import { messages } from '../messages.ts'

export function Advanced({ children }: { readonly children: ReactNode }) {
  const t = useMessages(messages)
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Group>
        <Button
          variant="subtle"
          size="compact-sm"
          aria-expanded={isOpen}
          leftSection={<Icon name={isOpen ? 'up' : 'down'} size={14} />}
          onClick={() => setOpen(!isOpen)}
        >
          {t('advanced')}
        </Button>
      </Group>
      {isOpen ? children : null}
    </>
  )
}
