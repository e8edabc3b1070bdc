/** Audio player with a download. */
import { Anchor, Group, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Icon } from '../../../components/icon.tsx'
import { formatBytes } from '../../../lib/format.ts'
import { useLanguage, useMessages } from '../../../lib/i18n.tsx'
import { playerMessages } from './player-messages.ts'

interface PlayerProps {
  readonly sound: Blob
  /** The name of the downloaded file. */
  readonly name: string
  /** Label of the audio; the result by default. */
  readonly label?: string
}

/** `sound` must be the same object for as long as it is the same sound. */
export function Player({ sound, name, label }: PlayerProps) {
  const t = useMessages(playerMessages)
  const url = useObjectUrl(sound)
  if (!url) return null
  return (
    <div>
      {/* biome-ignore lint/a11y/useMediaCaption: the text stands beside it */}
      <audio src={url} controls aria-label={label ?? t('player')} style={{ width: '100%' }} />
      <DownloadLink sound={sound} name={name} />
    </div>
  )
}

/** Download link. */
export function DownloadLink({ sound, name }: Pick<PlayerProps, 'sound' | 'name'>) {
  const t = useMessages(playerMessages)
  const { language } = useLanguage()
  const url = useObjectUrl(sound)
  return (
    <Group gap="sm">
      <Anchor href={url} download={name} size="sm">
        <Group gap={6} component="span">
          <Icon name="download" size={14} />
          {t('download')}
        </Group>
      </Anchor>
      <Text size="xs" c="dimmed">
        {formatBytes(sound.size, language)}
      </Text>
    </Group>
  )
}

/** Returns an object URL, which is revoked when the component unmounts. */
function useObjectUrl(content: Blob): string | undefined {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const objectUrl = URL.createObjectURL(content)
    setUrl(objectUrl)
    return () => URL.revokeObjectURL(objectUrl)
  }, [content])
  return url
}
