/** Uploads a file to the gateway, so that vendors can fetch it by its URL. */
import { Button, FileButton, Group, Progress, Stack, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { Refusal } from '../../../../components/form/refusal.tsx'
import { Icon } from '../../../../components/icon.tsx'
import { formatBytes, formatShare } from '../../../../lib/format.ts'
import { useLanguage, useMessages } from '../../../../lib/i18n.tsx'
import { useKey } from '../call/use-key.tsx'
import { sendFile, type UploadedFile } from './upload-file.ts'
import { uploadMessages } from './upload-messages.ts'

interface UploadProps {
  readonly label: string
  readonly accept: string
  readonly onDone: (file: UploadedFile) => void
}

export function UploadField({ label, accept, onDone }: UploadProps) {
  const t = useMessages(uploadMessages)
  const { language } = useLanguage()
  const { share, done, failure, start, cancel } = useUpload(onDone)
  const isBusy = share !== undefined
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <FileButton accept={accept} onChange={(file) => file && void start(file)}>
          {(props) => (
            <Button
              {...props}
              size="compact-sm"
              variant="default"
              disabled={isBusy}
              leftSection={<Icon name="folder" size={14} />}
            >
              {label}
            </Button>
          )}
        </FileButton>
        {isBusy ? (
          <Button size="compact-sm" variant="subtle" onClick={cancel}>
            {t('cancel')}
          </Button>
        ) : null}
        {done ? (
          <Text size="xs" c="dimmed">
            {t('done', { name: done.filename, size: formatBytes(done.bytes, language) })}
          </Text>
        ) : null}
      </Group>
      {isBusy ? (
        <>
          <Progress value={share * 100} size="sm" aria-label={t('progress')} />
          <Text size="xs" c="dimmed" role="status">
            {t('share', { share: formatShare(share, language) })}
          </Text>
        </>
      ) : null}
      <Refusal failure={failure} />
    </Stack>
  )
}

function useUpload(onDone: (file: UploadedFile) => void) {
  const withKey = useKey()
  const [share, setShare] = useState<number>()
  const [done, setDone] = useState<UploadedFile>()
  const [failure, setFailure] = useState<Error>()
  const abort = useRef<AbortController>(undefined)
  useEffect(() => () => abort.current?.abort(), [])
  async function start(file: File): Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    abort.current = controller
    setShare(0)
    setDone(undefined)
    setFailure(undefined)
    try {
      const uploaded = await sendFile(file, { withKey, signal, onShare: setShare })
      setDone(uploaded)
      onDone(uploaded)
    } catch (error) {
      if (!signal.aborted) setFailure(error instanceof Error ? error : new Error(String(error)))
    } finally {
      setShare(undefined)
    }
  }
  return { share, done, failure, start, cancel: () => abort.current?.abort() }
}
