/** Health of the channels, unusable ones included. */
import { Stack, Text } from '@mantine/core'
import { TextLink } from '../../components/links.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { Notice } from '../../components/state/notice.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import type { OperatorOverview } from './answer.ts'
import { messages } from './messages.ts'

export function Channels({ channels }: { readonly channels: OperatorOverview['channels'] }) {
  const t = useMessages(messages)
  const { ready, cooling_down: cooling, unusable } = channels
  const aside = (
    <TextLink to="/operator/channels" size="sm">
      {t('ready', { count: ready })}
    </TextLink>
  )
  return (
    <Panel title={t('channels')} aside={aside}>
      <Stack gap="xs">
        {cooling.map(({ channel, seconds }) => (
          <Notice key={channel} tone="warning" title={t('coolingDown', { channel, seconds })} />
        ))}
        {unusable.map(({ channel, reason }) => (
          <Notice key={channel} tone="bad" title={t('unusable', { channel, reason })} />
        ))}
        {cooling.length + unusable.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t('allWell')}
          </Text>
        ) : null}
      </Stack>
    </Panel>
  )
}
