/** Checklist from an empty account to the first call; hidden once complete. */
import { Group, Stack, Text, ThemeIcon } from '@mantine/core'
import { Icon } from '../../components/icon.tsx'
import { TextLink } from '../../components/links.tsx'
import { Panel } from '../../components/page/panel.tsx'
import { CodeSnippet } from '../../components/text/code-snippet.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import type { AccountOverview } from './answers.ts'
import { messages } from './messages.ts'

const STEPS = [
  ['has_credit', 'stepCredit', '/billing'],
  ['has_key', 'stepKey', '/keys'],
  ['has_call', 'stepCall', '/playground'],
] as const

export function FirstSteps({ steps }: { readonly steps: AccountOverview['first_steps'] }) {
  const t = useMessages(messages)
  if (STEPS.every(([name]) => steps[name])) return null
  const code = `curl ${location.origin}/v1/models -H "Authorization: Bearer $TRIBUTARY_KEY"`
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
        {steps.has_key && !steps.has_call ? <CodeSnippet code={code} /> : null}
      </Stack>
    </Panel>
  )
}
