/** Sound to be heard and kept. */
import { Anchor, Group, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Icon } from '../../../components/icon.tsx'
import { formatBytes } from '../../../lib/format.ts'
import { useLanguage, useMessages } from '../../../lib/i18n.tsx'
import { playerMessages } from './player-messages.ts'

interface PlayerProps {
  readonly sound: Blob
  /** The name of the file when it is kept. */
  readonly name: string
  /** What is heard; the result when absent. */
  readonly label?: string
}

/** `sound` must be the same object for as long as it is the same sound. */
export function Player({ sound, name, label }: PlayerProps) {
  const t = useMessages(playerMessages)
  const { language } = useLanguage()
  const url = useObjectUrl(sound)
  if (!url) return null
  return (
    <div>
      {/* biome-ignore lint/a11y/useMediaCaption: what is said stands beside it as text */}
      <audio src={url} controls aria-label={label ?? t('player')} style={{ width: '100%' }} />
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
    </div>
  )
}

/** An address for content in memory, which is forgotten with the component. */
function useObjectUrl(content: Blob | undefined): string | undefined {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!content) {
      setUrl(undefined)
      return undefined
    }
    const made = URL.createObjectURL(content)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [content])
  return url
}
