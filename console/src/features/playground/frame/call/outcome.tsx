/** Outcome of a call: nothing yet, partial output, full output, or the error. */
import { Group, Loader, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { EmptyState } from '../../../../components/list/empty-state.tsx'
import { Panel } from '../../../../components/page/panel.tsx'
import { StatusBadge } from '../../../../components/state/status-badge.tsx'
import { formatDuration } from '../../../../lib/format.ts'
import { useLanguage, useMessages } from '../../../../lib/i18n.tsx'
import { answerKindOf } from '../../snippets/snippet.ts'
import type { Capability } from '../capability.ts'
import { messages } from '../messages.ts'
import { Failure } from './failure.tsx'
import type { PlaygroundCall } from './use-call.ts'

interface OutcomeProps<Values, Result> {
  readonly call: PlaygroundCall<Result> | undefined
  readonly capability: Capability<Values, Result>
  readonly values: Values
  /** Follow-up input, in a conversation. */
  readonly prompt: ReactNode
}

export function PlaygroundOutcome<Values, Result>(props: OutcomeProps<Values, Result>) {
  const t = useMessages(messages)
  const { call, capability, values, prompt } = props
  const { Result } = capability
  const isRunning = call?.phase === 'running'
  return (
    <Panel title={t('result')} aside={call ? <State call={call} /> : undefined}>
      <Stack gap="md">
        <Stack gap="sm" aria-live="polite" aria-busy={isRunning}>
          {call ? (
            <Result values={values} result={call.result} isRunning={isRunning} />
          ) : (
            <EmptyState icon="play" title={t('nothingYet')}>
              {t('nothingYetText')}
            </EmptyState>
          )}
          {isRunning && call.result === undefined ? <Loader size="sm" type="dots" /> : null}
          {call?.failure ? <Failure error={call.failure} /> : null}
          {call?.phase === 'stopped' ? (
            <Text size="xs" c="dimmed">
              {t('stoppedText')}
            </Text>
          ) : null}
        </Stack>
        {prompt}
      </Stack>
    </Panel>
  )
}

function State({ call }: { readonly call: PlaygroundCall<unknown> }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { phase, milliseconds, order } = call
  // The duration of a task is not that of the request that created it.
  const isTask = answerKindOf(order) === 'task'
  return (
    <Group gap="xs">
      {phase === 'running' ? <StatusBadge tone="busy" label={t('running')} /> : null}
      {phase === 'stopped' ? <StatusBadge tone="warning" label={t('stopped')} /> : null}
      {milliseconds === undefined || isTask ? null : (
        <Text size="xs" c="dimmed">
          {t('duration', { duration: formatDuration(milliseconds, language) })}
        </Text>
      )}
    </Group>
  )
}
