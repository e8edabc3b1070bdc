/** The error of a refused call, in the API's own words, with a remedy. */
import { Alert, Group, Text } from '@mantine/core'
import { Icon } from '../../../../components/icon.tsx'
import { ButtonLink } from '../../../../components/links.tsx'
import { CodeText } from '../../../../components/text/code-text.tsx'
import { ApiError } from '../../../../lib/api.ts'
import { useMessages, useServerText } from '../../../../lib/i18n.tsx'
import { messages } from '../messages.ts'

export function Failure({ error }: { readonly error: Error }) {
  const t = useMessages(messages)
  const textOf = useServerText()
  const status = error instanceof ApiError ? error.status : undefined
  const requestId = error instanceof ApiError ? error.requestId : undefined
  const budget = status === PAYMENT_REQUIRED ? budgetOf(error) : undefined
  const advice = status === undefined || budget ? undefined : adviceFor(status)
  return (
    <Alert color="red" role="alert" icon={<Icon name="warning" />} title={t('failed')}>
      <Text size="sm">
        <CodeText text={status === 0 ? t('unreachable') : textOf(error.message)} />
      </Text>
      {advice ? (
        <Text size="sm" mt={4}>
          {t(advice)}
        </Text>
      ) : null}
      <Group gap="sm" mt="xs">
        {budget ? (
          <ButtonLink to="/budgets" search={{ id: budget }} size="compact-sm" variant="default">
            {t('toBudget')}
          </ButtonLink>
        ) : null}
        {status === PAYMENT_REQUIRED && !budget ? (
          <ButtonLink to="/billing" size="compact-sm" variant="default">
            {t('toBilling')}
          </ButtonLink>
        ) : null}
        {requestId ? (
          <Text size="xs" c="dimmed" ff="monospace">
            {t('requestId', { id: requestId })}
          </Text>
        ) : null}
      </Group>
    </Alert>
  )
}

const PAYMENT_REQUIRED = 402

/** The budget that a refusal names. */
function budgetOf({ message }: Error): string | undefined {
  return /\bbud_\w+/.exec(message)?.[0]
}

const ADVICE = {
  400: 'todo_invalid',
  401: 'todo_key',
  402: 'todo_balance',
  403: 'todo_forbidden',
  404: 'todo_missing',
  413: 'todo_large',
  415: 'todo_invalid',
  422: 'todo_invalid',
  429: 'todo_wait',
  502: 'todo_upstream',
  503: 'todo_gateway',
  504: 'todo_upstream',
} as const

function adviceFor(status: number) {
  return Object.entries(ADVICE).find(([code]) => Number(code) === status)?.[1]
}
