/** Shows a failed load: the server's message, the request id, and a retry. */
import { Alert, Button, Group, Text } from '@mantine/core'
import { ApiError } from '../../lib/api.ts'
import { useMessages, useServerText } from '../../lib/i18n.tsx'
import { Icon } from '../icon.tsx'
import { messages } from '../messages.ts'
import { CodeText } from '../text/code-text.tsx'

interface ErrorStateProps {
  readonly error: Error
  readonly title?: string
  readonly onRetry?: () => void
}

export function ErrorState({ error, title, onRetry }: ErrorStateProps) {
  const t = useMessages(messages)
  return (
    <Alert
      color="red"
      role="alert"
      icon={<Icon name="warning" />}
      title={title ?? t('failed')}
      maw={640}
    >
      <Text size="sm">
        <CodeText text={useErrorText()(error)} />
      </Text>
      <Group gap="sm" mt="xs">
        {onRetry ? (
          <Button variant="default" size="compact-sm" onClick={onRetry}>
            {t('retry')}
          </Button>
        ) : null}
        {error instanceof ApiError && error.requestId ? (
          <Text size="xs" c="dimmed" ff="monospace">
            {t('requestId', { id: error.requestId })}
          </Text>
        ) : null}
      </Group>
    </Alert>
  )
}

/** Returns the text for an error: the server's own public text, in the reader's language. */
export function useErrorText(): (error: Error) => string {
  const t = useMessages(messages)
  const textOf = useServerText()
  return (error) =>
    error instanceof ApiError && error.status === 0 ? t('unreachable') : textOf(error.message)
}
