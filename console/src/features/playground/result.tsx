/** What came of a call, and what it cost to the last digit. */
import { Group, Image, Loader, Stack, Text } from '@mantine/core'
import { CodeSnippet } from '../../components/code-snippet.tsx'
import { ErrorState } from '../../components/error-state.tsx'
import { ButtonLink, TextLink } from '../../components/links.tsx'
import { MoneyText } from '../../components/money-text.tsx'
import { Panel } from '../../components/panel.tsx'
import { formatDuration } from '../../lib/format.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'
import type { Outcome } from './run-trial.ts'

interface ResultProps {
  readonly isBusy: boolean
  readonly partial: string
  readonly outcome: Outcome | undefined
  readonly failure: Error | undefined
}

export function Result({ isBusy, partial, outcome, failure }: ResultProps) {
  const t = useMessages(messages)
  const text = outcome?.text ?? partial
  const isEmpty = !isBusy && !outcome && !failure && !text
  return (
    <Panel title={t('answer')} aside={outcome ? <Cost outcome={outcome} /> : undefined}>
      <Stack gap="sm" aria-live="polite">
        {isEmpty ? (
          <Text size="sm" c="dimmed">
            {t('nothing')}
          </Text>
        ) : null}
        {failure ? <ErrorState error={failure} /> : null}
        {isBusy && !text ? <Loader size="sm" /> : null}
        {text ? <Answer text={text} /> : null}
        {outcome?.pictures?.map((source) => (
          <Image key={source.slice(-64)} src={source} alt={t('picture')} radius="sm" />
        ))}
        {outcome?.sound ? (
          // biome-ignore lint/a11y/useMediaCaption: the text that is spoken stands beside it
          <audio src={outcome.sound} controls style={{ width: '100%' }} />
        ) : null}
        {outcome?.taskId ? (
          <Group>
            <ButtonLink to="/tasks" search={{ id: outcome.taskId }}>
              {t('toTask')}
            </ButtonLink>
          </Group>
        ) : null}
      </Stack>
    </Panel>
  )
}

function Answer({ text }: { readonly text: string }) {
  if (text.startsWith('{')) return <CodeSnippet code={text} />
  return (
    <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
      {text}
    </Text>
  )
}

const LOOK_MS = 1_000

function Cost({ outcome }: { readonly outcome: Outcome }) {
  const t = useMessages(messages)
  const account = useAccount()
  const { data } = useAdmin(
    'GET /accounts/:account_id/usage/:request_id',
    { params: { account_id: account.id, request_id: outcome.requestId } },
    { live: ['usage'], refetchEveryMs: outcome.taskId ? 5 * LOOK_MS : LOOK_MS * 60 },
  )
  const isSettled = data !== undefined && data.status !== 'running'
  return (
    <Group gap="xs">
      <Text size="xs" c="dimmed">
        {t('took', { duration: formatDuration(outcome.milliseconds) })}
      </Text>
      {isSettled ? (
        <TextLink to="/usage" search={{ id: outcome.requestId }} size="sm">
          {t('cost')} <MoneyText amount={data.charged} currency={data.currency} places={9} />
        </TextLink>
      ) : (
        <Text size="xs" c="dimmed">
          {t('settling')}
        </Text>
      )}
    </Group>
  )
}
