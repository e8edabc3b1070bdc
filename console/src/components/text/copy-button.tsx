/** Copies a text and confirms it. */
import { ActionIcon, Button, CopyButton as Copy, Group, Text } from '@mantine/core'
import { useMessages } from '../../lib/i18n.tsx'
import { Icon } from '../icon.tsx'
import { messages } from '../messages.ts'
import { HoverLabel } from './hover-label.tsx'

interface CopyButtonProps {
  readonly value: string
  /** Makes it a button; without a label it is a small icon. */
  readonly label?: string
}

const COPIED_MS = 1_500

export function CopyButton({ value, label }: CopyButtonProps) {
  const t = useMessages(messages)
  return (
    <Copy value={value} timeout={COPIED_MS}>
      {({ copied, copy }) => {
        const icon = <Icon name={copied ? 'check' : 'copy'} size={15} />
        if (label) {
          return (
            <Button variant="default" leftSection={icon} onClick={copy}>
              {copied ? t('copied') : label}
            </Button>
          )
        }
        return (
          <HoverLabel label={() => (copied ? t('copied') : t('copy'))}>
            <ActionIcon variant="subtle" color="gray" onClick={copy} aria-label={t('copy')}>
              {icon}
            </ActionIcon>
          </HoverLabel>
        )
      }}
    </Copy>
  )
}

/** An id or an address, shortened in place, copied whole. */
export function CopyText({ value }: { readonly value: string }) {
  return (
    <Group
      gap={2}
      wrap="nowrap"
      component="span"
      style={{ display: 'inline-flex' }}
      miw={0}
      maw="100%"
    >
      <Text component="span" ff="monospace" size="xs" truncate title={value}>
        {value}
      </Text>
      <CopyButton value={value} />
    </Group>
  )
}
