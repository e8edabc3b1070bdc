/** The conversation so far, with the usage of each answer. */
import { Stack, Text, VisuallyHidden } from '@mantine/core'
import { formatDuration, formatNumber } from '../../../lib/format.ts'
import { useLanguage, useMessages } from '../../../lib/i18n.tsx'
import type { ResultProps } from '../frame/capability.ts'
import { Disclosure } from '../frame/fields/disclosure.tsx'
import { messages } from './messages.ts'
import { Prose } from './prose.tsx'
import classes from './thread.module.css'
import type { ChatValues, Reply } from './values.ts'

export function Thread({ values, result, isRunning }: ResultProps<ChatValues, Reply>) {
  const t = useMessages(messages)
  const { turns } = values
  return (
    <Stack gap="md" role="log" aria-label={t('conversation')}>
      {turns.map(({ prompt, reply }, index) => {
        const shown = reply ?? (isRunning && index === turns.length - 1 ? result : undefined)
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a turn is its place in the conversation
          <Stack key={index} gap="sm">
            <p className={classes.asked}>
              <VisuallyHidden>{t('you')}: </VisuallyHidden>
              {prompt}
            </p>
            {shown ? <ReplyText reply={shown} /> : null}
          </Stack>
        )
      })}
    </Stack>
  )
}

function ReplyText({ reply }: { readonly reply: Reply }) {
  const t = useMessages(messages)
  return (
    <div>
      {reply.reasoning ? (
        <Disclosure label={t('thinking')}>
          <p className={classes.thought}>{reply.reasoning}</p>
        </Disclosure>
      ) : null}
      <VisuallyHidden>{t('model')}: </VisuallyHidden>
      <Prose text={reply.text} />
      <Facts reply={reply} />
    </div>
  )
}

function Facts({ reply: { usage, firstMs, isCutOff } }: { readonly reply: Reply }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const count = (value: number) => formatNumber(value, language)
  if (!usage) return null
  const { input, output, cached } = usage
  const facts = [
    t('tokens', { input: count(input), output: count(output) }),
    ...(cached > 0 ? [t('cached', { count: count(cached) })] : []),
    ...(firstMs === undefined ? [] : [t('first', { duration: formatDuration(firstMs, language) })]),
    ...(isCutOff ? [t('cutOff')] : []),
  ]
  return (
    <Text size="xs" c="dimmed" mt={4}>
      {facts.join(' · ')}
    </Text>
  )
}
