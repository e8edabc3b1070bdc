/** A new key in plain text, shown once, with a call to test it. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { CodeSnippet } from '../../components/text/code-snippet.tsx'
import { CopyButton } from '../../components/text/copy-button.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

interface KeyShownOnceProps {
  readonly secret: string
  readonly onClose: () => void
}

export function KeyShownOnce({ secret, onClose }: KeyShownOnceProps) {
  const t = useMessages(messages)
  return (
    <Stack gap="sm">
      <Alert color="yellow" variant="light">
        <Text size="sm">{t('shownOnce')}</Text>
      </Alert>
      <CodeSnippet code={secret} />
      <Text size="sm" fw={500}>
        {t('tryIt')}
      </Text>
      <CodeSnippet
        code={`curl ${location.origin}/v1/balance \\\n  -H "Authorization: Bearer ${secret}"`}
      />
      <Group justify="flex-end" gap="xs">
        <CopyButton value={secret} label={t('copyKey')} />
        <Button onClick={onClose}>{t('done')}</Button>
      </Group>
    </Stack>
  )
}
