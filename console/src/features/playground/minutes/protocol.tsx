/** Minutes of a recording: sentences with speakers, and the model's summary. */
import { Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatDuration } from '../../../lib/format.ts'
import { useLanguage, useMessages } from '../../../lib/i18n.tsx'
import type { ResultProps } from '../frame/capability.ts'
import { TaskProgress } from '../frame/task/task-progress.tsx'
import { messages } from './messages.ts'
import classes from './protocol.module.css'
import { clockOf, type Minutes, type MinutesSentence, readMinutes } from './read-minutes.ts'
import type { MinutesValues } from './values.ts'

export function Protocol({ result: taskId }: ResultProps<MinutesValues, string>) {
  if (!taskId) return null
  return (
    <TaskProgress taskId={taskId}>
      {({ result }) => <Parts minutes={readMinutes(result ?? {})} />}
    </TaskProgress>
  )
}

function Parts({ minutes }: { readonly minutes: Minutes }) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { seconds, sentences, summary, summaryProblem, chapters, todos, questions } = minutes
  return (
    <Stack gap="lg">
      {seconds === undefined ? null : (
        <Text size="xs" c="dimmed">
          {t('recording', { duration: formatDuration(seconds * 1_000, language) })}
        </Text>
      )}
      {summary ? (
        <Part title={t('summary')}>
          <Text size="sm">{summary}</Text>
        </Part>
      ) : null}
      {summaryProblem ? (
        <Text size="sm" c="dimmed">
          {t('noSummary', { reason: summaryProblem })}
        </Text>
      ) : null}
      {chapters.length > 0 ? (
        <Part title={t('chapters')}>
          <ol className={classes.list}>
            {chapters.map(({ start_ms: start, title, summary: text }) => (
              <li key={start} className={classes.entry}>
                <span className={classes.time}>{clockOf(start)}</span>
                <Text size="sm">
                  <b>{title}</b>
                  {title && text ? ' · ' : ''}
                  {text}
                </Text>
              </li>
            ))}
          </ol>
        </Part>
      ) : null}
      <Todos todos={todos} />
      <Questions questions={questions} />
      <Part title={t('transcript')}>
        {sentences.length === 0 ? <Text size="sm">{t('noWords')}</Text> : null}
        <ol className={classes.list}>
          {sentences.map((sentence) => (
            <Sentence key={`${sentence.start_ms} ${sentence.text}`} sentence={sentence} />
          ))}
        </ol>
      </Part>
    </Stack>
  )
}

function Sentence({ sentence }: { readonly sentence: MinutesSentence }) {
  const t = useMessages(messages)
  const { start_ms: start, speaker, text, translation } = sentence
  return (
    <li className={classes.entry}>
      <span className={classes.time}>{clockOf(start)}</span>
      <div>
        {speaker ? (
          <Text size="xs" c="dimmed">
            {t('speaker', { name: speaker })}
          </Text>
        ) : null}
        <Text size="sm">{text}</Text>
        {translation ? (
          <Text size="sm" c="dimmed">
            {translation}
          </Text>
        ) : null}
      </div>
    </li>
  )
}

function Todos({ todos }: Pick<Minutes, 'todos'>) {
  const t = useMessages(messages)
  if (todos.length === 0) return null
  return (
    <Part title={t('todos')}>
      <ul className={classes.bullets}>
        {todos.map(({ content, executors = [], deadline }) => (
          <li key={content}>
            <Text size="sm">{content}</Text>
            <Text size="xs" c="dimmed">
              {[
                ...(executors.length > 0 ? [t('by', { people: executors.join(', ') })] : []),
                ...(deadline ? [t('due', { date: deadline })] : []),
              ].join(' · ')}
            </Text>
          </li>
        ))}
      </ul>
    </Part>
  )
}

function Questions({ questions }: Pick<Minutes, 'questions'>) {
  const t = useMessages(messages)
  if (questions.length === 0) return null
  return (
    <Part title={t('questions')}>
      {questions.map(({ question, answer }) => (
        <div key={question}>
          <Text size="sm" fw={600}>
            {question}
          </Text>
          <Text size="sm">{answer}</Text>
        </div>
      ))}
    </Part>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Stack gap="xs" component="section">
      <Title order={3}>{title}</Title>
      {children}
    </Stack>
  )
}
