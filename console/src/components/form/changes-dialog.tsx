/** Asks before a live configuration is saved, and shows what changes. */
import { Button, Group, Table, Text } from '@mantine/core'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './changes-messages.ts'
import { Dialog } from './dialog.tsx'
import type { Change } from './list-changes.ts'

interface ChangesDialogProps {
  readonly isOpen: boolean
  readonly title: string
  /** Label of the button. */
  readonly act: string
  readonly changes: readonly Change[]
  readonly onConfirm: () => void
  readonly onClose: () => void
}

export function ChangesDialog(props: ChangesDialogProps) {
  const { isOpen, title, act, changes, onConfirm, onClose } = props
  const t = useMessages(messages)
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title} size="lg">
      {changes.length === 0 ? <Text size="sm">{t('noChanges')}</Text> : null}
      {changes.length > 0 ? <ChangesTable changes={changes} /> : null}
      <Group justify="flex-end" gap="xs" mt="md">
        <Button variant="default" onClick={onClose}>
          {t('cancel')}
        </Button>
        <Button
          onClick={() => {
            onClose()
            onConfirm()
          }}
        >
          {act}
        </Button>
      </Group>
    </Dialog>
  )
}

function ChangesTable({ changes }: Pick<ChangesDialogProps, 'changes'>) {
  const t = useMessages(messages)
  return (
    <Table aria-label={t('changes')} style={{ overflowWrap: 'anywhere' }}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('field')}</Table.Th>
          <Table.Th>{t('before')}</Table.Th>
          <Table.Th>{t('after')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {changes.map(({ path, before, after, isSecret = false }) => (
          <Table.Tr key={path}>
            <Table.Td miw={120}>{path}</Table.Td>
            <Table.Td>{isSecret ? '••••' : (before ?? '–')}</Table.Td>
            <Table.Td>{isSecret ? t('secretChanged') : (after ?? '–')}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
