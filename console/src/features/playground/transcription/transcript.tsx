/** The transcript of the recording. */
import { Text } from '@mantine/core'
import { CodeSnippet } from '../../../components/text/code-snippet.tsx'
import { useMessages } from '../../../lib/i18n.tsx'
import type { ResultProps } from '../frame/capability.ts'
import { messages } from './messages.ts'
import classes from './transcript.module.css'
import type { TranscriptionResult, TranscriptionValues } from './values.ts'

type Props = ResultProps<TranscriptionValues, TranscriptionResult>

export function TranscriptionPanel({ values, result }: Props) {
  const t = useMessages(messages)
  if (!result) return null
  const { text, segments } = result
  if (text.trim() === '') return <Text size="sm">{t('nothing')}</Text>
  if (values.format === 'srt' || values.format === 'vtt') return <CodeSnippet code={text} />
  if (segments.length === 0) {
    return (
      <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
        {text}
      </Text>
    )
  }
  return (
    <ol className={classes.list}>
      {segments.map((segment) => (
        <li key={segment.start} className={classes.entry}>
          <span className={classes.time}>{segment.start.toFixed(1)} s</span>
          <Text size="sm">{segment.text}</Text>
        </li>
      ))}
    </ol>
  )
}
