/** The buttons that add a row to a form, and remove one. */
import { ActionIcon, Button, Group } from '@mantine/core'
import { useMessages } from '../../../lib/i18n.tsx'
import { Icon } from '../../icon.tsx'
import { messages } from './messages.ts'

export function RemoveRow({ onRemove }: { readonly onRemove: () => void }) {
  const t = useMessages(messages)
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={t('remove')} onClick={onRemove} mb={2}>
      <Icon name="trash" size={15} />
    </ActionIcon>
  )
}

export function AddRow({ label, onAdd }: { readonly label: string; readonly onAdd: () => void }) {
  return (
    <Group>
      <Button
        variant="subtle"
        size="compact-xs"
        leftSection={<Icon name="plus" size={13} />}
        onClick={onAdd}
      >
        {label}
      </Button>
    </Group>
  )
}
