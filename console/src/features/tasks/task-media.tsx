/** Media of a task, to view and to download. */
import { Anchor, Group, Image, Stack, Text } from '@mantine/core'
import { Icon } from '../../components/icon.tsx'
import type { AdminAnswer } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { messages } from './messages.ts'

type Media = AdminAnswer<'GET /accounts/:account_id/tasks/:task_id'>['media']

export function TaskMedia({ media }: { readonly media: Media }) {
  const t = useMessages(messages)
  return (
    <Stack gap="sm">
      {media.map(({ asset_id, url, kind, state }) => (
        <Stack key={asset_id} gap={4}>
          {/* A vendor's link is for download only: pages show stored copies. */}
          {url && state === 'stored' ? <Preview url={url} kind={kind} /> : null}
          {url ? (
            <Anchor href={url} download size="sm">
              <Group gap={6} component="span">
                <Icon name="download" size={14} />
                {t('download')}
              </Group>
            </Anchor>
          ) : null}
          {state === 'waiting' ? (
            <Text size="xs" c="dimmed">
              {t('copying')}
            </Text>
          ) : null}
        </Stack>
      ))}
    </Stack>
  )
}

interface PreviewProps {
  readonly url: string
  readonly kind: Media[number]['kind']
}

function Preview({ url, kind }: PreviewProps) {
  const isVideo = kind === 'video' || kind === 'erased'
  if (!isVideo) return <Image src={url} alt="" radius="sm" mah={320} fit="contain" />
  return (
    // biome-ignore lint/a11y/useMediaCaption: what a model made has no captions
    <video src={url} controls preload="metadata" style={{ width: '100%', borderRadius: 6 }} />
  )
}
