/** Extent of the sealed entries, and the last signed checkpoint. */
import { Text } from '@mantine/core'
import { Panel } from '../../components/page/panel.tsx'
import { CodeText } from '../../components/text/code-text.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

interface SealedProps {
  readonly proof: Pick<AdminAnswer<'GET /operator/proof'>, 'last_checkpoint' | 'sealed'>
}

export function Sealed({ proof: { sealed, last_checkpoint: checkpoint } }: SealedProps) {
  const t = useMessages(messages)
  const facts = [
    ...(sealed
      ? [
          { label: t('sealedUpTo'), value: t('block', { number: sealed.block }) },
          { label: t('sealedEntries'), value: sealed.entries },
          { label: t('sealedAt'), value: <TimeText time={sealed.at} form="relative" /> },
        ]
      : []),
    ...(checkpoint
      ? [
          { label: t('checkpointAt'), value: <TimeText time={checkpoint.at} form="relative" /> },
          { label: t('checkpointBlock'), value: t('block', { number: checkpoint.block }) },
          { label: t('checkpointHash'), value: checkpoint.hash ?? t('checkpointChanged') },
          { label: t('checkpointKey'), value: checkpoint.key_id },
        ]
      : []),
  ]
  return (
    <Panel title={t('sealed')}>
      <Text size="sm" c="dimmed">
        <CodeText text={t('sealedText')} />
      </Text>
      {checkpoint ? null : (
        <Text size="sm" c="dimmed">
          {t('noCheckpoint')}
        </Text>
      )}
      <KeyValue facts={facts} />
    </Panel>
  )
}
