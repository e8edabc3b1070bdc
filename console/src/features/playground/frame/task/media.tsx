/** Pictures and videos of a task, once the gateway has stored them. */
import { Anchor, Group, Image, Stack, Text } from '@mantine/core'
import { Icon } from '../../../../components/icon.tsx'
import { useMessages } from '../../../../lib/i18n.tsx'
import { taskMessages } from './task-messages.ts'
import type { PlaygroundTask } from './task-progress.tsx'

export function PlaygroundMedia({
  media,
  alt,
}: {
  readonly media: PlaygroundTask['media']
  readonly alt: string
}) {
  const t = useMessages(taskMessages)
  return (
    <Stack gap="md">
      {media.map(({ asset_id, url, kind, state }) => (
        <Stack key={asset_id} gap={4}>
          {kind === 'last_frame' ? (
            <Text size="xs" c="dimmed">
              {t('lastFrame')}
            </Text>
          ) : null}
          {/* A vendor's link is for download only: pages show stored copies. */}
          {url && state === 'stored' ? <Preview url={url} kind={kind} alt={alt} /> : null}
          {state === 'waiting' ? (
            <Text size="xs" c="dimmed">
              {t('copying')}
            </Text>
          ) : null}
          {url ? <DownloadButton url={url} /> : null}
        </Stack>
      ))}
    </Stack>
  )
}

interface PreviewProps {
  readonly url: string
  readonly kind: PlaygroundTask['media'][number]['kind']
  readonly alt: string
}

function Preview({ url, kind, alt }: PreviewProps) {
  const t = useMessages(taskMessages)
  if (kind !== 'video' && kind !== 'erased') {
    return <Image src={url} alt={alt} radius="sm" mah={560} fit="contain" />
  }
  return (
    // biome-ignore lint/a11y/useMediaCaption: what a model made has no captions
    <video
      src={url}
      controls
      preload="metadata"
      aria-label={t('output')}
      style={{ width: '100%', borderRadius: 6 }}
    />
  )
}

export function DownloadButton({ url, name }: { readonly url: string; readonly name?: string }) {
  const t = useMessages(taskMessages)
  return (
    <Anchor href={url} download={name ?? true} size="sm">
      <Group gap={6} component="span">
        <Icon name="download" size={14} />
        {t('download')}
      </Group>
    </Anchor>
  )
}
