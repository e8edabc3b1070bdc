/** Dialog that shows new recovery codes once. */
import { Button, Group, Text } from '@mantine/core'
import { Dialog } from '../../components/form/dialog.tsx'
import { CodeSnippet } from '../../components/text/code-snippet.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

interface RecoveryCodesProps {
  /** Undefined while there are none to show. */
  readonly codes: readonly string[] | undefined
  readonly onClose: () => void
}

export function RecoveryCodes({ codes, onClose }: RecoveryCodesProps) {
  const t = useMessages(messages)
  return (
    <Dialog isOpen={codes !== undefined} title={t('codesTitle')} onClose={onClose} isSticky>
      <Text size="sm" mb="sm">
        {t('codesText')}
      </Text>
      <CodeSnippet code={(codes ?? []).join('\n')} />
      <Group justify="flex-end" mt="md">
        <Button onClick={onClose}>{t('done')}</Button>
      </Group>
    </Dialog>
  )
}
