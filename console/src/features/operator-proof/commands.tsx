/** When the scheduled commands have last succeeded: a backup that stopped is seen here. */
import { Text } from '@mantine/core'
import { Panel } from '../../components/page/panel.tsx'
import { KeyValue } from '../../components/text/key-value.tsx'
import { TimeText } from '../../components/text/time-text.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

const COMMANDS = ['audit', 'backup', 'archive'] as const

interface CommandsProps {
  readonly successes: AdminAnswer<'GET /operator/proof'>['command_successes']
}

export function Commands({ successes }: CommandsProps) {
  const t = useMessages(messages)
  return (
    <Panel title={t('commands')}>
      <Text size="sm" c="dimmed">
        {t('commandsText')}
      </Text>
      <KeyValue
        facts={COMMANDS.map((command) => {
          const found = successes.find((one) => one.command === command)
          return {
            label: t(`command_${command}`),
            value: found ? <TimeText time={found.at} form="relative" /> : t('commandNever'),
          }
        })}
      />
    </Panel>
  )
}
