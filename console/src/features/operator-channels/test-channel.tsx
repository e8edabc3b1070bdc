/** Dialog that tests a channel step by step. */
import { Alert, Button, List, Stack } from '@mantine/core'
import { Icon } from '../../components/icon.tsx'
import { ErrorState } from '../../components/state/error-state.tsx'
import { formatDuration } from '../../lib/format.ts'
import { useLanguage, useMessages, useServerText } from '../../lib/i18n.tsx'
import { useAdminChange } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const STEPS = ['settings', 'address', 'connection', 'key', 'endpoints'] as const

const isStep = (step: string): step is (typeof STEPS)[number] =>
  STEPS.some((known) => known === step)

export function TestChannel({ id }: { readonly id: string }) {
  const t = useMessages(messages)
  const textOf = useServerText()
  const { language } = useLanguage()
  const test = useAdminChange('POST /operator/channels/:channel_id/test', { refreshes: [] })
  const { data } = test
  return (
    <Stack gap="xs" align="flex-start">
      <Button
        variant="default"
        loading={test.isPending}
        onClick={() => test.mutate({ params: { channel_id: id } })}
      >
        {t('test')}
      </Button>
      {test.error ? <ErrorState error={test.error} /> : null}
      {data ? (
        <Alert
          color={data.ok ? 'teal' : 'red'}
          icon={<Icon name={data.ok ? 'check' : 'warning'} />}
          title={data.ok ? t('testPassed') : t('testFailed')}
          styles={{ label: { color: 'var(--mantine-color-text)' } }}
          role="status"
        >
          <List size="sm">
            {data.steps.map(({ step, ok, detail, milliseconds }) => (
              <List.Item key={step}>
                {t('step', { step: isStep(step) ? t(step) : step, detail: textOf(detail) })}
                {ok ? ` (${formatDuration(milliseconds, language)})` : null}
              </List.Item>
            ))}
          </List>
        </Alert>
      ) : null}
    </Stack>
  )
}
