/** Transcript of a recording: its summary, and each sentence with its speaker and time. */
import { ScrollArea, Text } from '@mantine/core'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'
import { formatPosition, type TaskSentence, type TaskTranscript } from './read-transcript.ts'
import classes from './transcript.module.css'

const TALL = 320

export function TranscriptView({ transcript }: { readonly transcript: TaskTranscript }) {
  return (
    <>
      {transcript.summary ? (
        <Text size="sm" style={{ whiteSpace: 'pre-line' }}>
          {transcript.summary}
        </Text>
      ) : null}
      <ScrollArea.Autosize mah={TALL} type="auto" viewportProps={{ tabIndex: 0 }}>
        <ol className={classes.list}>
          {transcript.sentences.map((sentence, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a sentence is its place in the order
            <Line key={index} sentence={sentence} />
          ))}
        </ol>
      </ScrollArea.Autosize>
    </>
  )
}

function Line({ sentence: { text, speaker, startMs } }: { readonly sentence: TaskSentence }) {
  const t = useMessages(messages)
  return (
    <li className={classes.line}>
      <span className={classes.place}>{startMs === undefined ? '' : formatPosition(startMs)}</span>
      <span>
        {speaker ? (
          <span className={classes.speaker}>{t('speaker', { name: speaker })} </span>
        ) : null}
        {text}
      </span>
    </li>
  )
}
