/** Checklist from an empty account to the first call; hidden once complete. */
import { Group, SegmentedControl, Skeleton, Stack, Text, ThemeIcon } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { TextLink } from '../../components/links.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { CodeSnippet } from '../../components/text/code-snippet.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount, useSession } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import type { AccountOverview } from './answers.ts'
import { FIRST_CALL_PRINTERS } from './first-snippets.ts'
import { messages } from './messages.ts'

const STEPS = [
  ['has_credit', 'stepCredit', '/billing'],
  ['has_key', 'stepKey', '/keys'],
  ['has_call', 'stepCall', '/playground'],
] as const

export function FirstSteps({ steps }: { readonly steps: AccountOverview['first_steps'] }) {
  const t = useMessages(messages)
  if (STEPS.every(([name]) => steps[name])) return null
  return (
    <Panel title={t('firstSteps')}>
      <Stack gap="xs">
        {STEPS.map(([name, label, to], index) => (
          <Group key={name} gap="xs">
            <ThemeIcon size={22} radius="xl" variant={steps[name] ? 'filled' : 'light'}>
              {steps[name] ? <Icon name="check" size={13} /> : <Text size="xs">{index + 1}</Text>}
            </ThemeIcon>
            {steps[name] ? (
              <Text size="sm" c="dimmed">
                {t(label)} · {t('done')}
              </Text>
            ) : (
              <TextLink to={to} size="sm">
                {t(label)}
              </TextLink>
            )}
          </Group>
        ))}
        {steps.has_credit && steps.has_key && !steps.has_call ? <FirstCallCode /> : null}
      </Stack>
    </Panel>
  )
}

type Language = keyof typeof FIRST_CALL_PRINTERS
const LANGUAGES: readonly Language[] = ['curl', 'Python', 'Node']

/** A call that costs money, with the key filled in where the gateway may show it. */
function FirstCallCode() {
  const t = useMessages(messages)
  const [language, setLanguage] = useState<Language>('curl')
  const { id } = useAccount()
  const { demo } = useSession()
  const params = { account_id: id }
  const query = { type: 'chat' } as const
  const models = useAdmin('GET /accounts/:account_id/models', { params, query })
  const chats = models.data?.data ?? []
  const model = chats.find((one) => one.id === 'sim-chat') ?? chats[0]
  const key = demo?.account_id === id ? demo.api_key : null
  if (models.isPending) return <Skeleton height={140} aria-busy />
  if (!model) return null
  const print = FIRST_CALL_PRINTERS[language]
  return (
    <Stack gap="xs" mt="xs">
      <Group justify="space-between" gap="xs">
        <Text size="sm">{t('firstCallText')}</Text>
        <SegmentedControl
          size="xs"
          aria-label={t('codeLanguage')}
          data={[...LANGUAGES]}
          value={language}
          onChange={(value) => setLanguage(value as Language)}
        />
      </Group>
      <CodeSnippet
        code={print({ origin: location.origin, key: key ?? t('yourKey'), model: model.id })}
      />
      <Text size="xs" c="dimmed">
        {t(key ? 'holdText' : 'holdAndKeyText')}
      </Text>
    </Stack>
  )
}
