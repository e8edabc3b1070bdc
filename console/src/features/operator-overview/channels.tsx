/** Health of the channels, unusable ones included. */
import { Stack, Text } from '@mantine/core'
import { TextLink } from '../../components/links.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { Notice } from '../../components/state/notice.tsx'
import { formatTime } from '../../lib/format.ts'
import { useLanguage, useMessages, useServerText } from '../../lib/i18n.tsx'
import type { OperatorOverview } from './answer.ts'
import { messages } from './messages.ts'

export function Channels({ channels }: { readonly channels: OperatorOverview['channels'] }) {
  const t = useMessages(messages)
  const { working, untried, failing, cooling_down: cooling, unusable } = channels
  const textOf = useServerText()
  const { language } = useLanguage()
  const aside = (
    <TextLink to="/operator/channels" size="sm">
      {t('working', { count: working })}
      {untried > 0 ? ` · ${t('untried', { count: untried })}` : ''}
    </TextLink>
  )
  return (
    <Panel title={t('channels')} aside={aside}>
      <Stack gap="xs">
        {cooling.map(({ channel, seconds, reason }) => (
          <Notice
            key={channel}
            tone="warning"
            title={t('coolingDown', { channel, seconds })}
            action={<ToChannel id={channel} />}
          >
            {reason === 'unknown' ? null : textOf(reason)}
          </Notice>
        ))}
        {failing.map(({ channel, since, reason }) => (
          <Notice
            key={channel}
            tone="bad"
            title={t('failing', { channel, since: formatTime(since, language) })}
            action={<ToChannel id={channel} />}
          >
            {textOf(reason)}
          </Notice>
        ))}
        {unusable.map(({ channel, reason }) => (
          <Notice
            key={channel}
            tone="bad"
            title={t('unusable', { channel, reason })}
            action={<ToChannel id={channel} />}
          />
        ))}
        {cooling.length + unusable.length + failing.length === 0 ? (
          <Text size="sm" c="dimmed">
            {t(working === 0 ? 'noneTried' : 'allWell')}
          </Text>
        ) : null}
      </Stack>
    </Panel>
  )
}

function ToChannel({ id }: { readonly id: string }) {
  const t = useMessages(messages)
  return (
    <TextLink
      to="/operator/channels"
      search={{ id }}
      size="sm"
      aria-label={`${t('toChannel')} ${id}`}
    >
      {t('toChannel')}
    </TextLink>
  )
}
