/** Input for a recording: a file or the microphone. */
import { Button, FileButton, Group, Input, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../../../components/icon.tsx'
import { formatBytes } from '../../../lib/format.ts'
import { useLanguage, useMessages } from '../../../lib/i18n.tsx'
import type { OrderFile } from '../frame/order.ts'
import { messages } from './messages.ts'
import { Player } from './player.tsx'
import { asItIs, toWav } from './recording.ts'
import { useRecorder } from './use-recorder.ts'

interface SoundInputProps {
  readonly file: OrderFile | undefined
  readonly onChange: (file: OrderFile | undefined) => void
  /** True if only one kind of wav is accepted. */
  readonly converts: boolean
}

export function SoundInput({ file, onChange, converts }: SoundInputProps) {
  const t = useMessages(messages)
  const { state, read } = useReading(converts, onChange)
  const recorder = useRecorder((sound) => void read(sound, 'recording.webm', true))
  const { isRecording, seconds = 0, problem } = recorder
  return (
    <Stack gap={6} role="group" aria-labelledby="sound-input">
      <Input.Label labelElement="div" id="sound-input">
        {t('recording')}
      </Input.Label>
      <Group gap="xs">
        <FileButton
          accept="audio/*,video/*"
          onChange={(chosen) => chosen && void read(chosen, chosen.name, converts)}
        >
          {(props) => (
            <Button
              {...props}
              size="compact-sm"
              variant="default"
              disabled={isRecording}
              leftSection={<Icon name="folder" size={14} />}
            >
              {t('choose')}
            </Button>
          )}
        </FileButton>
        <Button
          size="compact-sm"
          variant={isRecording ? 'filled' : 'default'}
          leftSection={<Icon name={isRecording ? 'stop' : 'mic'} size={14} />}
          onClick={() => (isRecording ? recorder.stop() : void recorder.start())}
        >
          {isRecording ? t('stopRecording', { seconds: Math.floor(seconds) }) : t('record')}
        </Button>
      </Group>
      <div role="status">
        {problem ? <Problem>{t(problem)}</Problem> : null}
        {state === 'unreadable' ? <Problem>{t('unreadable')}</Problem> : null}
        {state === 'reading' ? <Note>{t('converting')}</Note> : null}
        {file ? <SelectedRecording file={file} isConverted={converts} /> : null}
      </div>
    </Stack>
  )
}

function useReading(converts: boolean, onChange: SoundInputProps['onChange']) {
  const [state, setState] = useState<'reading' | 'unreadable'>()
  async function read(content: Blob, name: string, isConverted: boolean): Promise<void> {
    setState('reading')
    onChange(undefined)
    try {
      onChange(await (isConverted || converts ? toWav(content, name) : asItIs(content, name)))
      setState(undefined)
    } catch {
      setState('unreadable')
    }
  }
  return { state, read }
}

function SelectedRecording({
  file,
  isConverted,
}: {
  readonly file: OrderFile
  readonly isConverted: boolean
}) {
  const t = useMessages(messages)
  const { language } = useLanguage()
  const { name, seconds, content } = file
  return (
    <Stack gap={4}>
      <Player sound={content} name={name} label={t('own')} />
      <Note>{t('length', { name, seconds, size: formatBytes(content.size, language) })}</Note>
      {isConverted ? <Note>{t('converted')}</Note> : null}
    </Stack>
  )
}

function Note({ children }: { readonly children: string }) {
  return (
    <Text size="xs" c="dimmed">
      {children}
    </Text>
  )
}

function Problem({ children }: { readonly children: string }) {
  return (
    <Text size="sm" c="var(--mantine-color-error)">
      {children}
    </Text>
  )
}
