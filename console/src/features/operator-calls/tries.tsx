/** The attempts of a call: where each went, what came of it and why. */
import { Stack, Text } from '@mantine/core'
import { TextLink } from '../../components/links.tsx'
import { formatDuration } from '../../lib/format.ts'
import { useLanguage, useMessages, useServerText } from '../../lib/i18n.tsx'
import type { RowOf } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

type Try = RowOf<'GET /operator/calls'>['tries'][number]

export function Tries({ tries }: { readonly tries: readonly Try[] }) {
  const t = useMessages(messages)
  if (tries.length === 0) return t('noAttempt')
  return (
    <Stack gap={6}>
      {tries.map((one, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an attempt is its place in the order
        <Tried key={index} number={index + 1} one={one} />
      ))}
    </Stack>
  )
}

function Tried({ number, one }: { readonly number: number; readonly one: Try }) {
  const t = useMessages(messages)
  const textOf = useServerText()
  const { language } = useLanguage()
  const { channel, outcome, status, reason, milliseconds } = one
  const name = `outcome_${outcome}`
  const facts = [
    isWorded(name) ? t(name) : outcome,
    status === null ? '' : `HTTP ${status}`,
    milliseconds === null ? '' : formatDuration(milliseconds, language),
  ]
  return (
    <div>
      <Text size="sm">
        {number}.{' '}
        <TextLink to="/operator/channels" search={{ id: channel }}>
          {channel}
        </TextLink>
        {' · '}
        {facts.filter((fact) => fact !== '').join(' · ')}
      </Text>
      {reason ? (
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {textOf(reason)}
        </Text>
      ) : null}
    </div>
  )
}

type OutcomeKey = Extract<keyof (typeof messages)['en'], `outcome_${string}`>

function isWorded(name: string): name is OutcomeKey {
  return Object.hasOwn(messages.en, name)
}
