/** The generated speech: a player and its latency. */
import { Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { formatBytes, formatDuration, formatNumber } from '../../../lib/format.ts'
import { useLanguage, useMessages } from '../../../lib/i18n.tsx'
import type { ResultProps } from '../frame/capability.ts'
import { Disclosure } from '../frame/fields/disclosure.tsx'
import { DownloadLink, Player } from '../sound/player.tsx'
import { canPlayGrowing, StreamPlayer } from '../sound/stream-player.tsx'
import classes from './generated-speech.module.css'
import { messages } from './messages.ts'
import type { SpeechResult, Word } from './read-speech.ts'
import { contentTypeOfFormat, type SpeechValues } from './values.ts'

const EXTENSIONS: Readonly<Record<string, string>> = { ogg_opus: 'ogg', opus: 'ogg' }

export function GeneratedSpeech({ result }: ResultProps<SpeechValues, SpeechResult>) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  if (!result) return null
  const { bytes, firstMs, billed, sound, format, words } = result
  const facts = [
    ...(sound ? [] : [t('arriving', { bytes: formatBytes(bytes, language) })]),
    ...(firstMs === undefined ? [] : [t('first', { duration: formatDuration(firstMs, language) })]),
    ...(billed === undefined ? [] : [t('billed', { count: formatNumber(billed, language) })]),
  ]
  return (
    <Stack gap="xs">
      <SpeechPlayer result={result} />
      {sound && format === 'pcm' ? <Text size="xs">{t('notPlayable')}</Text> : null}
      <Text size="xs" c="dimmed">
        {facts.join(' · ')}
      </Text>
      {words.length > 0 ? <Words words={words} /> : null}
    </Stack>
  )
}

/** Plays while the audio arrives if possible, else once it is complete. */
function SpeechPlayer({ result }: { readonly result: SpeechResult }) {
  const t = useMessages(messages)
  const [hasFailed, setFailed] = useState(false)
  const { sound, parts, format } = result
  const type = contentTypeOfFormat(format)
  const name = `speech.${EXTENSIONS[format] ?? format}`
  if (hasFailed || !canPlayGrowing(type)) return sound ? <Player sound={sound} name={name} /> : null
  return (
    <div>
      <StreamPlayer
        parts={parts}
        isWhole={sound !== undefined}
        type={type}
        label={t('player')}
        onFail={() => setFailed(true)}
      />
      {sound ? <DownloadLink sound={sound} name={name} /> : null}
    </div>
  )
}

function Words({ words }: { readonly words: readonly Word[] }) {
  const t = useMessages(messages)
  return (
    <Disclosure label={t('words')} isOpen>
      <ul className={classes.words}>
        {words.map(({ word, from }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a word is its place
          <li key={index} className={classes.word}>
            {word}
            <span className={classes.time}>{from.toFixed(2)}</span>
          </li>
        ))}
      </ul>
    </Disclosure>
  )
}
