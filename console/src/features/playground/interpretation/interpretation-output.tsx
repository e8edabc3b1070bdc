/** The interpretation in the target language. */
import { Stack, Text, Title } from '@mantine/core'
import { formatBytes, formatDuration } from '../../../lib/format.ts'
import { useLanguage, useMessages } from '../../../lib/i18n.tsx'
import type { ResultProps } from '../frame/capability.ts'
import { Player } from '../sound/player.tsx'
import { messages } from './messages.ts'
import type { InterpretationResult, InterpretationValues } from './values.ts'

type Props = ResultProps<InterpretationValues, InterpretationResult>

export function InterpretationOutput({ result }: Props) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  if (!result) return null
  const { text, sourceText, sound, bytes, firstMs } = result
  return (
    <Stack gap="sm">
      {sound ? <Player sound={sound} name="translation.ogg" label={t('spoken')} /> : null}
      {bytes > 0 && !sound ? (
        <Text size="xs" c="dimmed">
          {t('arriving', { bytes: formatBytes(bytes, language) })}
        </Text>
      ) : null}
      {firstMs === undefined ? null : (
        <Text size="xs" c="dimmed">
          {t('first', { duration: formatDuration(firstMs, language) })}
        </Text>
      )}
      {text ? <Part title={t('translation')} text={text} /> : null}
      {sourceText ? <Part title={t('sourceText')} text={sourceText} /> : null}
    </Stack>
  )
}

function Part({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <section>
      <Title order={3}>{title}</Title>
      <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
        {text}
      </Text>
    </section>
  )
}
